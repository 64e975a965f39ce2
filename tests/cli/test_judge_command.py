"""`platform judge` without its page: what it refuses, and judgments written to files."""

import json
import sqlite3

import pytest
from judged_pools import write_small_pool

from irplatform.judging.judgments import Source
from irplatform.judging.store import Store, stored_judgments

GRADES = ("--grades", "0=no,1=yes")


@pytest.fixture
def pool(folder):
    """A pool with a judgment that was changed."""
    write_small_pool(folder / "pool", {"q1": ["d1", "d2"]})
    with Store.open(folder / "pool", "p1") as store:
        number = store.judge("q1", "d1", Source("person", "ann"), 0, request="click-01").number
        store.judge("q1", "d1", Source("person", "ann"), 1, seen=number, request="click-02")
    return folder / "pool"


def test_judgments_are_exported_as_they_stand(platform, pool, folder):
    outcome = platform("judge", "pool", "--export", "out.jsonl")
    assert (outcome.code, outcome.out) == (0, "out.jsonl\n")
    (line,) = (folder / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["grade"] == 1


def test_a_backup_has_every_click_also_while_people_judge(platform, pool, folder):
    with Store.open(pool, "p1") as store:
        store.judge("q1", "d2", Source("person", "ann"), None, request="click-03")
        assert platform("judge", "pool", "--backup", "copy.sqlite").code == 0
    with sqlite3.connect(folder / "copy.sqlite") as copy:
        assert copy.execute("SELECT COUNT(*) FROM history").fetchone() == (3,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--export", "pool/pool.json"), "this is in the pool itself"),
        (("--backup", "pool/judgments.sqlite"), "this is in the pool itself"),
        (("--backup", "good.run/copy.sqlite"), "its folder is a file"),
        (("--doubled", "2"), "0<=x<=1"),
        (("--port", "0"), "does not say of which collection"),
        (("--port", "0", "--collection", "small"), "does not define its grades"),
        (("--port", "0", "--collection", "small", "--grades", "0=no"), "2 to 10 different grades"),
        (("--port", "0", "--collection", "small", "--grades", "2=a,3=b"), "have been given 1"),
        (("--host", "no such host"), "cannot serve on"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(platform, pool, options, message):
    pytest.importorskip("fastapi")
    before = [*stored_judgments(pool)]
    outcome = platform("judge", "pool", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert [*stored_judgments(pool)] == before


def test_a_pool_of_other_topics_a_second_judge_and_no_judgments_are_refused(platform, folder, pool):
    pytest.importorskip("fastapi")
    on_page = ("--port", "0", "--collection", "small", *GRADES)
    assert "this is no pool" in platform("judge", "small", *on_page).err
    with Store.open(pool, "p1"):
        assert "is being judged in another process" in platform("judge", "pool", *on_page).err
    write_small_pool(folder / "other", {"q9": ["d1"]})
    outcome = platform("judge", "other", "--export", "out.jsonl")
    assert (outcome.code, (folder / "out.jsonl").exists()) == (2, False)
    assert "nobody has judged this pool yet" in outcome.err


@pytest.mark.parametrize("option", ["--export", "--backup"])
def test_a_folder_that_is_no_pool_is_told_as_one(platform, folder, option):
    outcome = platform("judge", "elsewhere", option, "out")
    assert (outcome.code, outcome.err.count("this is no pool")) == (2, 1)
    assert not (folder / "out").exists()
