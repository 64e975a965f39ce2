"""Ranks documents by the sum of what their postings add, for many topics.

A posting says that a document has a term. Its value is a code, or a weight:

- A code stands for what BM25 looks at, and adds `w - w / saturation[code]` in 32 bits, where w is
  the weight of the query's term.
- A weight, of 8 bits or a float32, adds the weight of the query's term times itself in 64 bits.

Nothing that is added is negative. Sums are in 64 bits. A topic's terms are added in one order
(`in_order`), and the sum is rounded to 32 bits, so every way to search
gives the same scores to the bit. Of equal scores the document with the smaller number comes first.
Documents to which nothing is added are not found.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irplatform.postings.common import Common, is_common, no_common
from irplatform.system.packages import absent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from irplatform.text.arrays import Float32, Float64, Int32, Int64

NO_LIMIT = 2**16 - 1
"""A year later than every document's."""
_BLOCK = 1 << 17
"""Documents at a time: 1 MiB of sums. A multiple of 128."""
_FEWEST = 1 << 11
"""Fewest postings in a block that are looked up rather than added."""
_TOGETHER = 512
"""Topics whose results share arrays."""
_PARTS = 4
"""Parts into which topics are divided for each thread."""
_AT_ONCE = 1 << 24
"""Documents times topics of one call of compiled code, which cannot be interrupted."""


@dataclass(frozen=True)
class Postings:
    """Postings, term after term, and how they count.

    Attributes:
        documents: numbers of documents, ascending within a term, [postings].
        values: codes (uint16 or int32), or weights (uint8 or float32) of 0 or more, [postings].
        starts: where the postings of each term begin, and the number of all, [terms + 1].
        latest: one more than the last year of each document, 0 without a year, [documents].
        peaks: the largest saturation, or weight, of each term's postings, [terms].
        saturation: 1 or more for each code; None if values are weights.
        common: the common terms; with all of `common_rows`, or none, the search is the faster one
            or the slower one, with the same results.
    """

    documents: Int32
    values: npt.NDArray[Any]
    starts: Int64
    latest: npt.NDArray[np.uint16]
    peaks: Float32
    saturation: Float32 | None = None
    common: Common = field(default_factory=no_common)

    @property
    def count(self) -> int:
        """The number of documents."""
        return len(self.latest)


class Queries(NamedTuple):
    """The terms of topics, one topic after the other.

    Attributes:
        ends: the first of each topic's terms, and the number of all, [topics + 1].
        rows: the rows of the terms in the postings, once in a topic, [terms].
        weights: the weight of each, 0 or more, [terms].
        limits: the years from which on documents are left out, or `NO_LIMIT`, [topics].
    """

    ends: Int64
    rows: Int64
    weights: Float32
    limits: npt.NDArray[np.uint16]

    @classmethod
    def of(
        cls,
        topics: Sequence[tuple[Int64, Float32]],
        limits: npt.NDArray[np.uint16] | None = None,
    ) -> Queries:
        """Join the rows and weights of topics."""
        if limits is None:
            limits = np.full(len(topics), NO_LIMIT, dtype=np.uint16)
        return cls(
            np.cumsum([0, *(len(rows) for rows, _ in topics)], dtype=np.int64),
            np.concatenate([np.empty(0, np.int64), *(rows for rows, _ in topics)]),
            np.concatenate([np.empty(0, np.float32), *(weights for _, weights in topics)]),
            limits,
        )

    def part(self, start: int, stop: int) -> Queries:
        """Some of the topics."""
        ends = self.ends[start : stop + 1]
        terms = slice(ends[0], ends[-1])
        return Queries(
            ends - ends[0], self.rows[terms], self.weights[terms], self.limits[start:stop]
        )


class Results(NamedTuple):
    """What is found for topics, in arrays that all share.

    Attributes:
        numbers: numbers of documents, best first within a topic. There are gaps of zeros between
            topics.
        scores: their scores.
        begins: where the results of each topic begin, [topics].
        sizes: how many there are, [topics].
    """

    numbers: Int32
    scores: Float32
    begins: Int64
    sizes: Int64

    def places(self) -> Iterator[slice]:
        """Yield the places of each topic's results."""
        yield from map(slice, self.begins.tolist(), (self.begins + self.sizes).tolist())

    def by_topic(self) -> Iterator[tuple[Int32, Float32]]:
        """Yield the numbers and scores of each topic."""
        for place in self.places():
            yield self.numbers[place], self.scores[place]


def has_numba() -> bool:
    """Tell if numba is installed."""
    return not absent("numba")


