"""TREC run files: what is read, what is written, and what is refused where."""

import bz2
import gzip
import lzma
import os
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_files import a_file

from irplatform.errors import InputError
from irplatform.runs import Ranking, Run, read_run, write_run
from irplatform.runs.trec import _shortest, run_errors
from irplatform.tasks.catalogue.rules import Rules
from irplatform.tasks.check_runs import validate_run

IDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\v\f\0\ufeff"), min_size=1
)
SCORES = st.floats(width=32, allow_nan=False, allow_infinity=False)
RANKINGS = st.dictionaries(IDS, SCORES, min_size=1, max_size=12).map(
    lambda scores: Ranking.of(list(scores), list(scores.values()))
)
TOPICS = IDS.filter(lambda topic: not topic.startswith("#"))
RUNS = st.dictionaries(TOPICS, RANKINGS, min_size=1, max_size=4).map(lambda r: Run("a-run", r))


def contents(run):
    return {topic: list(ranking) for topic, ranking in run.rankings.items()}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(run=RUNS)
@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_a_run_survives_writing_and_reading_and_its_bytes_do_too(tmp_path, name, run):
    write_run(run, tmp_path / name)
    back = read_run(tmp_path / name)
    write_run(back, tmp_path / f"again-{name}")
    assert back.name == run.name
    assert contents(back) == contents(run)
    assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_every_32_bit_float_is_written_as_a_decimal_that_reads_back():
    bits = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32)
    scores = bits.view(np.float32)
    scores = scores[np.isfinite(scores)]
    read_back = np.array([float(text) for text in _shortest(scores)]).astype(np.float32)
    assert np.array_equal(read_back, scores)


def test_scores_are_written_as_short_as_they_can_be(tmp_path):
    write_run(Run("x", {"1": Ranking.of(["a", "b", "c"], [12.1, 0.3, 0.0])}), tmp_path / "a.run")
    assert (tmp_path / "a.run").read_text() == "1 Q0 a 1 12.1 x\n1 Q0 b 2 0.3 x\n1 Q0 c 3 0.0 x\n"


def test_a_gzipped_run_has_the_same_bytes_at_any_time_and_under_any_name(tmp_path, monkeypatch):
    run = Run("x", {"1": Ranking.of(["a"], [1.0])})
    write_run(run, tmp_path / "first.run.gz")
    monkeypatch.setattr("time.time", lambda: 4e9)
    write_run(run, tmp_path / "second.run.gz")
    assert (tmp_path / "first.run.gz").read_bytes() == (tmp_path / "second.run.gz").read_bytes()
    assert gzip.decompress((tmp_path / "first.run.gz").read_bytes()) == b"1 Q0 a 1 1.0 x\n"


def test_order_follows_from_scores_and_ids_whatever_the_ranks_and_lines_say(tmp_path):
    path = a_file(
        tmp_path, "2 Q0 a 1 1 t\n1 Q0 a 1 0.5 t\n2 Q0 c 2 1 t\n1 Q0 b 2 7 t\n2 Q0 b 3 2 t"
    )
    assert contents(read_run(path)) == {
        "2": [("b", 2.0), ("c", 1.0), ("a", 1.0)],
        "1": [("b", 7.0), ("a", 0.5)],
    }


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 18])
def test_reading_in_blocks_of_any_size_gives_the_same_run(tmp_path, monkeypatch, block):
    rows = [(t, d, random.Random(t * 97 + d).random()) for t in range(5) for d in range(40)]
    random.Random(1).shuffle(rows)
    path = a_file(tmp_path, "".join(f"{t}\tQ0  d{d} 1 {s} tag\n" for t, d, s in rows))
    expected = {}
    for topic, document, score in rows:
        expected.setdefault(str(topic), []).append((float(np.float32(score)), f"d{document}"))
    monkeypatch.setattr("irplatform.files.reading.blocks_of_lines.__defaults__", (block,))
    assert contents(read_run(path)) == {
        topic: [(d, s) for s, d in sorted(results, reverse=True)]
        for topic, results in expected.items()
    }


def test_the_first_tag_names_the_run(tmp_path):
    assert read_run(a_file(tmp_path, "1 Q0 a 1 1 first\n1 Q0 b 2 0 second\n")).name == "first"


def test_blank_lines_line_ends_of_windows_and_a_byte_order_mark_do_not_matter(tmp_path):
    path = a_file(tmp_path, "\ufeff1 Q0 a 1 2 t\r\n\r\n  \n1 Q0 b 2 1 t\r\n\n")
    assert contents(read_run(path)) == {"1": [("a", 2.0), ("b", 1.0)]}


def test_a_no_break_space_is_part_of_an_id(tmp_path):
    assert contents(read_run(a_file(tmp_path, "1 Q0 a\u00a0b 1 2 t\n"))) == {
        "1": [("a\u00a0b", 2.0)]
    }


