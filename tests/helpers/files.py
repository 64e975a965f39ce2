"""Files as texts and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def a_file(folder: Path, text: str) -> Path:
    """A file with this text."""
    path = folder / "a.txt"
    path.write_text(text, encoding="utf-8")
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    """What is in the files of a folder, by their names."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
