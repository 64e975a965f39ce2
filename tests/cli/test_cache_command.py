"""`platform cache`: what the cache holds is told, and removed as asked; nothing else is."""

import io
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from irplatform.files.cache import artifact
from irplatform.files.journals import append_journal
from irplatform.files.writing import home

DAY = 24 * 3600
FULL = Path("/dev/full")


def _artifact_path(kind, label, size, days_ago=0.0):
    """An artifact of so many bytes, last used so long ago."""
    item = artifact(kind, label, {}, lambda folder: (folder / "held").write_bytes(bytes(size)))
    last_use = time.time() - days_ago * DAY
    os.utime(item.path, (last_use, last_use))
    return item.path


@pytest.fixture
def cache_paths(folder):
    """A cache with three artifacts, the rest of an interrupted one, and what users put there."""
    paths = {
        "index": _artifact_path("index", "old", 5_000_000, days_ago=40),
        "vectors": _artifact_path("vectors", "new", 2_000_000),
        "checkpoint": _artifact_path("checkpoint", "new", 1_000_000, days_ago=2),
        "rest": home() / "checkpoint" / "dead-0123456789abcdef.partial",
        "kb": home() / "kb" / "mesh",
        "collection": home() / "collections" / "trec-pm-pool-2017",
    }
    for name in ("rest", "kb", "collection"):
        paths[name].mkdir(parents=True)
        (paths[name] / "some").write_bytes(b"123")
    return paths


def _names_on_disk(paths):
    return {name for name, path in paths.items() if path.exists()}


def test_kinds_are_listed_with_size_and_number(platform, cache_paths):
    outcome = platform("cache", "list")
    lines = [line.split() for line in outcome.out.splitlines()]
    today = time.strftime("%Y-%m-%d")
    assert ["2.0", "MB", "1", today, "vectors"] in lines
    assert ["1.0", "MB", "2", today, "checkpoint"] in lines
    assert lines[-1][:2] == ["8.0", "MB"]
    assert "kb" not in outcome.out


def test_items_of_a_kind_are_listed_with_their_state(platform, cache_paths):
    outcome = platform("cache", "list", "--kind", "checkpoint")
    assert "dead-0123456789abcdef.partial (incomplete)" in outcome.out
    assert f"{cache_paths['checkpoint'].name}\n" in outcome.out
    assert cache_paths["index"].name not in outcome.out


def test_trials_of_tuning_are_of_use_whether_it_ended_or_not(platform, cache_paths):
    trials = home() / "tune" / "demo-0123456789abcdef.journal"
    trials.parent.mkdir()
    trials.write_text("{}\n")
    assert "incomplete" not in platform("cache", "list", "--kind", "tune").out
    platform("cache", "remove", "--interrupted", "--yes")
    assert trials.exists()


def test_json_has_every_item(platform, cache_paths):
    facts = json.loads(platform("cache", "list", "--json").out)
    assert facts["folder"] == str(home())
    items = {(item["kind"], item["complete"]): item for item in facts["items"]}
    assert set(items) == {
        ("index", True),
        ("vectors", True),
        ("checkpoint", True),
        ("checkpoint", False),
    }
    assert 5_000_000 < items["index", True]["bytes"] < 5_001_000


def test_an_empty_cache_is_no_mistake(platform, folder):
    outcome = platform("cache", "list")
    assert (outcome.code, outcome.err) == (0, "")
    assert str(home()) in outcome.out


def test_a_file_with_two_names_counts_once(platform, cache_paths):
    os.link(cache_paths["vectors"] / "held", cache_paths["checkpoint"] / "vectors")
    total = sum(
        item["bytes"] for item in json.loads(platform("cache", "list", "--json").out)["items"]
    )
    assert 8_000_000 < total < 8_010_000


@pytest.mark.parametrize("kind", ["vectors", "checkpoint"])
def test_it_counts_for_a_kind_that_is_listed_alone(platform, cache_paths, kind):
    os.link(cache_paths["vectors"] / "held", cache_paths["checkpoint"] / "vectors")
    items = json.loads(platform("cache", "list", "--kind", kind, "--json").out)["items"]
    assert {item["kind"] for item in items} == {kind}
    assert sum(item["bytes"] for item in items) >= 2_000_000


