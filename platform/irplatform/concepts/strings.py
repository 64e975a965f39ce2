"""Texts by number on disk, not necessarily distinct: names of concepts, normalized names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from irplatform.text.arrays import ArrayWriter, map_array

if TYPE_CHECKING:
    from pathlib import Path


def write_texts(folder: Path, name: str, texts: Iterable[str]) -> int:
    """Write texts; returns how many there are."""
    end = 0
    with (
        (folder / f"{name}.utf8").open("wb") as file,
        ArrayWriter(folder / f"{name}.ends.int64", np.int64) as ends,
    ):
        part: list[int] = []
        for text in texts:
            end += file.write(text.encode())
            part.append(end)
            if len(part) == 1 << 16:
                ends.append(np.array(part, np.int64))
                part = []
        ends.append(np.array(part, np.int64))
        return ends.size


class Texts(Sequence[str]):
    """Texts that `write_texts` wrote, read from disk as they are looked at."""

    def __init__(self, folder: Path, name: str) -> None:
        self._text = map_array(folder / f"{name}.utf8", np.uint8).data
        self._ends = map_array(folder / f"{name}.ends.int64", np.int64)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # slices are of no use
        if not 0 <= number < len(self):
            raise IndexError(number)
        start = self._ends[number - 1] if number else 0
        return str(self._text[start : self._ends[number]], "utf-8")
