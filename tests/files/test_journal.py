"""Unfinished work outlives a kill, and is never taken for whole where a byte has changed."""

import json
import random

import pytest

from irplatform.files.journals import (
    append_journal,
    damage_of_unfinished,
    is_kept,
    keep,
    read_journal,
)


def number(line):
    return line["n"] + 0


@pytest.fixture
def journal(tmp_path):
    """A journal of three lines."""
    path = tmp_path / "scores.journal"
    append_journal(path, [{"n": 1}, {"n": 2}])
    append_journal(path, [{"n": 3}])
    return path


def test_what_was_appended_is_read_in_its_order(journal):
    assert read_journal(journal, number) == [1, 2, 3]
    assert [line.partition(" ")[2] for line in journal.read_text().splitlines()] == [
        '{"n":1}',
        '{"n":2}',
        '{"n":3}',
    ]


def test_a_journal_that_is_not_kept_or_not_there_holds_nothing(tmp_path):
    append_journal(None, [{"n": 1}])
    assert read_journal(None, number) == []
    assert read_journal(tmp_path / "none", number) == []
    assert list(tmp_path.iterdir()) == []


def test_a_sound_journal_is_left_alone(journal, monkeypatch):
    """Another process may be adding to it."""
    monkeypatch.setattr("os.truncate", lambda *_: pytest.fail("it was cut"))
    assert read_journal(journal, number) == [1, 2, 3]
    assert damage_of_unfinished(journal) is None


@pytest.mark.parametrize("cut", range(1, 25))
def test_a_cut_last_line_is_dropped_without_a_word(journal, cut, capsys):
    journal.write_bytes(journal.read_bytes()[:-cut])
    assert read_journal(journal, number) == [1, 2]
    append_journal(journal, [{"n": 4}])
    assert read_journal(journal, number) == [1, 2, 4]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b'{"n":2}', b'0123456789abcdef {"n":2}', b"[1]", b"null", b"\x00\xff", b" ", b"2 "],
)
def test_nothing_is_trusted_from_the_first_line_that_is_not_sound(journal, line, capsys):
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], line + b"\n", *lines[2:]]))
    assert "has a damaged line, 2" in damage_of_unfinished(journal)
    assert read_journal(journal, number) == [1]
    assert "scores.journal: line 2 is damaged" in capsys.readouterr().err
    assert journal.read_bytes() == lines[0]


@pytest.mark.parametrize("entry", [{"m": 1}, {"n": "one"}, [1], None])
def test_an_entry_of_another_form_ends_the_journal(journal, entry):
    append_journal(journal, [entry, {"n": 5}])
    assert read_journal(journal, number) == [1, 2, 3]


def test_no_changed_byte_is_used(tmp_path):
    """Not one in a text that stays JSON, in a number, or in the end of a line."""
    draw = random.Random(0)
    entries = [{"topic": f"q{n}", "scores": [n / 7, -n, 1e9 * n]} for n in range(20)]
    for _ in range(300):
        path = tmp_path / "j"
        path.unlink(missing_ok=True)
        append_journal(path, entries)
        content = bytearray(path.read_bytes())
        place = draw.randrange(len(content))
        content[place] = draw.choice(
            [b for b in b'0123456789eE.-+,:"{}[] \n\rqx' if b != content[place]]
        )
        path.write_bytes(content)
        line = bytes(content[:place]).count(b"\n")
        assert read_journal(path, lambda entry: entry) == entries[:line]


def test_numbers_keep_every_bit(tmp_path):
    values = [1 / 3, 1e-300, -2.5e17, 0.1 + 0.2]
    append_journal(tmp_path / "journal", [{"n": values}])
    (read,) = read_journal(tmp_path / "journal", lambda line: line["n"])
    assert read == values


def test_a_kept_file_is_known_again_until_a_byte_changes(tmp_path, capsys):
    path = tmp_path / "part-1.jsonl"
    assert not is_kept(path)
    keep(path, b"one")
    keep(path, b"two")
    assert is_kept(path)
    assert damage_of_unfinished(tmp_path) is None
    path.write_bytes(b"twO")
    assert capsys.readouterr().err == ""
    assert not is_kept(path)
    assert "part-1.jsonl is damaged, and is made again" in capsys.readouterr().err
    assert damage_of_unfinished(tmp_path) == "has a damaged file, part-1.jsonl"


def test_a_kill_before_a_file_gets_its_name_leaves_the_former_one_sound(tmp_path, monkeypatch):
    path = tmp_path / "state"
    keep(path, b"one")
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            keep(path, b"two")
    assert is_kept(path)
    assert path.read_bytes() == b"one"


def test_a_file_that_nothing_has_noted_is_not_kept(tmp_path):
    path = tmp_path / "state"
    path.write_text(json.dumps({"n": 1}))
    assert not is_kept(path)
