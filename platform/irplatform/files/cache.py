"""The cache: artifacts that are built once and found again.

An artifact is a folder under `$IRPLATFORM_HOME`, named by a fingerprint of everything it depends
on, with a manifest. It is built under a file lock in a folder with the suffix `.partial` and
renamed when complete. The fingerprint alone identifies it; the label before it is for people, and
may change with a collection's folder.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.errors import ChangedFileError, InputError, PlatformError
from irplatform.files.costs import measured, note_use
from irplatform.files.digests import digests, file_state, fingerprint, is_settled
from irplatform.files.formats import read_own_json
from irplatform.files.journals import WAITING
from irplatform.files.locks import lock
from irplatform.files.writing import disk_named, home, to_disk, within_home, write_json
from irplatform.system.arithmetic import arithmetic
from irplatform.system.console import detail, notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from irplatform.files.costs import Work

    Fetch = Callable[[str], Callable[[Path], None] | None]
    """Finds a folder of another machine's cache by its place; the answer copies it to a folder."""

EXACT_KINDS = frozenset({
    "check", "citing-sentences", "concept-table", "fields", "forward-index", "index",
    "index-fields", "java", "lucene", "mesh-queries", "postings", "summary",
})  # fmt: skip
"""Kinds of artifacts, folders of the cache, without rounded numbers: any arithmetic uses them."""
OWN_KINDS = EXACT_KINDS | {
    "checkpoint", "collections", "concept-linker", "concepts", "features", "kb", "learned-features",
    "locks", "reproduce", "result", "run", "scores", "tune", "values",
    "vectors",
}  # fmt: skip
"""Kinds that no third-party plugin may use."""
MANIFEST = "manifest.json"
_whole_states: dict[Path, dict[Path, tuple[str, tuple[int, int, int]]]] = {}
"""Whole folders, with the digests and states of their files."""
_only: frozenset[str] | None = None
"""Kinds of artifacts that are made where others are not; None makes all."""
_fetch: Fetch = lambda _: None  # noqa: E731 - a worker on a cluster has another


class NotInCacheError(PlatformError):
    """An artifact is missing, and is not to be made; see `nothing_made`."""


@dataclass(frozen=True)
class Artifact:
    """A finished folder of the cache; `built` by this call or before, in `seconds`."""

    path: Path
    fingerprint: str
    built: bool
    seconds: float


