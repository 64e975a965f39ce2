"""What lies in the cache, and room made in it.

Whatever `artifact` made can be made again, so that removing it costs time and nothing else. What
users put into the cache folder themselves (knowledge bases, collections and their names) is never
touched: its names carry no fingerprint.
"""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.system.cache import MANIFEST, lock
from irplatform.system.home import home
from irplatform.system.json_files import read_own_json
from irplatform.system.writing import fingerprint, refuse_taken, writable_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path


_NAME = re.compile(r".+-([0-9a-f]{16})(\.partial|\.jsonl)?")
_ALWAYS_COMPLETE = ("tune",)
"""Kinds of journals that later commands read whether or not the command that wrote them ended."""


@dataclass(frozen=True)
class Item:
    """Something of the cache: a folder, or the file of an interrupted command.

    Attributes:
        kind: the folder that holds its like: "index", "checkpoint".
        path: where it lies.
        size: in bytes; a file with several names counts for the first item that has it.
        used: when it was last made or used.
        complete: False for what an interrupted command left and only the same one can use.
        shared: bytes of it that count for items before.
    """

    kind: str
    path: Path
    size: int
    used: datetime
    complete: bool
    shared: int = 0

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What it was made of; nothing where it is not complete."""
        try:
            content = read_own_json(self.path / MANIFEST)
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    @property
    def depends_on(self) -> Mapping[str, Any]:
        """The part of the manifest that its fingerprint is of."""
        content = self.manifest.get("depends_on")
        return content if isinstance(content, dict) else {}


def contents(kinds: Collection[str] = ()) -> list[Item]:
    """All that commands have made, by kind and name."""
    items: list[Item] = []
    counted: set[tuple[int, int]] = set()
    for path in sorted(home().glob("*/*")):
        if kinds and path.parent.name not in kinds:
            continue
        if not _NAME.fullmatch(path.name) or path.is_symlink():
            continue
        try:
            used = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            size, shared = _sizes(path, counted)
        except FileNotFoundError:  # another process has finished it, or removed it
            continue
        kind = path.parent.name
        complete = kind in _ALWAYS_COMPLETE or (path / MANIFEST).exists()
        items.append(Item(kind, path, size, used, complete, shared))
    return items


def remove(items: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """Remove items, but for those that another process is making.

    Returns:
        The removed ones, and those that are being made.
    """
    removed: list[Item] = []
    busy: list[Item] = []
    for item in items:
        name = _NAME.fullmatch(item.path.name)
        is_folder = name is not None and name[2] != ".jsonl"  # a journal is locked itself
        with lock(item.path.with_name(name[1]) if name and is_folder else item.path) as free:
            if free:
                _delete(item.path)
        (removed if free else busy).append(item)
    return removed, busy


def _delete(path: Path) -> None:
    try:
        if path.is_file():
            path.unlink()
            return
        # Without its manifest a folder is debris: half of it is never taken for the whole.
        (path / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"this cannot be removed: {error.strerror}.", path=path) from error


def _sizes(path: Path, counted: set[tuple[int, int]]) -> tuple[int, int]:
    """Bytes of files that were not counted yet, and of others.

    Checkpoints share the files of their vectors with `vectors`.
    """
    files = [path] if path.is_file() else (p for p in path.rglob("*") if p.is_file())
    size = shared = 0
    for file in files:
        status = file.stat()
        # A file with holes takes up less than its size; a small one a whole block.
        taken = min(status.st_size, status.st_blocks * 512)
        if (key := (status.st_dev, status.st_ino)) in counted:
            shared += taken
        else:
            counted.add(key)
            size += taken
    return size, shared


def collections_of(items: Iterable[Item]) -> dict[Path, str]:
    """Whose documents items were made of, where an index tells their name."""
    names: dict[str, str] = {}
    for index in contents(("index", "forward-index")):
        label = str(index.manifest.get("label", ""))
        for mark in (index.depends_on.get("corpus"), index.manifest.get("fingerprint")):
            names.setdefault(str(mark), label)
    marks = {item.path: item.depends_on for item in items}
    own = {item.path: str(item.manifest.get("fingerprint")) for item in items}
    return {
        path: name
        for path, made_of in marks.items()
        for mark in (str(made_of.get("corpus") or made_of.get("index")), own[path])
        if (name := names.get(mark))
    }


# A user's folder that takes several attempts to fill: a pool that is downloaded, a corpus.


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
        refuse_taken(path)
        partial.mkdir(exist_ok=True)
        yield partial
        partial.replace(path)
