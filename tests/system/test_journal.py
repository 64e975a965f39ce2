"""Journals outlive a kill: whole lines are kept, half a line is cut off and written again."""

import pytest

from irplatform.system.formats import append_journal, read_journal


def number(line):
    return line["n"] + 0


@pytest.fixture
def journal(tmp_path):
    """A journal of three lines."""
    path = tmp_path / "journal.jsonl"
    append_journal(path, [{"n": 1}, {"n": 2}])
    append_journal(path, [{"n": 3}])
    return path


def test_what_was_appended_is_read_in_its_order(journal):
    assert read_journal(journal, number) == [1, 2, 3]
    assert journal.read_bytes() == b'{"n":1}\n{"n":2}\n{"n":3}\n'


def test_a_journal_that_is_not_kept_or_not_there_holds_nothing(tmp_path):
    append_journal(None, [{"n": 1}])
    assert read_journal(None, number) == []
    assert read_journal(tmp_path / "none", number) == []
    assert list(tmp_path.iterdir()) == []


def test_a_sound_journal_is_left_alone(journal, monkeypatch):
    """Another process may be adding to it."""
    monkeypatch.setattr("os.truncate", lambda *_: pytest.fail("it was cut"))
    assert read_journal(journal, number) == [1, 2, 3]


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_cut_last_line_is_dropped_and_what_follows_is_whole(journal, cut):
    journal.write_bytes(journal.read_bytes()[:-cut])
    assert read_journal(journal, number) == [1, 2]
    append_journal(journal, [{"n": 4}])
    assert read_journal(journal, number) == [1, 2, 4]


@pytest.mark.parametrize(
    "line", [b"", b"{", b'{"n":', b'{"m":1}', b'{"n":"one"}', b"[1]", b"null", b"\x00\xff"]
)
def test_nothing_is_trusted_from_the_first_line_that_is_not_sound(journal, line):
    whole = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([whole[0], line + b"\n", *whole[2:]]))
    assert read_journal(journal, number) == [1]
    assert journal.read_bytes() == whole[0]


def test_a_sound_journal_stays_as_it_is(journal):
    before = journal.read_bytes()
    assert read_journal(journal, lambda line: line) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert journal.read_bytes() == before


def test_numbers_keep_every_bit(tmp_path):
    values = [1 / 3, 1e-300, -2.5e17, 0.1 + 0.2]
    append_journal(tmp_path / "journal", [{"n": values}])
    (read,) = read_journal(tmp_path / "journal", lambda line: line["n"])
    assert read == values