def artifact(
    kind: str,
    label: str,
    depends_on: Mapping[str, Any],
    build: Callable[[Path], None],
    *,
    resumable: bool = False,
    filled_later: bool = False,
    work: Work | None = None,
) -> Artifact:
    """Return the artifact with some dependencies; build it if it is missing.

    Args:
        kind: the folder of the cache for artifacts like it, such as "index".
        label: a readable beginning for its name, such as the collection's.
        depends_on: all that its content depends on, as JSON, with the version of its format.
        build: fills the folder that it is given.
        resumable: give `build` what an interrupted call left, not an empty folder.
        filled_later: its files change after they were built, so no digests of them are kept.
        work: what `build` does, if it is to be measured for forecasts.

    InputError if the cache folder cannot be written to. If `build` fails and cannot resume, a note
    on its error says how much work is lost.
    """
    final = _place(kind, label, depends_on)
    note_use(kind)
    if folder := _sound_path(final):
        detail(f"reusing {within_home(folder)}")
        return _finished(folder, built=False)
    if _only is not None and kind not in _only:
        raise NotInCacheError(f"{within_home(final)} is not in the cache.")
    with _locked(final):
        folder = _sound_path(final)  # another process built it in the meantime
        if folder is None and not filled_later:
            folder = _fetched(final)
        if folder:
            return _finished(folder, built=False)
        for faulty in _under_any_label(final):
            if (faulty / MANIFEST).exists():
                notice(f"{within_home(faulty)} {damage(faulty)}, and is made again")
        partial = _partial(final, resumes=resumable)
        started = time.monotonic()
        begun = any(partial.iterdir())
        try:
            with disk_named(partial), measured(work) as meter:
                build(partial)
                meter.counts, meter.bytes = not begun, _bytes(partial) if work else 0
        except BaseException as error:
            if not resumable or isinstance(error, ChangedFileError):
                _remove(partial)  # half an index of MEDLINE is 40 GB
                lost = time.monotonic() - started
                error.add_note(f"{within_home(final)} starts over: {lost:,.0f} s of work are lost.")
            raise
        for journal in partial.rglob(WAITING):
            journal.unlink()
        for file in files_of(partial):  # else a machine that stops may keep sizes alone, with zeros
            to_disk(file)
        manifest = {
            "kind": kind,
            "label": label,
            "fingerprint": _fingerprint(final),
            "depends_on": _with_arithmetic(kind, depends_on),
            "seconds": round(time.monotonic() - started, 3),
            "bytes": _bytes(partial),
            **({} if filled_later else {"files": _digests(partial)}),
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        write_json(partial / MANIFEST, manifest)
        _put(partial, final)
    return _finished(final, built=True)


def _put(partial: Path, final: Path) -> None:
    for debris in _under_any_label(final):  # without a manifest, or broken
        _remove(debris)
    partial.rename(final)


def fetch_with(fetch: Fetch) -> None:
    """Let this process take folders from another machine's cache before it makes them."""
    global _fetch  # noqa: PLW0603 - for all threads
    _fetch = fetch


def finished(place: str) -> Path | None:
    """Return a finished folder by its place in the cache, "checkpoint/delta-…", under any label."""
    return _sound_path(home() / place)


def at_hand(place: str) -> Path:
    """Return a finished folder by its place in the cache, fetched if it is not on this machine.

    PlatformError if it is not in the cache.
    """
    final = home() / place
    if folder := _sound_path(final):
        return folder
    with _locked(final):
        if folder := _sound_path(final) or _fetched(final):
            return folder
    raise PlatformError(f"{place} is not in the cache.")


def fetch_file(path: Path) -> None:
    """Fetch a file of the cache to its place, if it is missing here and another machine has it."""
    place = path.relative_to(home()).as_posix()
    if path.exists() or (fill := _fetch(place)) is None:
        return
    with lock(path, wait=True):
        if not path.exists():
            partial = path.with_name(f"{path.name}.partial")
            partial.mkdir(exist_ok=True)
            fill(partial)
            (partial / path.name).replace(path)
            partial.rmdir()


def _fetched(final: Path) -> Path | None:
    if (fill := _fetch(final.relative_to(home()).as_posix())) is None:
        return None
    partial = _partial(final, resumes=False)
    fill(partial)
    if damage(partial) is not None:
        return None
    _put(partial, final)
    return final


@contextmanager
def unfinished(kind: str, label: str, depends_on: Mapping[str, Any]) -> Iterator[Path | None]:
    """Yield the folder in which `artifact` builds and resumes; None if that is finished.

    Other processes wait until the block ends.
    """
    final = _place(kind, label, depends_on)
    with _locked(final):
        yield None if _sound_path(final) else _partial(final, resumes=True)


@contextmanager
def nothing_made(*but: str) -> Iterator[None]:
    """Make `artifact` raise a NotInCacheError for what is missing, `but` for some kinds."""
    global _only  # noqa: PLW0603 - for all threads
    before, _only = _only, frozenset(but)
    try:
        yield
    finally:
        _only = before


def is_built(kind: str, label: str, depends_on: Mapping[str, Any]) -> bool:
    """Tell if `artifact` would find an artifact."""
    return _sound_path(_place(kind, label, depends_on)) is not None


def built(kind: str, label: str, depends_on: Mapping[str, Any]) -> Artifact | None:
    """Return an artifact that is in the cache, or None."""
    folder = _sound_path(_place(kind, label, depends_on))
    return None if folder is None else _finished(folder, built=False)


def is_being_built(kind: str, label: str, depends_on: Mapping[str, Any]) -> bool:
    """Tell if a process builds an artifact; InputError if the cache cannot be written to."""
    final = _place(kind, label, depends_on)
    with lock(final.with_name(_fingerprint(final))) as free:
        return not free


def kept_json(path: Path) -> Any:
    """Return the content of a JSON file in an artifact."""
    try:
        return read_own_json(path)
    except ValueError as error:
        raise InputError(
            "this cannot be read. Delete its folder; it will be made again.", path=path
        ) from error


def kept_facts(folder: Path, kind: str, expected: int) -> dict[str, Any]:
    """Return `facts.json` of an artifact, such as "postings", in the format of this version."""
    facts: dict[str, Any] = kept_json(folder / "facts.json")
    if facts["format"] != expected:
        raise PlatformError(
            f"{folder}: {kind} of format {facts['format']}, but this version reads {expected}. "
            "Delete the folder; it will be made again."
        )
    return facts


def _with_arithmetic(kind: str, depends_on: Mapping[str, Any]) -> Mapping[str, Any]:
    return depends_on if kind in EXACT_KINDS else {**depends_on, **arithmetic()}


def _place(kind: str, label: str, depends_on: Mapping[str, Any]) -> Path:
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in label)
    name = name.encode(errors="replace")[:60].decode(errors="ignore")  # file systems count bytes
    mark = fingerprint({"kind": kind, **_with_arithmetic(kind, depends_on)})
    return home() / kind / f"{name}-{mark}"


