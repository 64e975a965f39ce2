"""Distinct strings by number and numbers by string, on disk: document ids, and vocabularies.

Millions of strings in a dictionary cost gigabytes and seconds at every start. Here they lie behind
one another in a file, and a sorted array of their 64-bit hashes, memory-mapped, finds them: opening
costs nothing, a look-up touches a few pages. Every hit is compared with the string itself, so two
strings of one hash are no danger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.text.arrays import ArrayWriter, Int64, map_array, write_array

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN = -1


def _hashes(encoded: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    digests = b"".join([blake2b(string, digest_size=8).digest() for string in encoded])
    return np.frombuffer(digests, dtype="<u8")


class StringTableWriter:
    """Writes a table; strings get numbers in the order in which they are added."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._text = (folder / f"{name}.utf8").open("wb")
        self._ends = ArrayWriter(folder / f"{name}.ends", np.int64)
        self._hashes: list[npt.NDArray[np.uint64]] = []
        self._length = 0

    def extend(self, strings: Sequence[str]) -> None:
        """Add strings at the end."""
        encoded = [string.encode() for string in strings]
        self._text.write(b"".join(encoded))
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        self._ends.append(self._length + np.cumsum(lengths))
        self._length += int(lengths.sum())
        self._hashes.append(_hashes(encoded))

    def __enter__(self) -> StringTableWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()
        self._ends.close()

    def finish(self) -> str | None:
        """Complete the table, once its files are closed.

        Returns:
            A string that was added twice, or None when all are distinct as they must be.
        """
        hashes = np.concatenate([*self._hashes, np.empty(0, np.uint64)])
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        write_array(self._folder / f"{self._name}.hashes", hashes)
        write_array(self._folder / f"{self._name}.order", order.astype(np.int64))
        table = StringTable.open(self._folder, self._name)
        seen: set[str] = set()
        previous = -1
        for place in np.flatnonzero(hashes[1:] == hashes[:-1]).tolist():
            if place != previous + 1 or not seen:  # the next run of strings of one hash
                seen = {table[int(order[place])]}
            string = table[int(order[place + 1])]
            if string in seen:
                return string
            seen.add(string)
            previous = place
        return None


class StringTable(Sequence[str]):
    """A table that `StringTableWriter` wrote: a sequence of strings that can be searched."""

    def __init__(
        self, text: npt.NDArray[np.uint8], ends: Int64, hashes: npt.NDArray[np.uint64], order: Int64
    ) -> None:
        self._text = text.data
        self._ends = ends
        self._hashes = hashes
        self._order = order

    @classmethod
    def of(cls, strings: Sequence[str]) -> StringTable:
        """A table in memory."""
        encoded = [string.encode() for string in strings]
        hashes = _hashes(encoded)
        order = np.argsort(hashes, kind="stable")
        return cls(
            np.frombuffer(b"".join(encoded), dtype=np.uint8),
            np.cumsum([len(string) for string in encoded], dtype=np.int64),
            hashes[order],
            order,
        )

    @classmethod
    def open(cls, folder: Path, name: str) -> StringTable:
        """Memory-map a table."""
        return cls(
            map_array(folder / f"{name}.utf8", np.uint8),
            map_array(folder / f"{name}.ends", np.int64),
            map_array(folder / f"{name}.hashes", np.uint64),
            map_array(folder / f"{name}.order", np.int64),
        )

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # slices are of no use
        if not 0 <= number < len(self):
            raise IndexError(number)
        return str(self._bytes(number), "utf-8")

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self._ends:
            yield str(self._text[start:end], "utf-8")
            start = end

    def find(self, strings: Sequence[str]) -> Int64:
        """The numbers of strings, `UNKNOWN` (-1) for those that are not in the table."""
        encoded = [string.encode() for string in strings]
        hashes = _hashes(encoded)
        places = np.searchsorted(self._hashes, hashes)
        return np.array(
            [self._settle(*entry) for entry in zip(encoded, places.tolist(), hashes, strict=True)],
            dtype=np.int64,
        )

    def _settle(self, string: bytes, place: int, string_hash: np.uint64) -> int:
        while place < len(self._hashes) and self._hashes[place] == string_hash:
            number = int(self._order[place])
            if self._bytes(number) == string:
                return number
            place += 1
        return UNKNOWN

    def _bytes(self, number: int) -> memoryview:
        start = self._ends[number - 1] if number else 0
        return self._text[start : self._ends[number]]