GOOD = "1 Q0 a 1 9 t\n\n"


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        (GOOD + "1 Q0 b 2 t\n", 3, "5 columns. Every line needs: topic Q0 docid rank score tag."),
        (GOOD + "b\n", 3, "1 column."),
        (GOOD + "1 Q0 b 2 t\n1 Q0 c 3 7 t extra\n", 3, "5 columns"),
        (GOOD + "1 Q0 b 2 8 t\r1 Q0 c 3 7 t\r\n", 3, "this line has a carriage return (CR) inside"),
        (GOOD + "# a comment\r1 Q0 c 3 7 t\r", 3, "this line has a carriage return (CR) inside"),
        (GOOD + "1 Q0 b 2 nan t\n", 3, "the score 'nan' is not a finite number"),
        (GOOD + "1 Q0 b 2 -inf t\n", 3, "the score '-inf' is not a finite number"),
        (GOOD + "1 Q0 b 2 high t\n", 3, "the score 'high' is not a number"),
        (GOOD + "1 Q0 b 2 1_0 t\n", 3, "the score '1_0' is not a number"),
        (GOOD + "2 Q0 a 1 8 t\n1 Q0 a 2 7 t\n", 4, "second time; the first is in line 1"),
    ],
)
def test_a_bad_line_is_named(tmp_path, lines, line, words):
    path = a_file(tmp_path, lines)
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)
    assert caught.value.line == line


def test_lines_that_end_in_carriage_returns_alone_are_refused_in_a_sentence(tmp_path):
    for text in ("1 Q0 a 1 9 t\r1 Q0 b 2 8 t\r", "# a comment\r1 Q0 a 1 9 t\r"):
        path = a_file(tmp_path, text)
        with pytest.raises(InputError, match=r"lines ended in CR alone\. Convert the file: tr "):
            read_run(path)


COMMENTED = "# made by us today, again\n1 Q0 a#1 1 2 my run\n # of six words it is\n1 Q0 b 2 1 my\n"


@pytest.mark.parametrize("block", [1, 30, 1 << 18])
def test_comments_and_text_after_the_tag_are_passed_over_and_counted(
    tmp_path, monkeypatch, capsys, block
):
    monkeypatch.setattr("irplatform.files.reading.blocks_of_lines.__defaults__", (block,))
    path = a_file(tmp_path, COMMENTED)
    for _ in range(2):
        run = read_run(path)
        assert (run.name, contents(run)) == ("my", {"1": [("a#1", 2.0), ("b", 1.0)]})
    assert capsys.readouterr().err.splitlines() == [
        f"{path}: ignored as comments: 2 lines beginning with '#'",
        f"{path}: ignored after the run tag: text in 1 line",
    ]


@pytest.mark.parametrize(
    ("scores", "order"),
    [
        (["0.99999999", "0.99999998"], "az"),
        (["1e-50", "2e-50"], "za"),
        (["1e300", "2e300"], "za"),
        (["0.1000000000000000055", "0.1"], "za"),  # one 64-bit number
        (["-0.0", "0"], "za"),
    ],
)
def test_scores_that_are_read_are_ordered_in_64_bits_and_written_so(tmp_path, scores, order):
    text = "".join(f"1 Q0 {doc} 1 {score} t\n" for doc, score in zip("az", scores, strict=True))
    run = read_run(a_file(tmp_path, text))
    assert "".join(run.rankings["1"].doc_ids) == order
    assert "".join(run.in_32_bits().rankings["1"].doc_ids) == "za"
    write_run(run, tmp_path / "again.run")
    assert contents(read_run(tmp_path / "again.run")) == contents(run)


def test_scores_keep_32_bits_where_these_give_the_same_order(tmp_path):
    path = a_file(tmp_path, "1 Q0 b 1 0.123456789012 t\n1 Q0 a 2 0.123456789011 t\n")
    write_run(read_run(path), tmp_path / "again.run")
    assert (tmp_path / "again.run").read_text().splitlines() == [
        "1 Q0 b 1 0.12345679 t",
        "1 Q0 a 2 0.12345679 t",
    ]


@pytest.mark.parametrize("id_", ["a\0b", "\0"])
def test_a_nul_byte_is_named_where_trec_eval_would_end_the_id(tmp_path, id_):
    path = tmp_path / "run"
    path.write_text(f"1 Q0 a 1 2 tag\n1 Q0 {id_} 2 1 tag\n")
    with pytest.raises(InputError, match="run:2: this line has a NUL byte"):
        read_run(path)
    assert [(p.line, "NUL" in p.message) for p in run_errors(path)] == [(2, True)]


