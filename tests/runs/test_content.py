"""A run file that is checked as columns has the problems that it has line by line."""

import re
from dataclasses import asdict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_files import a_file

from irplatform.errors import InputError
from irplatform.runs.content import _by_line, _of_columns
from irplatform.tasks.check_runs import validate_run

DOCUMENTS = st.one_of(
    st.integers(0, 40).map(lambda number: f"d{number}"),
    st.sampled_from(["é", "a\u00a0b", "d\x7f", "d\x02", "\ufeffd", "z" * 9000]),
)
SCORES = st.one_of(
    st.integers(0, 4).map(str), st.sampled_from(["1.00000001", "1.00000002", "1e39", "x"])
)
RANKS = st.one_of(st.integers(0, 12).map(str), st.sampled_from(["-1", "01", "00", "1.0", "9" * 19]))
USUAL = st.just("Q0")
PATTERN = re.compile("d[0-9]*|z+")
LINES = st.tuples(
    st.sampled_from(["1", "2", "3", "to\u00a0pic"]),
    st.one_of(USUAL, USUAL, st.sampled_from(["0", "q0", "Q00"])),
    DOCUMENTS,
    RANKS,
    SCORES,
    st.sampled_from(["tag", "tag", "tag", "other", "tág"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    lines=st.lists(LINES, max_size=30),
    once=st.booleans(),
    together=st.booleans(),
    blank=st.sampled_from([" ", "\t", "   "]),
    end=st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\n# comment\n"]),
    block=st.sampled_from([1, 60, 1 << 18]),
    size=st.sampled_from([1, 4, 1 << 18]),
)
def test_columns_have_the_content_of_the_lines(
    tmp_path, lines, once, together, blank, end, block, size
):
    if once:
        lines = list({line[::2][:2]: line for line in lines}.values())
    if together:
        lines = sorted(lines, key=lambda line: line[0])
    path = a_file(tmp_path, "".join(blank.join(line) + end for line in lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("irplatform.files.reading.blocks_of_lines.__defaults__", (block,))
        patch.setattr("irplatform.runs.parts._LINES", size)
        try:
            contents = [
                _of_columns(path, PATTERN, documents=True, together=flag) for flag in (True, False)
            ]
        except (InputError, ValueError):
            contents = []
    expected = _by_line(path, PATTERN)
    for content in filter(None, contents):
        assert asdict(content) == asdict(expected)
        for field in ("tags", "counts", "documents", "faults"):
            assert list(getattr(content, field)) == list(getattr(expected, field))


def test_sound_files_are_read_as_columns(tmp_path):
    rows = [f"{t} Q0 d{n} {n} {90 - n} tag\n" for t in range(3) for n in range(9)]
    content = _of_columns(a_file(tmp_path, "".join(rows)), documents=False)
    assert content.counts == {"0": 9, "1": 9, "2": 9}
    assert not content.faults and not content.rank_problems and not content.documents
    assert (content.from_zero, content.unordered) == ({"0": 1, "1": 10, "2": 19}, {})


def test_lines_are_counted_across_parts_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr("irplatform.runs.parts._LINES", 2)
    monkeypatch.setattr("irplatform.files.reading.blocks_of_lines.__defaults__", (40,))
    rows = [f"{t} Q0 d{n} {n} {90 - n} tag\n" for t in range(3) for n in range(3)]
    rows[7] = "2 Q0 d1 0 89 tag\n"
    problem, *_ = validate_run(a_file(tmp_path, "".join(rows))).problems
    assert problem.message.startswith("topic '2': rank 0 comes twice")
    assert problem.line == 8
