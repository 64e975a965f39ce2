"""gensim's report of no error is kept from stderr, and nothing else is."""

import sys

from irplatform.text.vector_training import without_false_errors


def _report(where, after="\n"):
    """As CPython writes one, where there is no exception."""
    for piece in ("Exception ignored in: ", where, after):
        sys.stderr.write(piece)


def test_its_report_is_not_written(capsys):
    with without_false_errors():
        sys.stderr.write("before\n")
        _report("'gensim.models.word2vec_inner.our_dot_float'")
        print("after", file=sys.stderr)
    assert capsys.readouterr().err == "before\nafter\n"


def test_other_reports_are(capsys):
    with without_false_errors():
        _report("'mine.function'")
        _report("'gensim.models'", after="Traceback\n")
    _report("'gensim.models'")
    assert capsys.readouterr().err == (
        "Exception ignored in: 'mine.function'\nTraceback\nException ignored in: 'gensim.models'\n"
    )


def test_the_stream_is_the_usual_one_again_and_has_its_attributes(capsys):
    usual = sys.stderr
    with without_false_errors():
        assert sys.stderr.isatty() == usual.isatty()
    assert sys.stderr is usual