def _fingerprint(final: Path) -> str:
    return final.name.rpartition("-")[2]


def _locked(final: Path) -> AbstractContextManager[bool]:
    return lock(final.with_name(_fingerprint(final)), wait=True, shown_as=final)


def _sound_path(final: Path) -> Path | None:
    return next((path for path in _under_any_label(final) if damage(path) is None), None)


def _under_any_label(final: Path, suffix: str = "") -> Iterator[Path]:
    """The folder under this label, which may be missing, and then those under other labels."""
    folder = final.with_name(f"{final.name}{suffix}")
    yield folder
    ending = f"-{_fingerprint(final)}{suffix}"
    try:
        names = os.listdir(final.parent)  # noqa: PTH208 - ten times as fast, of thousands
    except OSError:  # no such folder yet
        return
    others = (name for name in names if name.endswith(ending) and name != folder.name)
    yield from map(final.with_name, sorted(others))


def _partial(final: Path, *, resumes: bool) -> Path:
    """The folder to build in, empty or as an interrupted call left it under any label."""
    folder, *others = _under_any_label(final, ".partial")
    if resumes and others and not folder.exists():
        others.pop().rename(folder)
    for path in others if resumes and folder.is_dir() else (folder, *others):
        _remove(path)
    folder.mkdir(exist_ok=True)
    for debris in [*folder.rglob(".*")]:  # of writes that were killed
        _remove(debris)
    _remove(folder / MANIFEST)  # of a call that was killed when all was done
    return folder


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _finished(path: Path, *, built: bool) -> Artifact:
    manifest = read_own_json(path / MANIFEST)
    with suppress(OSError):  # a cache that others lend may be read-only
        path.touch()  # `platform cache` shows it as the time of its last use
    return Artifact(path, _fingerprint(path), built, float(manifest["seconds"]))


def damage(final: Path, *, anew: bool = False) -> str | None:
    """Say what is wrong with an artifact, to follow its name; None if it is finished and whole.

    When a machine stops without warning, files may come back empty or cut off; disks and copies
    change single bits. Readers of such files would fail far from here, or compute other scores.
    """
    manifest = final / MANIFEST
    try:
        content = read_own_json(manifest)
        size, _ = int(content["bytes"]), float(content["seconds"])  # the second for `_finished`
        if _bytes(final) - manifest.stat().st_size < size:
            return "lacks some of what was written there"
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return "is not finished"  # also where another process removes it meanwhile
    except (ValueError, KeyError, TypeError):
        return f"has a damaged file, {MANIFEST}"
    damaged = damaged_file(final, anew=anew)
    return None if damaged is None else f"has a damaged file, {damaged.relative_to(final)}"


def damaged_file(folder: Path, *, anew: bool = False) -> Path | None:
    """Return the first file of a finished folder that is missing or was changed; None for none.

    Folders of earlier versions, and those whose files change, have no digests to compare with. A
    process reads a folder once, and large files again only if their size or time stamps have
    changed.
    """
    try:
        files: dict[str, str] = read_own_json(folder / MANIFEST).get("files") or {}
        checksums = {folder / name: str(digest) for name, digest in files.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    for path in checksums:
        if not path.is_file():
            return path
    states = {path: (digest, file_state(path)) for path, digest in checksums.items()}
    if not anew and _whole_states.get(folder) == states:
        return None
    for path, checksum in zip(checksums, digests(list(checksums), anew=anew), strict=True):
        if checksum != checksums[path]:
            return path
    if all(is_settled(state) for _, state in states.values()):
        _whole_states[folder] = states
    return None


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(files_of(folder))
    names = [file.relative_to(folder).as_posix() for file in files]
    return dict(zip(names, digests(files, anew=True), strict=True))


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in files_of(folder))


def files_of(folder: Path) -> Iterator[Path]:
    """Yield all files of a folder."""
    return (path for path in folder.rglob("*") if path.is_file())