def test_text_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "latin.run"
    path.write_bytes(b"1 Q0 a 1 2 t\n1 Q0 caf\xe9 2 1 t\n")
    with pytest.raises(InputError, match=r"latin\.run:2: this line is not UTF-8"):
        read_run(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_run_in_utf_16_is_told_to_be_saved_as_utf_8(tmp_path, encoding):
    path = tmp_path / "wide.run"
    path.write_bytes("1 Q0 a 1 2 t\n".encode(encoding))
    with pytest.raises(InputError, match=r"wide\.run:.* UTF-16.* Save the file as UTF-8\."):
        read_run(path)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_refused(tmp_path, text):
    with pytest.raises(InputError, match="no results in this file"):
        read_run(a_file(tmp_path, text))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.run: there is no such file"):
        read_run(tmp_path / "none.run")
    with pytest.raises(InputError, match="folder"):
        read_run(tmp_path)
    with pytest.raises(InputError, match="Name standard input /dev/stdin"):
        read_run(Path("-"))


@pytest.fixture
def piped(tmp_path):
    """The path of a pipe that something is written into, once."""
    from threading import Thread

    ends = []

    def write(end, content):
        with os.fdopen(end, "wb") as file:
            file.write(content)

    def pipe(content):
        reading, writing = os.pipe()
        ends.append(reading)
        Thread(target=write, args=(writing, content), daemon=True).start()
        return Path(f"/dev/fd/{reading}")

    yield pipe
    for end in ends:
        os.close(end)


def test_a_pipe_is_read_as_often_as_a_file(piped):
    lines = b"".join(b"1 Q0 d%d %d %d t\n" % (n, n, 9000 - n) for n in range(9000))
    pipe = piped(lines)
    first, second = read_run(pipe), read_run(pipe)
    assert len(first.rankings["1"]) == len(second.rankings["1"]) == 9000
    assert validate_run(pipe, Rules(depth=9000)).topics


def test_gzip_is_known_by_its_content_too(tmp_path):
    write_run(Run("x", {"1": Ranking.of(["a"], [1.0])}), tmp_path / "a.gz")
    (tmp_path / "packed.run").write_bytes((tmp_path / "a.gz").read_bytes())
    assert read_run(tmp_path / "packed.run").rankings["1"].doc_ids == ("a",)


def test_what_is_packed_otherwise_is_refused_in_clear_words(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.run", "w") as archive:
        archive.writestr("b.run", "1 Q0 a 1 1 t\n")
    packed = {"zip archive": (tmp_path / "a.run").read_bytes()}
    packed["bzip2 file"] = bz2.compress(b"1 Q0 a 1 1 t\n")
    packed["xz file"] = lzma.compress(b"1 Q0 a 1 1 t\n")
    for name, content in packed.items():
        (tmp_path / "a.run").write_bytes(content)
        with pytest.raises(InputError, match=f"this is an? {name}. Unpack it"):
            read_run(tmp_path / "a.run")


def test_broken_gzip_is_refused(tmp_path):
    write_run(
        Run("x", {"1": Ranking.of(list(map(str, range(999))), range(999))}), tmp_path / "a.gz"
    )
    content = (tmp_path / "a.gz").read_bytes()
    for broken in (
        b"1 Q0 a 1 1 t\n",
        content[: len(content) // 2],
        content[:40] + b"xxxx" + content[44:],
    ):
        (tmp_path / "b.gz").write_bytes(broken)
        with pytest.raises(InputError, match="not a whole gzip file"):
            read_run(tmp_path / "b.gz")


@pytest.mark.parametrize(
    "run",
    [
        Run("two words", {"1": Ranking.of(["a"], [1])}),
        Run("", {"1": Ranking.of(["a"], [1])}),
        Run("x", {"topic 1": Ranking.of(["a"], [1])}),
        Run("x", {"#1": Ranking.of(["a"], [1])}),
        Run("x", {"1": Ranking.of(["a", "b\tc"], [2, 1])}),
        Run("x", {"1": Ranking.of(["a", ""], [2, 1])}),
    ],
)
def test_what_a_trec_file_cannot_hold_is_not_written(tmp_path, run):
    (tmp_path / "a.run").write_text("what was there before")
    with pytest.raises(InputError, match=r"white space|begins with '#'"):
        write_run(run, tmp_path / "a.run")
    assert [p.name for p in tmp_path.iterdir()] == ["a.run"]
    assert (tmp_path / "a.run").read_text() == "what was there before"


def test_scores_that_are_text_make_no_ranking():
    with pytest.raises(ValueError, match=r"the scores are text, such as \['10'\]"):
        Ranking.of(["a", "b"], ["10", "9"])


def test_topics_without_results_leave_no_trace(tmp_path):
    run = Run("x", {"1": Ranking.of([], []), "2": Ranking.of(["a"], [1])})
    write_run(run, tmp_path / "a.run")
    assert list(read_run(tmp_path / "a.run").rankings) == ["2"]


@pytest.mark.parametrize(
    "line", ["41,d7,1,2.5,mine", "qid\tdocno\tscore", "41 d7 2.5", '"41";"d7";"2.5"']
)
def test_of_a_table_it_is_said_what_reads_it(tmp_path, line):
    path = tmp_path / "my.csv"
    path.write_text(f"{line}\n")
    with pytest.raises(InputError, match=r"`platform submit fix .*my.csv -o NEW` reads tables"):
        read_run(path)
