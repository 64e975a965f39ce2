"""Digests that stand for files and values: keys of the cache, and proof of unchanged files.

Hashing a corpus of 30 GB takes minutes, and every run has to identify it. So the digest of a large
file is kept in the cache folder, as long as its size and both its time stamps stay the same.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.errors import ChangedFileError, InputError
from irplatform.files.formats import read_own_json
from irplatform.files.reading import is_ordinary
from irplatform.files.writing import home, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_CHUNK = 1 << 20
_LARGE = 8 << 20
"""Bytes from which keeping a digest pays; below, hashing takes a few milliseconds."""
_SETTLED = 2_000_000_000
"""Nanoseconds: a file changed more recently may change again without a new time stamp."""
_AS_JSON = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_UNLIKE_JSON = re.compile(rb"[0-9][.e][0-9+-]|null")
"""What may be a float with a decimal point or exponent, or one that is not a number."""
_REMEMBERED = 10_000
"""Digests that are kept; the oldest go first."""


def fingerprint(depends_on: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits of a JSON-like value, whatever the order of its keys."""
    canonical = _quick_json(depends_on)
    if canonical is None:
        text = json.dumps(depends_on, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        canonical = text.encode(errors="surrogatepass")
    return hashlib.sha256(canonical).hexdigest()[:16]


def _quick_json(value: object) -> bytes | None:
    """The same bytes of JSON ten times as fast; None where `json` may write them otherwise."""
    try:
        content = orjson.dumps(value, option=_AS_JSON)
    except TypeError:  # also half of a surrogate pair
        return None
    return None if _UNLIKE_JSON.search(content) else content


def number_of(text: str) -> int:
    """Return a number from 0 to 2**64 - 1 for a text, for choices that look random."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def file_digest(path: Path, stopped: Callable[[], bool] = lambda: False) -> str:
    """Return the SHA-256 of a file's bytes, compressed or not."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while not stopped() and (chunk := file.read(_CHUNK)):
            sha.update(chunk)
    return sha.hexdigest()


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, from memory if the file is large and has not changed."""
    return digests([path])[0]


def digests(paths: Sequence[Path], *, anew: bool = False) -> list[str]:
    """Return the digests of several files, hashed side by side; `anew` uses and keeps no memory."""
    memory = home() / "digests.json"
    much = sum(map(_size, paths)) >= _LARGE
    entries = {} if anew or not much else _read(memory)
    fresh: dict[str, list[Any]] = {}
    stop = Event()

    def digest_of(path: Path) -> str:
        try:
            state = file_state(path)
            if state[0] < _LARGE:
                return file_digest(path, stop.is_set)
            key = str(path.resolve())
            entry = entries.get(key)
            if isinstance(entry, list) and tuple(entry[:3]) == state:
                return str(entry[3])
            hexdigest = file_digest(path, stop.is_set)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}.", path=path) from error
        if is_settled(state):
            fresh[key] = [*state, hexdigest]
        return hexdigest

    if not much:
        return [*map(digest_of, paths)]
    with ThreadPoolExecutor() as threads:  # hashing releases Python's lock
        try:
            hexdigests = list(threads.map(digest_of, paths))
        except BaseException:  # such as Ctrl-C: the block waits for the threads
            stop.set()
            raise
    if fresh and not anew:
        _remember(memory, fresh)
    return hexdigests


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # told when it is read
        return 0


def _remember(memory: Path, fresh: Mapping[str, list[Any]]) -> None:
    # Two processes may overwrite each other's entries: the loser hashes once more, nothing else.
    entries = _read(memory)
    for key in fresh:
        entries.pop(key, None)
    entries.update(fresh)
    try:
        write_json(memory, dict(list(entries.items())[-_REMEMBERED:]))
    except InputError:
        return  # a cache that cannot be written to only costs time here


def _read(memory: Path) -> dict[str, Any]:
    try:
        entries = read_own_json(memory)
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def folder_digests(folder: Path, patterns: Sequence[str] = ("*",)) -> dict[str, str]:
    """Return the digests of all files under a folder that match a pattern, by relative path."""
    matching = {path for pattern in patterns for path in folder.rglob(pattern)}
    files = sorted(path for path in matching if path.is_file())
    names = [str(path.relative_to(folder)) for path in files]
    return dict(zip(names, digests(files), strict=True))


def file_state(path: Path) -> tuple[int, int, int]:
    """Return a file's size and both time stamps, in nanoseconds."""
    stat = path.stat()
    if not is_ordinary(path, stat):
        raise InputError("this is a device or a pipe, not a file.", path=path)
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def is_settled(state: tuple[int, int, int]) -> bool:
    """Tell if a change from now on would show in the state of the file."""
    return time.time_ns() - max(state[1:]) > _SETTLED


class HashedFiles:
    """Files that are identified by their content first and read later.

    A cache entry with their digests would stay wrong if a file were replaced in between. So `check`
    them while reading.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._states: dict[Path, tuple[int, ...]] = {}
        self._digests: dict[Path, str] = {}

    def digests(self) -> list[str]:
        """Return the SHA-256 of the files, as they were at the first call."""
        if not self._digests:
            self._states = {path: _state(path) for path in self._paths}
            self._digests = dict(zip(self._paths, digests(self._paths), strict=True))
        return [self._digests[path] for path in self._paths]

    def check(self, path: Path) -> None:
        """Refuse a file that has changed (ChangedFileError); call it before and after reading."""
        if path not in self._digests or (state := _state(path)) == self._states[path]:
            return
        if digest(path) != self._digests[path]:
            raise ChangedFileError(
                "this file was changed while it was used. Run the command again when nothing "
                "writes to it.",
                path=path,
            )
        self._states[path] = state


def _state(path: Path) -> tuple[int, ...]:
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", path=path) from error
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
