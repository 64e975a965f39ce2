"""Where the documents of common terms are, so that one document's posting is found at once.

A term is common if one document in 32 has it. It has a bit for each document, and for each word of
64 bits the number of its postings before. A posting's place is that number and the bits before it
in the word. This takes an eighth of a byte and a half of a byte for eight documents, at most as
much as the postings (six bytes each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from irplatform.text.arrays import ArrayWriter, map_array, write_array

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.text.arrays import Int32, Int64

_SHARE = 32
_WORD = 64


class Common(NamedTuple):
    """The common terms.

    Attributes:
        rows: their rows, ascending, [common].
        bits: the documents that have each, [common, words].
        ranks: how many of them come before each word, [common, words].
    """

    rows: Int64
    bits: npt.NDArray[np.uint64]
    ranks: Int32

    def places(self, rows: Int64) -> Int64:
        """The place of each of some terms among these, -1 for others."""
        if not len(self.rows):
            return np.full(len(rows), -1)
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, places, -1)


def is_common(sizes: Int64, documents: int) -> npt.NDArray[np.bool_]:
    """Which terms are common, given how many documents have each, and how many there are."""
    return np.asarray(sizes * _SHARE >= documents)


def write_common(folder: Path, starts: Int64, documents: Int32, count: int) -> None:
    """Write the files, given the postings' documents, and how many documents there are."""
    rows = np.flatnonzero(is_common(np.diff(starts), count))
    write_array(folder / "common-rows.int64", rows)
    with (
        ArrayWriter(folder / "common-bits.uint64", np.uint64) as bits,
        ArrayWriter(folder / "common-ranks.int32", np.int32) as ranks,
    ):
        for row in rows.tolist():
            of_term, before = _of_term(documents[starts[row] : starts[row + 1]], count)
            bits.append(of_term)
            ranks.append(before)


def _of_term(documents: Int32, count: int) -> tuple[npt.NDArray[np.uint64], Int32]:
    """Bits and ranks of a term, given its documents."""
    edges = np.arange(-(-count // _WORD)) * _WORD
    has = np.zeros(len(edges) * _WORD, dtype=np.bool_)
    has[documents] = True
    bits = np.packbits(has, bitorder="little").view("<u8").astype(np.uint64)
    return bits, np.searchsorted(documents, edges).astype(np.int32)


def open_common(folder: Path) -> Common:
    """The common terms that `write_common` wrote, memory-mapped."""
    rows = map_array(folder / "common-rows.int64", np.int64)
    bits = map_array(folder / "common-bits.uint64", np.uint64)
    ranks = map_array(folder / "common-ranks.int32", np.int32)
    shape = (len(rows), len(bits) // max(len(rows), 1))
    return Common(rows, bits.reshape(shape), ranks.reshape(shape))


def no_common() -> Common:
    """No common terms: all postings of a topic are read."""
    return Common(np.empty(0, np.int64), np.empty((0, 0), np.uint64), np.empty((0, 0), np.int32))