@pytest.mark.parametrize(
    ("arguments", "gone"),
    [
        (("--kind", "index"), {"index"}),
        (("--kind", "index", "--kind", "vectors"), {"index", "vectors"}),
        (("--unused-for", "30"), {"index"}),
        (("--unused-for", "1"), {"index", "checkpoint"}),
        (("--unused-for", "1", "--kind", "checkpoint"), {"checkpoint"}),
        (("--interrupted",), {"rest"}),
        (("--all",), {"index", "vectors", "checkpoint", "rest"}),
    ],
)
def test_what_the_options_say_is_removed(platform, cache_paths, arguments, gone):
    before = _names_on_disk(cache_paths)
    outcome = platform("cache", "remove", *arguments, "--yes")
    assert outcome.code == 0
    assert before - _names_on_disk(cache_paths) == gone
    assert f"Removed {len(gone)} item" in outcome.out


def test_a_removed_artifact_is_made_again(platform, cache_paths):
    platform("cache", "remove", "--kind", "vectors", "--yes")
    assert _artifact_path("vectors", "new", 7) == cache_paths["vectors"]
    assert (cache_paths["vectors"] / "held").stat().st_size == 7


def test_using_an_artifact_is_noticed(platform, cache_paths):
    artifact("index", "old", {}, lambda _folder: pytest.fail("it is there"))
    platform("cache", "remove", "--unused-for", "30", "--yes")
    assert cache_paths["index"].exists()


@pytest.mark.parametrize("as_json", [False, True])
def test_what_is_damaged_is_named(platform, cache_paths, as_json):
    platform("cache", "verify")
    content = bytearray((cache_paths["vectors"] / "held").read_bytes())
    content[1_234_567] ^= 4
    (cache_paths["vectors"] / "held").write_bytes(content)
    outcome = platform("cache", "verify", *(["--json"] if as_json else []))
    assert outcome.code == 1
    if as_json:
        damaged = {str(cache_paths["vectors"]): "has a damaged file, held"}
        assert json.loads(outcome.out) == {"items": 4, "damaged": damaged}
        return
    assert outcome.out.splitlines() == [
        f"{cache_paths['vectors']} has a damaged file, held",
        "What is damaged is made again when it is needed.",
        "4 items read, 1 damaged.",
    ]


def test_a_whole_cache_is_verified(platform, cache_paths):
    assert platform("cache", "verify").out == "4 items read, 0 damaged.\n"


def test_unfinished_items_are_verified(platform, cache_paths):
    folder = home() / "scores" / "delta-0123456789abcdef.partial"
    folder.mkdir(parents=True)
    append_journal(folder / "finished.journal", [{"topic": "1", "scores": [644.25]}])
    content = (folder / "finished.journal").read_bytes()
    (folder / "finished.journal").write_bytes(content.replace(b"644", b"944"))
    outcome = platform("cache", "verify", "--kind", "scores")
    assert outcome.code == 1
    assert f"{folder} has a damaged line, 1, finished.journal\n" in outcome.out


def test_a_trial_removes_nothing(platform, cache_paths):
    before = _names_on_disk(cache_paths)
    outcome = platform("cache", "remove", "--all", "--dry-run")
    assert "4 items, 8.0 MB would be removed." in outcome.out
    assert _names_on_disk(cache_paths) == before


