"""A log is read as it stands, in blocks; what is wrong with it is said with file and line."""

import gzip

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from irplatform.building import click_log as module
from irplatform.building.click_log import COLUMNS, Header, read_log
from irplatform.errors import InputError

HEADER = "\t".join(COLUMNS)


def write(path, *lines, header=HEADER, end="\n"):
    path.write_bytes("".join(line + end for line in (header, *lines)).encode())
    return path


def rows(path):
    return pl.concat(read_log(path)).rows()


def test_columns_come_in_any_order_and_others_are_ignored(tmp_path):
    header = "has_fulltext\tsession\tdoc_id\tQuery\trank\tfulltext_clicks\tabstract_clicks"
    path = write(tmp_path / "log.tsv", "1\tx\td1\tlung cancer\t3\t0\t2", header=header)
    assert rows(path) == [("lung cancer", "d1", 3, 2, 0, 1)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_quotes_and_windows_line_ends_are_no_trouble(tmp_path, end):
    path = write(tmp_path / "log.tsv", '"a\td1\t1\t0\t0\t0', "", "b\td2\t2\t1\t0\t1", end=end)
    assert rows(path) == [('"a', "d1", 1, 0, 0, 0), ("b", "d2", 2, 1, 0, 1)]


def test_a_gzipped_log_and_one_without_a_last_line_end_are_the_same_log(tmp_path):
    plain = write(tmp_path / "log.tsv", "a\td1\t1\t0\t0\t0", "b\td2\t2\t1\t0\t1")
    packed = tmp_path / "log.tsv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes().rstrip()))
    assert rows(packed) == rows(plain)


def test_many_blocks_are_read_as_one(tmp_path, monkeypatch):
    lines = [f"q{i % 7}\td{i}\t{i + 1}\t{i % 2}\t0\t1" for i in range(500)]
    path = write(tmp_path / "log.tsv", *lines)
    expected = rows(path)
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    assert len(list(read_log(path))) > 50
    assert rows(path) == expected


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("q\td1\t1\t-1\t0\t0", "abstract_clicks is '-1'"),
        ("q\td1\t1\t0\t-7\t0", "fulltext_clicks is '-7'"),
        ("q\td1\t0\t0\t0\t0", "rank is '0'"),
        ("q\td1\t1\t0\t0\t2", "has_fulltext is '2', not a whole number between 0 and 1"),
        ("q\td1\t1\tmany\t0\t0", "abstract_clicks is 'many', not a whole number"),
        ("q\td1\t1\t1.5\t0\t0", "abstract_clicks is '1.5', not a whole number"),
        ("q\td1\t1\t\t0\t0", "abstract_clicks is '', not a whole number"),
        ("q\td1\t1\t99999999999999999999\t0\t0", "abstract_clicks is '9999"),
        ("q\td1\t1\t0\t0", "5 columns where the header has 6"),
        ("q", "1 column where the header has 6"),
        ("q\td1\t1\t0\t0\t0\textra", "7 columns where the header has 6"),
        ("q\t\t1\t0\t0\t0", "the document id '' is empty"),
        ("q\td 1\t1\t0\t0\t0", "the document id 'd 1'"),
    ],
)
@pytest.mark.parametrize("block", [1 << 24, 40])
def test_a_bad_line_is_named(tmp_path, monkeypatch, line, complaint, block):
    monkeypatch.setattr(module, "BLOCK_BYTES", block)
    path = write(tmp_path / "log.tsv", "q\td0\t1\t0\t0\t0", "", "q\td0\t1\t0\t0\t0", line, "x")
    with pytest.raises(InputError, match=complaint) as raised:
        rows(path)
    assert (raised.value.path, raised.value.line) == (path, 5)


@pytest.mark.parametrize("block", [1 << 24, 40])
def test_a_byte_that_is_not_utf_8_is_named(tmp_path, monkeypatch, block):
    monkeypatch.setattr(module, "BLOCK_BYTES", block)
    path = tmp_path / "log.tsv"
    good = b"q\td0\t1\t0\t0\t0\n"
    path.write_bytes(HEADER.encode() + b"\n" + good * 3 + b"na\xefve\td1\t1\t0\t0\t0\n" + good)
    with pytest.raises(InputError, match="0xef here is not UTF-8") as raised:
        rows(path)
    assert raised.value.line == 5


def test_too_few_columns_are_seen_also_where_the_missing_one_is_ignored(tmp_path):
    path = write(tmp_path / "log.tsv", "q\td0\t1\t0\t0\t0", header=f"{HEADER}\tsession")
    with pytest.raises(InputError, match="6 columns where the header has 7"):
        rows(path)


@pytest.mark.parametrize("missing", COLUMNS)
def test_a_missing_column_is_named(tmp_path, missing):
    header = "\t".join(name for name in COLUMNS if name != missing)
    with pytest.raises(InputError, match=f"no column '{missing}'") as raised:
        rows(write(tmp_path / "log.tsv", "q\td0\t1\t0\t0", header=header))
    assert raised.value.line == 1


def test_numbers_may_have_a_point_and_nothing_behind_it(tmp_path):
    path = write(tmp_path / "log.tsv", "a\td1\t1.0\t2.\t0.00\t1", "b\td2\t2\t1\t0\t1")
    assert rows(path) == [("a", "d1", 1, 2, 0, 1), ("b", "d2", 2, 1, 0, 1)]


def test_lines_that_end_in_carriage_returns_alone_are_named(tmp_path):
    with pytest.raises(InputError, match=r"the first line has a carriage return \(CR\) inside"):
        rows(write(tmp_path / "log.tsv", "a\td1\t1\t0\t0\t0", end="\r"))


def test_a_column_may_come_only_once(tmp_path):
    with pytest.raises(InputError, match="'rank' twice"):
        rows(write(tmp_path / "log.tsv", header=f"{HEADER}\trank"))


@pytest.mark.parametrize("content", ["", HEADER, HEADER + "\n\n\n"])
def test_a_log_without_lines_is_refused(tmp_path, content):
    path = tmp_path / "log.tsv"
    path.write_text(content)
    with pytest.raises(InputError):
        rows(path)


CELL = st.one_of(
    st.integers(-2, 40).map(str),
    st.sampled_from(
        ["", " 1", "+2", "1.0", "1e2", "0x1", "NaN", "null", "true", "١", "2147483648"]
    ),
    st.text(st.characters(exclude_characters="\t\n\r", codec="utf-8"), max_size=4),
)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300)
@given(st.lists(st.lists(CELL, min_size=6, max_size=6), min_size=1, max_size=3))
@example([["query", "\x1f", "1", "0", "0", "0"]])
def test_what_the_fast_reader_accepts_the_plain_one_reads_the_same(lines):
    header = Header(COLUMNS, {name: place for place, name in enumerate(COLUMNS)})
    block = "".join("\t".join(line) + "\n" for line in lines).encode()
    fast = module._fast(block, header)
    if fast is not None:
        assert fast.rows() == module._plain(block, header, "log", 1).rows()
