"""Tables of distinct strings, such as words and ids of documents, on disk or in memory.

A string's number is its place. Strings are found by 64-bit hashes; every hit is compared with the
string itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from irplatform.text.arrays import ArrayWriter, Int32, Int64, map_array, ragged, write_array

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN = -1


class Texts(Sequence[str]):
    """Texts, which may repeat, in UTF-8 and the place where each ends."""

    def __init__(self, text: npt.NDArray[np.uint8], ends: Int64) -> None:
        self._letters = text
        self._text = text.data
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # without slices
        if not 0 <= number < len(self):
            raise IndexError(number)
        return str(self._bytes(number), "utf-8")

    def _bytes(self, number: int) -> memoryview:
        start = self._ends[number - 1] if number else 0
        return self._text[start : self._ends[number]]

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self._ends:
            yield str(self._text[start:end], "utf-8")
            start = end


class StringTable(Texts):
    """A sequence of distinct, searchable strings, which `StringTableWriter` wrote."""

    def __init__(
        self, text: npt.NDArray[np.uint8], ends: Int64, hashes: npt.NDArray[np.uint64], order: Int64
    ) -> None:
        super().__init__(text, ends)
        self._hashes = hashes
        self._order = order

    @classmethod
    def of(cls, strings: Sequence[str]) -> Self:
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
    def open(cls, folder: Path, name: str) -> Self:
        """Memory-map a table."""
        return cls(
            map_array(folder / f"{name}.utf8", np.uint8),
            map_array(folder / f"{name}.ends", np.int64),
            map_array(folder / f"{name}.hashes", np.uint64),
            map_array(folder / f"{name}.order", np.int64),
        )

    def find(self, strings: Sequence[str]) -> Int64:
        """The numbers of strings, `UNKNOWN` (-1) for strings outside the table."""
        if not len(self._hashes):
            return np.full(len(strings), UNKNOWN, dtype=np.int64)
        encoded = [string.encode() for string in strings]
        hashes = _hashes(encoded)
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        numbers: Int64 = self._order[places]
        numbers[self._hashes[places] != hashes] = UNKNOWN
        for entry in self._other_strings(encoded, numbers):  # of the same hash
            numbers[entry] = self._number(encoded[entry], int(places[entry]), hashes[entry])
        return numbers

    def _other_strings(self, encoded: Sequence[bytes], numbers: Int64) -> list[int]:
        """The entries whose string is not that of their number."""
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        starts = np.where(numbers > 0, self._ends[np.maximum(numbers, 1) - 1], 0)
        hits = numbers != UNKNOWN
        same = hits & (self._ends[numbers] - starts == lengths)
        entries = np.flatnonzero(same)
        letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        table_places, offsets = ragged(starts[entries], lengths[entries])
        places, _ = ragged((lengths.cumsum() - lengths)[entries], lengths[entries])
        wrong = np.flatnonzero(self._letters[table_places] != letters[places])
        same[entries[np.searchsorted(offsets, wrong, side="right") - 1]] = False
        others: list[int] = np.flatnonzero(hits & ~same).tolist()
        return others

    def _number(self, string: bytes, place: int, string_hash: np.uint64) -> int:
        while place < len(self._hashes) and self._hashes[place] == string_hash:
            number = int(self._order[place])
            if self._bytes(number) == string:
                return number
            place += 1
        return UNKNOWN


class Vocabulary(StringTable):
    """The words of a collection; a word's id is its place, in order of first appearance."""

    def ids(self, words: Sequence[str]) -> Int32:
        """The ids of words, -1 for those that the collection lacks."""
        return self.find(words).astype(np.int32)


class StringTableWriter:
    """Writes a table; strings are numbered in the order in which they are added."""

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
        """Complete the table, once its files are closed; return a repeated string, or None."""
        hashes = np.concatenate([*self._hashes, np.empty(0, np.uint64)])
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        write_array(self._folder / f"{self._name}.hashes", hashes)
        write_array(self._folder / f"{self._name}.order", order.astype(np.int64))
        table = StringTable.open(self._folder, self._name)
        suspect = np.zeros(len(hashes), dtype=np.bool_)
        suspect[1:] = hashes[1:] == hashes[:-1]
        suspect[:-1] |= suspect[1:]
        strings: set[str] = set()
        for number in order[suspect].tolist():
            if (string := table[number]) in strings:
                return string
            strings.add(string)
        return None


def _hashes(encoded: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    digests = b"".join([blake2b(string, digest_size=8).digest() for string in encoded])
    return np.frombuffer(digests, dtype="<u8")
