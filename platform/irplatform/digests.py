"""Content hashes of files, remembered between processes.

A corpus of 30 GB takes minutes to hash and has to be identified at every run. The digest of a large
file is therefore kept in the cache folder, for as long as its size and both its time stamps (of
content and of inode) stay as they were.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any

from irplatform import cache, storage
from irplatform.errors import ChangedFileError, InputError
from irplatform.json_io import read_own_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_LARGE = 8 << 20
"""Bytes from which remembering pays; below, hashing takes a few milliseconds."""
_SETTLED = 2_000_000_000
"""Nanoseconds: a file changed more recently may change again without a new time stamp."""
_REMEMBERED = 10_000
"""Files of which a digest is kept; the oldest entries go first."""


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes, from memory if the file is large and has not changed.

    Raises:
        InputError: the file is missing or cannot be read.
    """
    return digests([path])[0]


def digests(paths: Sequence[Path]) -> list[str]:
    """The digests of several files, hashed side by side.

    Raises:
        InputError: a file is missing or cannot be read.
    """
    memory = cache.home() / "digests.json"
    entries = _read(memory) if paths else {}
    fresh: dict[str, list[Any]] = {}
    stop = Event()

    def digest_of(path: Path) -> str:
        try:
            stat = path.stat()
            if stat.st_size < _LARGE:
                return storage.file_digest(path, stop.is_set)
            key, state = str(path.resolve()), [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
            entry = entries.get(key)
            if isinstance(entry, list) and entry[:3] == state:
                return str(entry[3])
            hexdigest = storage.file_digest(path, stop.is_set)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}.", path=path) from error
        if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > _SETTLED:
            fresh[key] = [*state, hexdigest]
        return hexdigest

    with ThreadPoolExecutor() as threads:  # hashing lets go of Python's lock
        try:
            hexdigests = list(threads.map(digest_of, paths))
        except BaseException:  # Ctrl-C, say: the threads are waited for
            stop.set()
            raise
    if fresh:
        _remember(memory, fresh)
    return hexdigests


class HashedFiles:
    """The digests of some files, and whether the files are still what these stand for.

    Files are identified by their content first and read later, perhaps several times. What is built
    of them is kept under what identifies them. If one was replaced in between, the cache would hold
    something else under that name for good.

    Args:
        paths: the files.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._states: dict[Path, tuple[int, ...]] = {}
        self._digests: dict[Path, str] = {}

    def digests(self) -> list[str]:
        """The SHA-256 of the files, as they were when this was asked first.

        Raises:
            InputError: a file is missing or cannot be read.
        """
        if not self._digests:
            self._states = {path: _state(path) for path in self._paths}
            self._digests = dict(zip(self._paths, digests(self._paths), strict=True))
        return [self._digests[path] for path in self._paths]

    def check(self, path: Path) -> None:
        """See that a file is what was hashed; call it before and after reading.

        Raises:
            ChangedFileError: it is not.
        """
        if path not in self._digests or (state := _state(path)) == self._states[path]:
            return
        if digest(path) != self._digests[path]:
            raise ChangedFileError(
                "this file was changed while it was used. Run the command again, when nobody "
                "writes to it.",
                path=path,
            )
        self._states[path] = state


def folder_digests(folder: Path, patterns: Sequence[str] = ("*",)) -> dict[str, str]:
    """The digests of the files in a folder and those in it, by their paths within it.

    Args:
        folder: the folder.
        patterns: names of the files that count, such as "*.json".

    Raises:
        InputError: a file cannot be read.
    """
    matching = {path for pattern in patterns for path in folder.rglob(pattern)}
    files = sorted(path for path in matching if path.is_file())
    return {
        str(path.relative_to(folder)): hexdigest
        for path, hexdigest in zip(files, digests(files), strict=True)
    }


def _remember(memory: Path, fresh: Mapping[str, list[Any]]) -> None:
    # Two processes may overwrite each other's entries: the loser hashes once more, nothing else.
    entries = _read(memory)
    for key in fresh:
        entries.pop(key, None)
    entries.update(fresh)
    newest = dict(list(entries.items())[-_REMEMBERED:])
    try:
        storage.write_json(memory, newest)
    except InputError:
        return  # a cache that cannot be written to only costs time here


def _read(memory: Path) -> dict[str, Any]:
    try:
        entries = read_own_json(memory)
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _state(path: Path) -> tuple[int, ...]:
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", path=path) from error
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
