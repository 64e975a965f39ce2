"""The store: clicks are on the disk, the history only grows, and nobody overwrites another."""

import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from judged_pools import write_small_pool

from irplatform.errors import InputError
from irplatform.judging.judgments import Source, read_judgments, write_judgments
from irplatform.judging.store import ConflictError, Store, backup, stored_judgments

ANN, BOB = Source("person", "ann"), Source("person", "bob")
EVE = Source("person", "eve", "adjudicated")


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path, "p1") as store:
        yield store


@pytest.fixture
def judge(store):
    numbers = iter(range(10**6))

    def judge(document, grade, source=ANN, **more):
        return store.judge("t1", document, source, grade, request=f"click-{next(numbers)}", **more)

    return judge


def _undo(store, source=ANN):
    _undo.count += 1
    return store.undo(source, f"undo-{_undo.count}")


_undo.count = 0


def _standing(folder):
    return [(j.document, j.source.name, j.grade, j.note) for j in stored_judgments(folder)]


def test_judgments_stand_as_they_were_made_last(store, judge, tmp_path):
    first = judge("d1", 1)
    judge("d2", None, note="no abstract")
    judge("d1", 2, BOB)
    judge("d1", 0, seen=first.number)
    assert _standing(tmp_path) == [
        ("d1", "bob", 2, ""),
        ("d1", "ann", 0, ""),
        ("d2", "ann", None, "no abstract"),
    ]
    assert store.counts() == {"t1": 2}
    assert store.grades() == {0, 2}


def test_the_history_has_every_click(store, judge, tmp_path):
    first = judge("d1", 1)
    judge("d1", 0, seen=first.number)
    _undo(store)
    with sqlite3.connect(tmp_path / "judgments.sqlite") as database:
        rows = database.execute("SELECT number, grade, undoes FROM history").fetchall()
    assert rows == [(1, 1, None), (2, 0, None), (3, 1, 2)]


def test_a_judgment_that_was_changed_elsewhere_is_not_overwritten(judge):
    line = judge("d1", 1)
    with pytest.raises(ConflictError) as caught:
        judge("d1", 2)
    assert caught.value.line == line
    assert judge("d1", 2, seen=line.number).judgment.grade == 2
    with pytest.raises(ConflictError):
        judge("d1", 0, seen=line.number)


def test_the_same_click_sent_twice_is_one(store):
    click = {"topic": "t1", "document": "d1", "source": ANN, "grade": 1, "request": "the-click"}
    assert store.judge(**click) == store.judge(**click)
    assert store.judge(**click).number == 1
    assert store.undo(ANN, "the-undo") == store.undo(ANN, "the-undo")
    assert not store.of_topic("t1")


def test_undo_takes_back_one_click_after_the_other(store, judge):
    first = judge("d1", 1, note="first")
    judge("d2", 2)
    judge("d1", 0, seen=first.number)
    judge("d1", 2, BOB)
    again = _undo(store)
    assert (again.judged, again.judgment.grade, again.judgment.note) == (True, 1, "first")
    assert not _undo(store).judged
    assert store.standing("t1", "d2", ANN) is None
    assert not _undo(store).judged
    assert _undo(store) is None
    assert [line.judgment.source for line in store.of_topic("t1")] == [BOB]


def test_a_judgment_after_an_undo_is_new(store, judge):
    judge("d1", 1)
    _undo(store)
    assert judge("d1", 2).judgment.grade == 2
    assert not _undo(store).judged


def test_differences_are_those_that_nobody_has_settled(store, judge):
    for document, grades in {"d1": (1, 1), "d2": (1, 2), "d3": (None, 0), "d4": (0, 1)}.items():
        for source, grade in zip((ANN, BOB), grades, strict=True):
            judge(document, grade, source)
    judge("d5", 1)
    assert [document for _, document in store.differences()] == ["d2", "d3", "d4"]
    settled = judge("d2", 2, EVE)
    assert [document for _, document in store.differences()] == ["d3", "d4"]
    with pytest.raises(ConflictError):
        judge("d2", 1, Source("person", "kim", "adjudicated"))
    judge("d2", 1, Source("person", "kim", "adjudicated"), seen=settled.number)
    _undo(store, EVE)
    assert [document for _, document in store.differences()] == ["d3", "d4"]


def test_what_stands_is_a_file_of_judgments_while_others_judge(store, judge, tmp_path):
    judge("d1", 1, note="ünïcode")
    write_judgments(tmp_path / "out.jsonl", stored_judgments(tmp_path))
    (read,) = read_judgments(tmp_path / "out.jsonl")
    assert (read.pool, read.source, read.note) == ("p1", ANN, "ünïcode")


def test_a_backup_has_the_whole_history(store, judge, tmp_path):
    first_line = judge("d1", 1)
    judge("d1", 2, seen=first_line.number)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "judgments.sqlite").write_bytes(backup(tmp_path))
    assert _standing(tmp_path / "copy") == _standing(tmp_path)
    with Store.open(tmp_path / "copy", "p1") as copy:
        copy.undo(ANN, "an-undo")
        assert [line.judgment.grade for line in copy.of_topic("t1")] == [1]


def test_a_backup_lets_nobody_in(store, judge, tmp_path):
    judge("d1", 1)
    token = store.setting("token", "a-token-of-this-pool")
    copy = backup(tmp_path)
    assert token.encode() not in copy
    assert b"d1" in copy
    assert store.setting("token", "another") == token


def test_a_second_process_is_refused_until_the_first_ends(tmp_path):
    program = (
        "import sys; from pathlib import Path; from irplatform.judging.store import Store\n"
        "with Store.open(Path(sys.argv[1]), 'p1'): print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(InputError, match="is being judged in another process"):
            Store.open(tmp_path, "p1").__enter__()
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    with Store.open(tmp_path, "p1") as store:
        assert not store.of_topic("t1")


def test_judgments_of_another_pool_are_refused(tmp_path):
    with Store.open(tmp_path, "p1"):
        pass
    with pytest.raises(InputError, match="another pool"), Store.open(tmp_path, "p2"):
        pass


def test_a_pool_that_nobody_judged_has_no_judgments(tmp_path):
    with pytest.raises(InputError, match="this is no pool"):
        next(stored_judgments(tmp_path))
    write_small_pool(tmp_path, {"t1": ["d1"]})
    with pytest.raises(InputError, match="nobody has judged"):
        next(stored_judgments(tmp_path))


def test_a_damaged_file_is_told_in_a_line(tmp_path):
    (tmp_path / "judgments.sqlite").write_text("no database" * 100)
    with pytest.raises(InputError, match="cannot be read or written"), Store.open(tmp_path, "p1"):
        pass