def test_without_an_answer_nothing_is_removed(platform, cache_paths, monkeypatch):
    monkeypatch.setattr("click.confirm", lambda _question: False)
    before = _names_on_disk(cache_paths)
    assert "Nothing was removed." in platform("cache", "remove", "--all").out
    assert _names_on_disk(cache_paths) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("remove",), "say what to remove"),
        (("remove", "--kind", "indx"), "Did you mean 'index'?"),
        (("list", "--kind", "indx"), "Did you mean 'index'?"),
        (("remove", "--kind", "nope"), "'nope'. Known: checkpoint, index, vectors."),
    ],
)
def test_a_mistake_is_told(platform, cache_paths, arguments, message):
    before = _names_on_disk(cache_paths)
    outcome = platform("cache", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert _names_on_disk(cache_paths) == before


BUSY = {"corpus": "busy"}


def _build(started, finish):
    def build(folder):
        (folder / "half").write_bytes(b"1")
        started.set()
        finish.wait(60)

    artifact("index", "busy", BUSY, build)


def test_what_is_being_made_is_left_alone(platform, cache_paths):
    context = multiprocessing.get_context("spawn")
    started, finish = context.Event(), context.Event()
    process = context.Process(target=_build, args=(started, finish))
    process.start()
    assert started.wait(60)
    try:
        outcome = platform("cache", "remove", "--kind", "index", "--yes")
    finally:
        finish.set()
        process.join(60)
    assert "was skipped: another command is building it." in outcome.out
    assert not cache_paths["index"].exists()
    built = artifact("index", "busy", BUSY, lambda _folder: pytest.fail("it was made"))
    assert (built.path / "half").exists()


def test_where_nobody_answers_nothing_is_removed(platform, cache_paths, monkeypatch):
    """As in a job of cron."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    outcome = platform("cache", "remove", "--all")
    assert outcome.code == 2
    assert "add --yes to remove without asking" in outcome.err
    assert cache_paths["index"].exists()


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told_in_a_line(folder, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with FULL.open("w") as full:
        command = [sys.executable, "-m", "irplatform", "rerankers", "list"]
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 1
    assert result.stderr.startswith("platform: no space is left on the disk")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.java
def test_what_is_removed_while_a_command_uses_it_is_named(platform, folder, monkeypatch):
    from irplatform.retrieval import retrievers

    def interfered(_run, path):
        shutil.rmtree(path.parent)  # as `cache remove` of somebody else
        path.write_text("")

    monkeypatch.setattr(retrievers, "write_run", interfered)
    outcome = platform("run", "--collection", "small")
    assert outcome.code == 1
    assert "run.txt: this was removed from the cache while the command was using it" in outcome.err
    assert "Traceback" not in outcome.err


def test_items_name_their_collection_and_what_is_not_usual_of_their_options(platform, folder):
    index = artifact("index", "mine", {"corpus": "c0"}, lambda place: None)
    options = {"k1": 1.5, "b": 0.4}
    made_of = {"index": index.fingerprint, "retriever": "bm25", "options": options, "depth": 1000}
    run = artifact("run", "old-name-bm25", made_of, lambda place: None)
    model = {"corpus": "c0", "reranker": "gone", "options": {"size": 3}, "members": 1}
    artifact("checkpoint", "gone-fold-1-of-5", model, lambda place: None)
    other = artifact("run", "other-bm25", {**made_of, "index": "i1"}, lambda place: None)
    lines = platform("cache", "list", "--kind", "run").out.splitlines()
    assert lines[1].split()[-3:] == ["mine", f"run/{run.path.name}", "k1=1.5"]
    assert lines[2].split()[-2:] == [f"run/{other.path.name}", "k1=1.5"]
    items = json.loads(platform("cache", "list", "--collection", "mine", "--json").out)["items"]
    assert [(item["kind"], item["collection"]) for item in items] == [
        ("checkpoint", "mine"),
        ("index", "mine"),
        ("run", "mine"),
    ]
    assert items[2]["options"] == {"k1": 1.5}
    assert platform("cache", "remove", "--collection", "mine", "--yes").code == 0
    assert not run.path.exists()
    assert other.path.exists()
    assert platform("cache", "list", "--collection", "nobody").code == 2


def test_what_counts_for_another_item_is_told(platform, folder):
    first = artifact("checkpoint", "m", {}, lambda place: (place / "v").write_bytes(bytes(9000)))
    artifact("vectors", "m", {}, lambda place: os.link(first.path / "v", place / "v"))
    (line,) = (row for row in platform("cache", "list").out.splitlines() if "vectors" in row)
    assert line.endswith("vectors (and files of 9.0 kB that others listed share)")