def search(
    postings: Postings,
    queries: Queries,
    depth: int,
    *,
    threads: int = 1,
    compiled: bool | None = None,
) -> Iterator[Results]:
    """Rank documents for topics.

    Args:
        postings: what is searched.
        queries: the topics.
        depth: most documents per topic, 1 or more.
        threads: how many search at once.
        compiled: search with numba; by default where it is installed.

    Yields:
        The results of some topics after the other, in their order.
    """
    compiled = has_numba() if compiled is None else compiled
    find = _find_compiled if compiled else _find
    topics = len(queries.limits)
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for start in range(0, topics, _TOGETHER):
            part = queries.part(start, min(start + _TOGETHER, topics))
            yield find(postings, part, depth, threads, pool)


def _find_compiled(
    postings: Postings, queries: Queries, depth: int, threads: int, pool: ThreadPoolExecutor
) -> Results:
    """Rank documents for topics in compiled code."""
    from irplatform.postings.kernel import rank

    (ends, rows, weights, limits), bounds = in_order(postings, queries)
    results = _room(postings, queries, depth)
    common = postings.common
    arguments = (
        postings.documents, postings.values, postings.latest, postings.saturation,
        common.bits, common.ranks, ends, postings.starts[rows], postings.starts[rows + 1],
        weights, bounds, common.places(rows), limits,
    )  # fmt: skip

    def rank_part(first: int) -> None:
        last = min(first + at_once, len(limits))
        rank(*arguments, first, last, depth, _BLOCK, _FEWEST, *results)

    at_once = max(1, _AT_ONCE // max(postings.count, 1))
    if threads > 1:
        at_once = min(at_once, -(-len(limits) // (_PARTS * threads)))
    starts = range(0, len(limits), at_once)
    for _ in (
        pool.map(rank_part, starts) if threads > 1 and len(starts) > 1 else map(rank_part, starts)
    ):
        pass
    return results


def _find(postings: Postings, queries: Queries, depth: int, *_: Any) -> Results:
    """Rank documents for topics without numba, with the same results."""
    (ends, rows, weights, limits), _bounds = in_order(postings, queries)
    results = _room(postings, queries, depth)
    sums = np.zeros(postings.count)
    for topic in range(len(limits)):
        sums[:] = 0
        for place in range(ends[topic], ends[topic + 1]):
            begin, end = postings.starts[rows[place]], postings.starts[rows[place] + 1]
            values = postings.values[begin:end]
            if postings.saturation is None:
                added = np.float64(weights[place]) * values.astype(np.float64)
            else:
                table = weights[place] - weights[place] / postings.saturation
                added = table.astype(np.float64)[values]
            sums[postings.documents[begin:end]] += added
        if limits[topic] < NO_LIMIT:
            sums[postings.latest > limits[topic]] = 0
        # Scores are not negative, so that their bits have their order; ties by number follow.
        matching = np.flatnonzero(sums > 0)
        bits = sums[matching].astype(np.float32).view(np.uint32).astype(np.uint64)
        keys = bits << np.uint64(32) | (np.uint64(2**32 - 1) - matching.astype(np.uint64))
        if len(keys) > depth:
            keys = np.partition(keys, len(keys) - depth)[-depth:]
        keys = np.sort(keys)[::-1]
        places = slice(results.begins[topic], results.begins[topic] + len(keys))
        results.sizes[topic] = len(keys)
        results.numbers[places] = np.uint64(2**32 - 1) - (keys & np.uint64(2**32 - 1))
        results.scores[places] = (keys >> np.uint64(32)).astype(np.uint32).view(np.float32)
    return results


def in_order(postings: Postings, queries: Queries) -> tuple[Queries, Float64]:
    """Queries with each topic's terms in the order in which they are added, and their bounds.

    A bound is the most that a term adds to a document. Common terms come last. Otherwise the order
    is by descending bounds, then by rows.
    """
    ends, rows, weights, limits = queries
    peaks = postings.peaks[rows]
    if postings.saturation is None:
        bounds = weights.astype(np.float64) * peaks
    else:
        bounds = (weights - weights / peaks).astype(np.float64)
    topics = np.repeat(np.arange(len(limits)), np.diff(ends))
    sizes = postings.starts[rows + 1] - postings.starts[rows]
    order = np.lexsort((rows, -bounds, is_common(sizes, postings.count), topics))
    return Queries(ends, rows[order], weights[order], limits), bounds[order]


def _room(postings: Postings, queries: Queries, depth: int) -> Results:
    """Results to be filled in: as many for a topic as may be found at most."""
    sizes = postings.starts[queries.rows + 1] - postings.starts[queries.rows]
    sums = np.concatenate([[0], np.cumsum(sizes)])[queries.ends]
    most = np.minimum(np.diff(sums), min(depth, postings.count))
    ends = np.cumsum(most)
    total = int(ends[-1]) if len(ends) else 0
    return Results(
        np.zeros(total, dtype=np.int32),
        np.zeros(total, dtype=np.float32),
        ends - most,
        np.zeros(len(most), dtype=np.int64),
    )
