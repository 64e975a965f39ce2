"""Files as texts and bytes."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread


def a_file(folder: Path, text: str) -> Path:
    """A file with this text."""
    path = folder / "a.txt"
    path.write_text(text, encoding="utf-8")
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    """What is in the files of a folder, by their names."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def piped(text: str) -> Path:
    """The name of a pipe that gives this text once, as a shell names `<(…)`."""
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "w", encoding="utf-8") as file:
            file.write(text)

    Thread(target=write, daemon=True).start()
    return Path(f"/dev/fd/{reading}")
