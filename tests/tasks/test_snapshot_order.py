"""Runs of a task with snapshots are put where their collections tell."""

import json
from itertools import permutations

import pytest
import yaml
from longeval_files import FILLED, LONGEVAL, SNAPSHOTS

from irplatform.errors import InputError
from irplatform.system import console
from irplatform.tasks.check import TaskData
from irplatform.tasks.snapshots import data_of, place
from irplatform.tasks.upload import prepare_runs


@pytest.fixture(autouse=True)
def facts(monkeypatch, tmp_path):
    monkeypatch.setattr(console, "_told", set())
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IRPLATFORM_TEAM", "Ours")
    monkeypatch.setenv("IRPLATFORM_REPOSITORY", "https://example.org/ours")


def run_of(folder, collection="", topic="q1"):
    """A run, with a record of its collection beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "bm25.run"
    path.write_text(f"{topic} Q0 d1 1 2 ours\n{topic} Q0 d2 2 1 ours\n")
    if collection:
        content = {**FILLED, "data": {"test collection": {"name": collection}}}
        path.with_name("bm25.run.meta.json").write_text(json.dumps(content))
    else:
        (folder / "ir-metadata.yml").write_text(yaml.safe_dump(FILLED))
    return path


@pytest.mark.parametrize("order", permutations(range(3)))
def test_runs_are_placed_alike_in_each_order(tmp_path, capsys, order):
    paths = [
        run_of(tmp_path / name, f"longeval-2026-{number}", f"q{number}")
        for number, name in enumerate("abc", start=1)
    ]
    sequence = [paths[number] for number in order]
    prepare_runs(sequence, tmp_path / "up", task=LONGEVAL)
    prepare_runs(paths, tmp_path / "same", task=LONGEVAL)
    for name in ("SHA256SUMS", *(f"{snapshot}/run.txt.gz" for snapshot in SNAPSHOTS)):
        assert (tmp_path / "up" / name).read_bytes() == (tmp_path / "same" / name).read_bytes()
    notice = capsys.readouterr().err
    moved = "runs are in the places that their collections tell: snapshot-1 "
    assert (moved in notice) == (sequence != paths)
    assert "nothing tells" not in notice


def test_folders_tell_the_snapshots_too(tmp_path):
    paths = [run_of(tmp_path / name) for name in reversed(SNAPSHOTS)]
    placed = place(paths, SNAPSHOTS, [TaskData()])
    assert [(path.parent.name, snapshot) for path, snapshot, _ in placed] == [
        (snapshot, snapshot) for snapshot in SNAPSHOTS
    ]


def test_runs_that_tell_nothing_keep_their_order_with_a_warning(tmp_path, capsys):
    first, second = run_of(tmp_path / "x"), run_of(tmp_path / "y")
    third = run_of(tmp_path / "z", "longeval-2026-1")
    placed = place([first, third, second], SNAPSHOTS, [TaskData()])
    assert [path for path, *_ in placed] == [third, first, second]
    names = f"{first} (snapshot-2), {second} (snapshot-3)"
    assert f"nothing tells over which snapshot these runs are: {names}." in capsys.readouterr().err


def test_two_runs_over_one_snapshot_are_refused(tmp_path):
    paths = [
        run_of(tmp_path / name, f"c-{number}") for name, number in zip("abc", "121", strict=True)
    ]
    with pytest.raises(InputError, match=r"this run is over snapshot-1, and so is .*a/bm25\.run"):
        place(paths, SNAPSHOTS, [TaskData()])


def test_a_folder_that_contradicts_the_record_is_refused(tmp_path):
    paths = [run_of(tmp_path / "snapshot-2", "c-1"), *(run_of(tmp_path / n) for n in "ab")]
    with pytest.raises(InputError, match="says snapshot-1 and the name of its folder says snap"):
        place(paths, SNAPSHOTS, [TaskData()])


def test_the_topics_of_collections_tell_where_nothing_else_does(tmp_path):
    paths = [run_of(tmp_path / name, topic=name) for name in "abc"]
    collections = [TaskData({name: None}, collection=f"{name}.toml", id=name) for name in "cab"]
    placed = place(paths, SNAPSHOTS, collections)
    assert [path.parent.name for path, *_ in placed] == ["c", "a", "b"]
    assert [data.id for *_, data in placed] == ["c", "a", "b"]
    same = [TaskData({"a": None}, collection=name, id=name) for name in ("x.toml", "y.toml")]
    with pytest.raises(InputError, match=r"which of these collections the run is over: x\.toml, y"):
        data_of(paths[0], same)
