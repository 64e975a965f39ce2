"""Runs read as columns are those that are read line by line, to the last bit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from small_files import a_file

from irplatform.errors import InputError
from irplatform.runs import Ranking, Run, read_run
from irplatform.runs.packed import PackedRanking
from irplatform.runs.trec import run_errors


def read_plainly(path):
    """Read a run line by line, with one `Ranking.of` per topic."""
    for problem in run_errors(path):
        raise InputError(problem.message, path=path, line=problem.line)
    tag, results = None, {}
    for line in path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        topic, _, document, _, score, first_tag = line.split()[:6]
        tag = tag or first_tag
        results.setdefault(topic.decode(), []).append((document.decode(), float(score)))
    return Run(
        tag.decode(),
        {
            topic: Ranking.of([d for d, _ in pairs], [s for _, s in pairs], rounded=False)
            for topic, pairs in results.items()
        },
    )


def bits(run):
    return run.name, [
        (topic, ranking.doc_ids, ranking.scores.dtype, ranking.scores.tobytes())
        for topic, ranking in run.rankings.items()
    ]


IDS = st.one_of(
    st.integers(0, 30).map(str),
    st.integers(0, 30).map(lambda number: f"clueweb09-en0000-{number:02}"),
    st.sampled_from(["é", "日本語", "z" * 64, "z" * 65, "d\x01", "d\x1f2", "#x", "a,b"]),
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda f: str(np.float32(f))),
    st.integers(-3, 3).map(str),
    st.sampled_from(["-0", "-0.0", "+2", ".5", "7.", "007", "1E5", "1e-400", "2" * 70, "1e300"]),
)
WRONG = st.sampled_from(["nan", "1_0", "true", "null", '"5"', "[]", "1,2", "1e400", "x", "٣"])
LINES = st.tuples(st.sampled_from(["1", "2", "10", "tópico"]), IDS, NUMBERS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120)
@given(
    lines=st.lists(LINES, min_size=1, max_size=40, unique_by=lambda line: line[:2]),
    together=st.booleans(),
    blank=st.sampled_from([" ", "\t", "  ", "\v"]),
    end=st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n# a comment\n", " more\n"]),
    last=st.booleans(),
    wrong=st.one_of(st.none(), WRONG, st.none()),
    block=st.sampled_from([1, 50, 200, 1 << 18]),
    part=st.sampled_from([1, 5, 1 << 18]),
)
@example([("1", "a", "1"), ("1", "b", "1,2")], True, " ", "\n", True, None, 1 << 18, 1 << 18)
@example([("1", "a", "0"), ("1", "b", "-0")], True, " ", "\n", True, None, 1 << 18, 1 << 18)
def test_a_run_read_as_columns_is_the_one_read_line_by_line(
    tmp_path, lines, together, blank, end, last, wrong, block, part
):
    if together:
        lines = sorted(lines, key=lambda line: line[0])
    if wrong is not None:
        lines[-1] = (*lines[-1][:2], wrong)
    rows = [blank.join((topic, "Q0", doc, "1", score, "t")) for topic, doc, score in lines]
    path = a_file(tmp_path, end.join(rows) + end * last)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("irplatform.files.reading.blocks_of_lines.__defaults__", (block,))
        patch.setattr("irplatform.runs.parts._LINES", part)
        try:
            expected = bits(read_plainly(path))
        except InputError as error:
            with pytest.raises(InputError) as caught:
                read_run(path)
            assert str(caught.value) == str(error)
        else:
            assert bits(read_run(path)) == expected


def test_a_document_that_comes_twice_is_named_in_packed_runs(tmp_path):
    rows = [f"{topic} Q0 d{n} 1 {9 - n} t" for topic in (1, 2) for n in range(5)]
    path = a_file(tmp_path, "\n".join([*rows, "2 Q0 d3 1 0.5 t"]))
    with pytest.raises(InputError, match=r":11: topic '2' has document 'd3' a second time"):
        read_run(path)


def test_a_packed_ranking_is_cut_and_rounded_like_any_other(tmp_path):
    path = a_file(tmp_path, "1 Q0 a 1 1.00000001 t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 0.5 t\n")
    run = read_run(path)
    ranking = run.rankings["1"]
    assert isinstance(ranking, PackedRanking)
    assert len(ranking) == 3
    assert ranking.top(2).doc_ids == ("a", "b")
    assert run.in_32_bits().rankings["1"].doc_ids == ("b", "a", "c")
    with pytest.raises(ValueError, match="read-only"):
        ranking.scores[0] = 7
