"""The cache of artifacts: indexes, vectors, forward indexes, checkpoints, runs.

An artifact is a folder under `$IRPLATFORM_HOME` whose name carries a fingerprint of everything it
depends on, with a manifest that spells those dependencies out. It is built under a file lock into a
folder with the suffix `.partial` and renamed when complete: a killed process leaves no half
artifact, and two processes never build the same one twice. A builder that can resume keeps what it
finds in its partial folder.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from irplatform.arithmetic import arithmetic
from irplatform.console import notice
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from filelock import FileLock

MANIFEST = "manifest.json"
_EXACT = frozenset(
    {
        "check",
        "citing-sentences",
        "concept-table",
        "fields",
        "forward-index",
        "index",
        "mesh-queries",
    }
)
"""Kinds of artifacts that no processor rounds, and that every arithmetic shares."""
_DIGEST_CHUNK = 1 << 20


def home() -> Path:
    """The cache folder: `$IRPLATFORM_HOME`, else the user's cache directory."""
    if configured := os.environ.get("IRPLATFORM_HOME"):
        return Path(configured).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("irplatform", appauthor=False))


def fingerprint(depends_on: Mapping[str, Any]) -> str:
    """16 hexadecimal digits that stand for a JSON-like value, whatever the order of its keys."""
    canonical = json.dumps(depends_on, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode(errors="surrogatepass")).hexdigest()[:16]


