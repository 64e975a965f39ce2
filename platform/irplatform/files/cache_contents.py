"""The contents of the cache, and room made among them.

Every artifact can be made again, so removing it costs time and nothing else. What users put into
the cache folder (knowledge bases, collections and their names) is never touched: its names carry no
fingerprint.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.files.cache import MANIFEST
from irplatform.files.formats import read_own_json
from irplatform.files.journals import SUFFIX
from irplatform.files.locks import lock
from irplatform.files.writing import home

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

_NAME = re.compile(r".+-([0-9a-f]{16})(\.partial|\.jsonl|\.journal)?")
_ALWAYS_COMPLETE = ("tune",)
"""Kinds of journals that later commands read whether or not their command ended."""


@dataclass(frozen=True)
class Item:
    """Something in the cache: a folder, or the file of an interrupted command.

    `kind` is the folder of items like it: "index". A file with several names counts for the first
    item that has it, and is `shared` in others. What an interrupted command left is not complete:
    only the same command can use it.
    """

    kind: str
    path: Path
    size: int
    last_use: datetime
    complete: bool
    shared: int = 0

    @property
    def manifest(self) -> Mapping[str, Any]:
        """Its manifest; empty if it is not complete."""
        try:
            content = read_own_json(self.path / MANIFEST)
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    @property
    def depends_on(self) -> Mapping[str, Any]:
        """The dependencies in its fingerprint."""
        content = self.manifest.get("depends_on")
        return content if isinstance(content, dict) else {}


def contents(kinds: Collection[str] = ()) -> list[Item]:
    """Return all that commands have made, by kind and name."""
    items: list[Item] = []
    counted: set[tuple[int, int]] = set()
    for path in sorted(home().glob("*/*")):
        if kinds and path.parent.name not in kinds:
            continue
        if not _NAME.fullmatch(path.name) or path.is_symlink():
            continue
        try:
            last_use = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            size, shared = _sizes(path, counted)
        except FileNotFoundError:  # another process has finished it, or removed it
            continue
        kind = path.parent.name
        complete = kind in _ALWAYS_COMPLETE or (path / MANIFEST).exists()
        items.append(Item(kind, path, size, last_use, complete, shared))
    return items


def _sizes(path: Path, counted: set[tuple[int, int]]) -> tuple[int, int]:
    """Bytes of files that were not counted yet, and of others, which checkpoints share."""
    files = [path] if path.is_file() else (p for p in path.rglob("*") if p.is_file())
    size = shared = 0
    for file in files:
        status = file.stat()
        # A file with holes takes up less than its size; a small one a whole block.
        space = min(status.st_size, status.st_blocks * 512)
        if (key := (status.st_dev, status.st_ino)) in counted:
            shared += space
        else:
            counted.add(key)
            size += space
    return size, shared


def remove(items: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """Remove items, except those that another process is making; return both kinds."""
    removed: list[Item] = []
    busy: list[Item] = []
    for item in items:
        name = _NAME.fullmatch(item.path.name)
        is_folder = name is not None and name[2] not in (
            ".jsonl",
            SUFFIX,
        )  # a journal is locked itself
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


def collections_of(items: Iterable[Item]) -> dict[Path, str]:
    """Return the names of the collections that items were made of, if an index knows them."""
    names: dict[str, str] = {}
    for index in contents(("index", "forward-index")):
        label = str(index.manifest.get("label", ""))
        for mark in (index.depends_on.get("corpus"), index.manifest.get("fingerprint")):
            names.setdefault(str(mark), label)
    marks = {item.path: item.depends_on for item in items}
    fingerprints = {item.path: str(item.manifest.get("fingerprint")) for item in items}
    return {
        path: name
        for path, made_of in marks.items()
        for mark in (str(made_of.get("corpus") or made_of.get("index")), fingerprints[path])
        if (name := names.get(mark))
    }
