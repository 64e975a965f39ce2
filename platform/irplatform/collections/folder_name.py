"""The name of a folder as text, for collections that are called after theirs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def folder_name(path: Path) -> str:
    """The last part of a path, with U+FFFD in the place of bytes that are not UTF-8.

    The id of a collection goes into files of results, which have no place for such bytes.
    """
    return as_text(path.name)


def as_text(name: str) -> str:
    """A file's name with U+FFFD in the place of bytes that are not UTF-8."""
    return os.fsencode(name).decode(errors="replace")