def file_digest(path: Path) -> str:
    """The SHA-256 of a file's bytes (of the file as it lies there, compressed or not)."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_DIGEST_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def atomic_write(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when the block ends without an error.

    Args:
        path: the final name; its folder is made if it is missing.
        mode: "w" (UTF-8 text) or "wb".

    Raises:
        InputError: the name is a folder's, or the folder cannot be written to.
    """
    if path.is_dir():
        raise InputError("this is a folder; name a file.", path=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError("cannot write here: its folder is a file.", path=path) from error
    except OSError as error:
        raise InputError(f"cannot write here: {error.strerror}.", path=path) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes files private
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            error.filename = error.filename or str(path)  # which disk is full
        raise


def writable_folder(path: Path) -> Path:
    """A folder that files can be written to; nothing is left there if it is new and they cannot.

    Raises:
        InputError: it cannot be made or written to.
    """
    present = path
    while not present.exists():
        present = present.parent
    if not present.is_dir():
        raise InputError("this is a file, not a folder to write to.", path=present)
    try:
        Path(tempfile.mkdtemp(dir=present)).rmdir()  # permissions alone do not tell
    except OSError as error:
        raise InputError(
            f"this folder cannot be written to: {error.strerror}.", path=present
        ) from error
    return path


def writable_file(path: Path) -> Path:
    """A file that can be written, or written over.

    Raises:
        InputError: it is a folder, or its folder cannot be made or written to.
    """
    if path.is_dir():
        raise InputError("this is a folder; name a file.", path=path)
    writable_folder(path.parent)
    return path


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Make a folder that appears under its name only when the block ends without an error.

    Args:
        path: the final name, which must be free (an empty folder is free).

    Yields:
        An empty folder with the same name, beside the final one, to fill. Whatever lies beside
        *it*, in its parent, is scratch: it vanishes when the block ends.

    Raises:
        InputError: something is there already, or the place cannot be written to.
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError("this exists already; choose another folder, or remove it.", path=path)
    writable_folder(path).parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        filled = scratch / path.name
        filled.mkdir()
        yield filled
        filled.replace(path)
    finally:
        shutil.rmtree(scratch)


@contextmanager
def resumable_folder(path: Path) -> Iterator[Path]:
    """Fill a folder in several attempts; it appears under its name when the block ends well.

    What an interrupted attempt left is handed to the next one.

    Args:
        path: the final name, which must be free (an empty folder is free).

    Yields:
        The folder to fill, `<name>.partial` beside the final one.

    Raises:
        InputError: something is there already, another process is filling it, or the place cannot
            be written to.
    """
    path = path.absolute()
    writable_folder(path).parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    with lock(home() / "locks" / fingerprint({"folder": str(path)})) as free:
        if not free:
            raise InputError("another process is building this; wait for it.", path=path)
        if path.exists() and any(path.iterdir()):
            raise InputError("this exists already; choose another folder, or remove it.", path=path)
        partial.mkdir(exist_ok=True)
        yield partial
        partial.replace(path)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder to a name that is free; it appears there when it is complete."""
    with atomic_folder(target) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)


@dataclass(frozen=True)
class Artifact:
    """A finished folder of the cache.

    Attributes:
        path: where it lies.
        fingerprint: of all that it depends on.
        built: whether this call built it (False: it was there).
        seconds: how long building it took, whenever that was.
    """

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
) -> Artifact:
    """Return the artifact with these dependencies, building it if it is not there.

    Args:
        kind: the folder under the cache that holds its like, e.g. "index".
        label: a readable beginning for its name, e.g. the collection's.
        depends_on: all that its content depends on, as JSON: fingerprints of inputs, options,
            the version of the format.
        build: fills the folder that it is given.
        resumable: hand `build` what an interrupted call left, instead of an empty folder.

    Raises:
        InputError: the cache folder cannot be written to.
        BaseException: what `build` raises; where it cannot resume, a note tells what is lost.
    """
    depends_on = _all_of(kind, depends_on)
    final, mark = _named(kind, label, depends_on)
    if _is_whole(final):
        return _finished(final, mark, built=False)
    partial = final.with_name(final.name + ".partial")
    with lock(final, wait=True):
        if _is_whole(final):  # another process built it while we waited
            return _finished(final, mark, built=False)
        if (final / MANIFEST).exists():
            notice(f"{_short(final)} lacks some of what was written there, and is made again")
        if not resumable:
            shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(exist_ok=True)
        started = time.monotonic()
        try:
            build(partial)
        except BaseException as error:
            if not resumable:  # half an index of MEDLINE is 40 GB that nobody would find
                shutil.rmtree(partial, ignore_errors=True)
                lost = time.monotonic() - started
                error.add_note(f"{_short(final)} starts over: {lost:,.0f} s of work are lost.")
            raise
        manifest = {
            "kind": kind,
            "label": label,
            "fingerprint": mark,
            "depends_on": depends_on,
            "seconds": round(time.monotonic() - started, 3),
            "bytes": _bytes(partial),
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        with atomic_write(partial / MANIFEST) as file:
            json.dump(manifest, file, indent=1, ensure_ascii=False)
        shutil.rmtree(final, ignore_errors=True)  # a folder without a manifest is debris
        partial.rename(final)
    return _finished(final, mark, built=True)


def is_built(kind: str, label: str, depends_on: Mapping[str, Any]) -> bool:
    """Whether `artifact` would find an artifact instead of building it."""
    return _is_whole(_named(kind, label, _all_of(kind, depends_on))[0])


def _is_whole(final: Path) -> bool:
    """Whether an artifact is finished, and its files are as large as they were then.

    When a machine stops without warning, files may come back empty or cut off. What reads them
    would fail far from here, or compute other scores.
    """
    manifest = final / MANIFEST
    try:
        wanted = int(json.loads(manifest.read_text(encoding="utf-8"))["bytes"])
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    return _bytes(final) - manifest.stat().st_size >= wanted


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _all_of(kind: str, depends_on: Mapping[str, Any]) -> Mapping[str, Any]:
    return depends_on if kind in _EXACT else {**depends_on, **arithmetic()}


def _named(kind: str, label: str, depends_on: Mapping[str, Any]) -> tuple[Path, str]:
    """The folder of an artifact, and its fingerprint."""
    mark = fingerprint({"kind": kind, **depends_on})
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in label)[:60]
    return home() / kind / f"{name}-{mark}", mark


@contextmanager
def lock(final: Path, *, wait: bool = False) -> Iterator[bool]:
    """Keep other processes from building something, or learn that one is building it.

    Args:
        final: what is built.
        wait: for a process that is building it; a notice says so, since it may take hours.

    Yields:
        Whether the lock is ours; always, with `wait`.

    Raises:
        InputError: the cache cannot be written to.
    """
    from filelock import FileLock

    held = FileLock(f"{final}.lock")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        free = _acquire(held, final, wait=wait)
    except OSError as error:
        raise InputError(
            f"the cache cannot be written to: {error.strerror}. Set IRPLATFORM_HOME to a folder "
            "that can.",
            path=error.filename or home(),
        ) from error
    try:
        yield free
    finally:
        if free:
            held.release()


def _acquire(held: FileLock, final: Path, *, wait: bool) -> bool:
    """Take a lock, if need be after another process; whether it is ours."""
    from filelock import Timeout

    try:
        held.acquire(timeout=0)
    except Timeout:
        if wait:
            notice(f"another process is building {_short(final)}; waiting for it")
            held.acquire()
        return wait
    return True


def _short(path: Path) -> Path:
    """A path as seen from the cache, where it lies there."""
    return path.relative_to(home()) if path.is_relative_to(home()) else path


def _finished(path: Path, mark: str, *, built: bool) -> Artifact:
    manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    with suppress(OSError):  # a cache that others lend may be read-only
        os.utime(path)  # when it was last used, for those who make room
    return Artifact(path, mark, built, float(manifest["seconds"]))
