"""Journals: what long work has finished, a JSON object a line, for going on after a kill.

A kill, or a full disk, may leave half a line. Whatever follows the last sound line is cut off when
the journal is read: a line that is appended to half a line would be lost with it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

T = TypeVar("T")


def read_journal(path: Path | None, parse: Callable[[Any], T]) -> list[T]:
    """What a journal holds, oldest first; its file ends there afterwards.

    A line for which `parse` raises KeyError, TypeError or ValueError is not sound.
    """
    entries: list[T] = []
    if path is None or not path.exists():
        return entries
    content = path.read_bytes()
    sound = 0
    for line in content.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            entries.append(parse(orjson.loads(line)))
        except (ValueError, KeyError, TypeError):
            break
        sound += len(line)
    if sound < len(content):
        os.truncate(path, sound)
    return entries


def append_journal(path: Path | None, entries: Iterable[Mapping[str, Any]]) -> None:
    """Add entries to a journal, in a folder that is there; None keeps none."""
    if path is None:
        return
    with path.open("ab") as file:
        for entry in entries:
            file.write(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE))
