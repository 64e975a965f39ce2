"""The words of topics as terms of copied postings, with Lucene's English analysis.

With numba, words of ASCII are analyzed and looked up in compiled code (`words_kernel`); what comes
between blanks and has other letters goes to Lucene, each once. Without numba, all goes to Lucene.

Terms are found by a hash. `terms-order.int32` has their rows in buckets, by the lowest bits of
their hashes, `terms-buckets.int32` where each bucket begins.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irplatform.lucene.java import java_text
from irplatform.lucene.queries import analyzed, analyzed_pieces
from irplatform.text.arrays import map_array, write_array
from irplatform.text.string_table import StringTable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.text.arrays import Float32, Float64, Int64

    Words = npt.NDArray[np.uint64]

_SEED, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_HALF = np.uint64(32)


class Bags(NamedTuple):
    """The terms of topics, one topic after the other.

    Attributes:
        ends: the first of each topic's terms, and the number of all, [topics + 1].
        rows: the rows of the terms in the postings, ascending and once in a topic, [terms].
        boosts: the number of times, or the weight, of each, [terms].
        totals: the number of a topic's words, those that the index lacks included, [topics].
    """

    ends: Int64
    rows: Int64
    boosts: Float32
    totals: Float64


class TermTable:
    """The terms of copied postings, in the files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._table = StringTable.open(folder, "terms")
        self._hashed = (
            map_array(folder / "terms.utf8", np.uint8),
            map_array(folder / "terms.ends", np.int64),
            map_array(folder / "terms-order.int32", np.int32),
            map_array(folder / "terms-buckets.int32", np.int32),
        )

    def __len__(self) -> int:
        return len(self._table)

    def find(self, terms: Sequence[str]) -> Int64:
        """The rows of terms, `UNKNOWN` for those that the index lacks."""
        return self._table.find(terms)

    def bags(self, texts: Sequence[str], analyzer: Any, *, compiled: bool) -> Bags:
        """The terms of texts, given Lucene's English analyzer."""
        if compiled:
            topics, rows = self._read(texts, analyzer)
        else:
            topics, rows = self._looked_up(analyzed(analyzer, texts))
        keys = np.sort(topics << 32 | rows + 1)
        totals = np.bincount(topics, minlength=len(texts)).astype(np.float64)
        first = np.ones(len(keys), dtype=np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        places = np.flatnonzero(first)
        counts = np.diff(places, append=len(keys))
        keys = keys[places]
        indices = np.flatnonzero(keys & (2**32 - 1))
        keys = keys[indices]
        ends = np.searchsorted(keys, np.arange(len(texts) + 1) << 32)
        return Bags(ends, (keys & (2**32 - 1)) - 1, counts[indices].astype(np.float32), totals)

    def _looked_up(self, words: Sequence[Sequence[str]]) -> tuple[Int64, Int64]:
        """The text of each word, and its row, given the words of texts."""
        topics = np.repeat(np.arange(len(words)), [len(of_text) for of_text in words])
        distinct = list(dict.fromkeys(chain.from_iterable(words)))
        rows = dict(zip(distinct, self.find(distinct).tolist(), strict=True))
        in_order = [rows[word] for word in chain.from_iterable(words)]
        return topics, np.array(in_order, dtype=np.int64)

    def _read(self, texts: Sequence[str], analyzer: Any) -> tuple[Int64, Int64]:
        """The text of each word, and its row."""
        from irplatform.lucene.words_kernel import OTHER, read

        encoded = [(text if text.isascii() else java_text(text)).encode() for text in texts]
        joined = b"".join(encoded)
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        most = (len(joined) + len(texts)) // 2 + 1
        topics, rows = (np.empty(most, dtype=np.int64) for _ in range(2))
        others = np.empty((most, 2), dtype=np.int64)
        text = np.frombuffer(joined, dtype=np.uint8)
        count, parts = read(text, ends, *self._hashed, topics, rows, others)
        topics, rows = topics[:count], rows[:count]
        if not parts:
            return topics, rows
        pieces = [joined[begin:end].decode() for begin, end in others[:parts].tolist()]
        distinct = list(dict.fromkeys(pieces))
        words = dict(zip(distinct, analyzed_pieces(analyzer, distinct), strict=True))
        mask = rows != OTHER
        owners, piece_rows = self._looked_up([words[piece] for piece in pieces])
        return (
            np.concatenate([topics[mask], topics[~mask][owners]]),
            np.concatenate([rows[mask], piece_rows]),
        )


def write_hashes(folder: Path, terms: Sequence[bytes]) -> None:
    """Write the files by which compiled code finds terms."""
    bits = max(1, (len(terms) - 1).bit_length())
    buckets = _hashes(terms) & np.uint64((1 << bits) - 1)
    order = np.argsort(buckets, kind="stable").astype(np.int32)
    begins = np.searchsorted(buckets[order], np.arange((1 << bits) + 1, dtype=np.uint64))
    write_array(folder / "terms-order.int32", order)
    write_array(folder / "terms-buckets.int32", begins.astype(np.int32))


def _hashes(terms: Sequence[bytes]) -> Words:
    """What `words_kernel.hashed` returns for each."""
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    text = np.frombuffer(b"".join(terms), dtype=np.uint8)
    order = np.argsort(-lengths, kind="stable")
    starts = (np.cumsum(lengths) - lengths)[order]
    places = np.arange(lengths.max(initial=0))
    counts = len(terms) - np.searchsorted(np.sort(lengths), places, side="right")
    values = np.full(len(terms), _SEED)
    for place, count in enumerate(counts.tolist()):
        values[:count] = (values[:count] ^ text[starts[:count] + place]) * _PRIME
    hashes = np.empty_like(values)
    hashes[order] = values ^ (values >> _HALF)
    return hashes
