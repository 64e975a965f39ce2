"""Builds of the cache: one process at a time, resumed after an interruption."""

import multiprocessing
import os
import re
import signal
import time
from pathlib import Path

import pytest
from cached import DEPENDS_ON, never, write
from filelock import FileLock

from irplatform.errors import ChangedFileError, InputError
from irplatform.files import locks
from irplatform.files.cache import artifact
from irplatform.files.digests import fingerprint
from irplatform.files.locks import lock
from irplatform.system.arithmetic import arithmetic
from irplatform.system.console import notice

pytestmark = pytest.mark.usefixtures("fresh_home")


def _fail(folder):
    (folder / "half").write_text("half")
    raise RuntimeError("on the way")


def test_a_failed_build_leaves_nothing_that_looks_finished(fresh_home):
    with pytest.raises(RuntimeError):
        artifact("kind", "label", DEPENDS_ON, _fail)
    assert all(p.suffix in {".partial", ".lock"} for p in (fresh_home / "kind").iterdir())
    built = artifact("kind", "label", DEPENDS_ON, write("whole"))
    assert built.built
    assert sorted(p.name for p in built.path.iterdir()) == ["content", "manifest.json"]


def test_a_resumable_build_finds_what_an_interrupted_one_left():
    with pytest.raises(RuntimeError):
        artifact("kind", "label", DEPENDS_ON, _fail, resumable=True)
    names = []

    def resume(folder):
        names.extend(path.name for path in folder.iterdir())

    artifact("kind", "label", DEPENDS_ON, resume, resumable=True)
    assert names == ["half"]


def test_one_that_was_killed_when_all_was_done_is_finished_once(monkeypatch):
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        artifact("kind", "label", DEPENDS_ON, write("content"), resumable=True)
    assert artifact("kind", "label", DEPENDS_ON, lambda _folder: None, resumable=True).built
    assert not artifact("kind", "label", DEPENDS_ON, never, resumable=True).built


def test_any_other_build_begins_in_an_empty_folder():
    with pytest.raises(RuntimeError):
        artifact("kind", "label", DEPENDS_ON, _fail)
    paths = []
    artifact("kind", "label", DEPENDS_ON, lambda folder: paths.extend(folder.iterdir()))
    assert paths == []


@pytest.mark.parametrize(("resumable", "expected"), [(True, ["half"]), (False, [])])
def test_a_build_goes_on_from_what_was_left_under_another_label(resumable, expected, fresh_home):
    for label in ("one", "two", "one"):
        with pytest.raises(RuntimeError):
            artifact("kind", label, DEPENDS_ON, _fail, resumable=True)
    names = []
    built = artifact(
        "kind",
        "three",
        DEPENDS_ON,
        lambda folder: names.extend(path.name for path in folder.iterdir()),
        resumable=resumable,
    )
    assert names == expected
    assert [path for path in built.path.parent.iterdir() if path.is_dir()] == [built.path]


def _build_in_another_process(home, log, label):
    os.environ["IRPLATFORM_HOME"] = str(home)

    def build(folder):
        with log.open("a") as file:
            file.write("built\n")
        time.sleep(0.2)  # long enough for the others to come
        (folder / "content").write_text("content")

    built = artifact("kind", label, DEPENDS_ON, build)
    with log.open("a") as file:
        file.write(f"{(built.path / 'content').read_text()}\n")


@pytest.mark.parametrize("labels", [["label"] * 4, ["a", "b", "a", "c"]], ids=["one", "several"])
def test_processes_that_want_the_same_build_it_once(labels, fresh_home, tmp_path):
    context = multiprocessing.get_context("fork")
    log = tmp_path / "log"
    processes = [
        context.Process(target=_build_in_another_process, args=(fresh_home, log, label))
        for label in labels
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert sorted(log.read_text().split()) == ["built", *["content"] * 4]


def test_who_waits_for_another_process_says_so_once(fresh_home, monkeypatch, capsys):
    mark = fingerprint({"kind": "kind", **DEPENDS_ON, **arithmetic()})
    final = fresh_home / "kind" / f"label-{mark}"
    final.parent.mkdir(parents=True)
    other = FileLock(final.with_name(f"{mark}.lock"))  # whatever its label
    other.acquire()

    def end_of_waiting(message):
        notice(message)
        other.release()

    monkeypatch.setattr(locks, "notice", end_of_waiting)
    assert artifact("kind", "label", DEPENDS_ON, write("")).path == final
    line = f"another process is building kind/{final.name}; waiting for it\n"
    assert capsys.readouterr().err == line


def test_who_finds_a_free_lock_says_nothing(capsys):
    artifact("kind", "label", DEPENDS_ON, write(""))
    assert capsys.readouterr().err == ""


def test_what_fails_where_a_lock_is_not_free_is_not_blamed_on_the_cache(fresh_home):
    with lock(fresh_home / "x"), pytest.raises(PermissionError), lock(fresh_home / "x") as free:
        assert not free
        raise PermissionError(13, "Permission denied", "/corpus.jsonl")


def _hang(home, started):
    os.environ["IRPLATFORM_HOME"] = str(home)

    def build(folder):
        (folder / "half").write_text("half")
        started.set()
        signal.pause()

    artifact("kind", "label", DEPENDS_ON, build)


@pytest.mark.parametrize(("resumable", "noted"), [(False, 1), (True, 0)])
def test_an_interrupted_build_tells_whether_it_starts_over(resumable, noted):
    def build(_folder):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        artifact("kind", "label", DEPENDS_ON, build, resumable=resumable)
    notes = getattr(stopped.value, "__notes__", [])
    assert len(notes) == noted
    assert all(
        re.fullmatch(r"kind/label-\w+ starts over: 0 s of work are lost\.", n) for n in notes
    )


def test_a_killed_build_does_not_keep_its_lock(fresh_home):
    context = multiprocessing.get_context("fork")
    started = context.Event()
    process = context.Process(target=_hang, args=(fresh_home, started))
    process.start()
    assert started.wait(30)
    process.kill()
    process.join()
    assert artifact("kind", "label", DEPENDS_ON, write("whole")).built


def test_what_was_made_of_a_file_that_changed_is_not_gone_on_from():
    def fail(folder):
        (folder / "part").write_text("of another file")
        raise ChangedFileError("this file was changed while it was used.")

    with pytest.raises(ChangedFileError):
        artifact("kind", "label", DEPENDS_ON, fail, resumable=True)
    entry = artifact("kind", "label", DEPENDS_ON, write("new"), resumable=True)
    assert sorted(path.name for path in entry.path.iterdir()) == ["content", "manifest.json"]


def test_a_build_that_fails_leaves_nothing_unless_it_can_go_on(fresh_home):
    def fail(folder):
        (folder / "half").write_text("half")
        raise InputError("no")

    for resumable, leftovers in ((False, []), (True, ["half"])):
        with pytest.raises(InputError):
            artifact("kind", "label", {"resumable": resumable}, fail, resumable=resumable)
        assert [path.name for path in fresh_home.rglob("half")] == leftovers
