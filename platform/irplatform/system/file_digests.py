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

from irplatform.errors import InputError
from irplatform.system import writing as storage
from irplatform.system.home import home
from irplatform.system.json_files import read_own_json
from irplatform.system.reading import is_ordinary

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
    """The SHA-256 of a file's bytes, from memory if the file is large and has not changed."""
    return digests([path])[0]


def digests(paths: Sequence[Path], *, anew: bool = False) -> list[str]:
    """The digests of several files, hashed side by side.

    Raises:
        InputError: a file is missing or cannot be read.
    """
    memory = home() / "digests.json"
    entries = {} if anew or not paths else _read(memory)
    fresh: dict[str, list[Any]] = {}
    stop = Event()

    def digest_of(path: Path) -> str:
        try:
            state = file_state(path)
            if state[0] < _LARGE:
                return storage.file_digest(path, stop.is_set)
            key = str(path.resolve())
            entry = entries.get(key)
            if isinstance(entry, list) and tuple(entry[:3]) == state:
                return str(entry[3])
            hexdigest = storage.file_digest(path, stop.is_set)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}.", path=path) from error
        if is_settled(state):
            fresh[key] = [*state, hexdigest]
        return hexdigest

    with ThreadPoolExecutor() as threads:  # hashing lets go of Python's lock
        try:
            hexdigests = list(threads.map(digest_of, paths))
        except BaseException:  # Ctrl-C, say: the threads are waited for
            stop.set()
            raise
    if fresh and not anew:
        _remember(memory, fresh)
    return hexdigests


def file_state(path: Path) -> tuple[int, int, int]:
    """What changes when a file does: its size and both time stamps, in nanoseconds."""
    stat = path.stat()
    if not is_ordinary(path, stat):
        raise InputError("this is a device or a pipe, not a file.", path=path)
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def is_settled(state: tuple[int, int, int]) -> bool:
    """Whether a file would have another state if it changed from now on."""
    return time.time_ns() - max(state[1:]) > _SETTLED


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
