"""Structured queries, such as expanded ones, over copied postings: Lucene's scores, to the bit.

Each part of a query is evaluated for all its documents at once. Parts that topics share, such as
the names of a disease, are evaluated once. Words of titles and abstracts come from the postings.
Sums, maxima and constants are computed here, as Lucene's scorers compute them:

- a `BooleanQuery` adds its parts up in 64 bits and rounds the sum to 32; optional parts beside
  required ones are summed first, and added in 32 bits;
- a `DisjunctionMaxQuery` rounds the best plus `tie` times the sum of the others, in 64 bits;
- a boost multiplies the boosts inside it in 32 bits.

Everything else, such as phrases, proximity and other fields, is a leaf, whose documents and scores
Lucene writes in one loop.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irplatform.lucene.java import java_cast, java_class
from irplatform.lucene.loops import NO_MORE, Loops
from irplatform.lucene.transfer import CONTENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from irplatform.text.arrays import Float32, Int32

_SEARCH = "org.apache.lucene.search"
_REMEMBERED = 1 << 28
"""Bytes of parts that are kept from topic to topic."""


class Scores(NamedTuple):
    """Documents that match a query, by ascending number, and their scores."""

    numbers: Int32
    values: Float32

    def only(self, mask: npt.NDArray[np.bool_]) -> Scores:
        """The documents at some places."""
        return Scores(self.numbers[mask], self.values[mask])

    def best(self, depth: int) -> Scores:
        """The best documents, best first; of equal scores, the smaller number."""
        scores = self
        if len(scores.values) > depth:
            least = np.partition(scores.values, len(scores.values) - depth)[-depth]
            scores = scores.only(scores.values >= least)
        order = np.lexsort((scores.numbers, -scores.values))[:depth]
        return Scores(scores.numbers[order], scores.values[order])


NOTHING = Scores(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))


@dataclass(eq=False)
class _Part:
    """A part of a query, and its scores once they are computed."""

    compute: Callable[[], Scores]
    scores: Scores | None = None

    def __call__(self) -> Scores:
        if self.scores is None:
            self.scores = self.compute()
        return self.scores


class StructuredSearch:
    """Evaluates Lucene's queries; not for several threads.

    Args:
        reader: Lucene's reader of the index.
        similarity: Lucene's object.
        number_of: the number of each of Lucene's documents.
        term_scores: documents and scores of a term of titles and abstracts, given its boost.
    """

    def __init__(
        self,
        reader: Any,
        similarity: Any,
        number_of: Int32,
        term_scores: Callable[[str, np.float32], Scores],
    ) -> None:
        self._searcher = java_class(f"{_SEARCH}.IndexSearcher")(reader)
        self._searcher.setSimilarity(similarity)
        context = "org.apache.lucene.index.LeafReaderContext"
        self._segments = [java_cast(context, leaf) for leaf in reader.leaves().toArray()]
        self._number_of = number_of
        self._term_scores = term_scores
        self._loops = Loops()
        self._sums = np.zeros(len(number_of), dtype=np.float64)
        self._best = np.zeros(len(number_of), dtype=np.float32)
        self._counts = np.zeros(len(number_of), dtype=np.int32)
        self._parts: OrderedDict[tuple[str, float], _Part] = OrderedDict()
        self._leaves: list[tuple[_Part, Any]] = []

    def __call__(self, queries: Sequence[Any]) -> list[Scores]:
        """All documents that match each of some queries, and their scores."""
        parts = [self._part(self._searcher.rewrite(query), np.float32(1)) for query in queries]
        self._fill_leaves()
        results = [part() for part in parts]
        size = 0
        for key in list(reversed(self._parts)):  # from the last used
            size += sum(array.nbytes for array in self._parts[key].scores or ())
            if size > _REMEMBERED:
                del self._parts[key]
        return results

    def _part(self, query: Any, boost: np.float32) -> _Part:
        """The part for a query: one that is kept, or a new one."""
        key = str(query.toString()), float(boost)
        if key in self._parts:
            self._parts.move_to_end(key)
        else:
            self._parts[key] = self._read(query, boost)
        return self._parts[key]

    def _read(self, query: Any, boost: np.float32) -> _Part:
        kind = query.getClass().getName()
        query = java_cast(kind, query)
        match kind.removeprefix(f"{_SEARCH}."):
            case "BoostQuery":
                return self._part(query.getQuery(), boost * np.float32(query.getBoost()))
            case "BooleanQuery":
                return self._read_sum(query, boost)
            case "DisjunctionMaxQuery":
                parts = [self._part(disjunct, boost) for disjunct in query.getDisjuncts().toArray()]
                tie = np.float32(query.getTieBreakerMultiplier())
                return _Part(partial(self._best_of, parts, tie))
            case "ConstantScoreQuery":
                return _Part(partial(_constant, self._part(query.getQuery(), np.float32(1)), boost))
            case "TermQuery" if (term := query.getTerm()).field() == CONTENTS:
                return _Part(partial(self._term_scores, str(term.text()), boost))
        return self._leaf(query, boost)

    def _read_sum(self, query: Any, boost: np.float32) -> _Part:
        occur = java_class(f"{_SEARCH}.BooleanClause$Occur")
        must, should, filters, must_not = (
            [self._part(clause, boost) for clause in query.getClauses(role).toArray()]
            for role in (occur.MUST, occur.SHOULD, occur.FILTER, occur.MUST_NOT)
        )
        least = int(query.getMinimumNumberShouldMatch())
        return _Part(partial(self._sum, must, should, filters, must_not, least))

    def _sum(
        self,
        must: Sequence[_Part],
        should: Sequence[_Part],
        filters: Sequence[_Part],
        must_not: Sequence[_Part],
        least: int,
    ) -> Scores:
        optional = self._total([part() for part in should], max(least, 1)) if should else None
        required = self._total([part() for part in must], len(must)) if must else None
        for numbers, _ in (part() for part in filters):
            if required is None:
                required = Scores(numbers, np.zeros(len(numbers), dtype=np.float32))
            required = required.only(np.isin(required.numbers, numbers, assume_unique=True))
        if required is None:
            scores = optional or NOTHING
        elif optional is None:
            scores = required
        elif least:
            scores = self._total([required, optional], 2)
        else:
            places = np.isin(required.numbers, optional.numbers, assume_unique=True)
            common = np.isin(optional.numbers, required.numbers, assume_unique=True)
            values = required.values.copy()
            values[places] += optional.values[common]
            scores = Scores(required.numbers, values)
        for numbers, _ in (part() for part in must_not):
            scores = scores.only(~np.isin(scores.numbers, numbers, assume_unique=True))
        return scores

    def _total(self, parts: Sequence[Scores], least: int) -> Scores:
        """The sums of documents that match at least so many parts."""
        if len(parts) == least == 1:
            return parts[0]
        for numbers, values in parts:
            self._counts[numbers] += 1
            self._sums[numbers] += values
        numbers = np.flatnonzero(self._counts >= least).astype(np.int32)
        values = self._sums[numbers].astype(np.float32)
        self._clear(parts)
        return Scores(numbers, values)

    def _best_of(self, alternatives: Sequence[_Part], tie: np.float32) -> Scores:
        parts = [part() for part in alternatives]
        for numbers, values in parts:
            self._counts[numbers] = 1
            self._best[numbers] = np.maximum(self._best[numbers], values)
            if tie:
                self._sums[numbers] += values
        numbers = np.flatnonzero(self._counts).astype(np.int32)
        best = self._best[numbers]
        if tie:
            share = np.array(tie, dtype=np.float64)
            best = (best + (self._sums[numbers] - best) * share).astype(np.float32)
        self._clear(parts)
        return Scores(numbers, best)

    def _clear(self, parts: Sequence[Scores]) -> None:
        for numbers, _ in parts:
            self._counts[numbers] = 0
            self._sums[numbers] = 0
            self._best[numbers] = 0

    def _leaf(self, query: Any, boost: np.float32) -> _Part:
        """A part whose documents Lucene finds; `_fill_leaves` asks for those of all leaves."""
        mode = java_class(f"{_SEARCH}.ScoreMode").COMPLETE
        weight = self._searcher.createWeight(query, mode, float(boost))
        scorers = [(weight.scorer(segment), segment.docBase) for segment in self._segments]
        part = _Part(lambda: NOTHING)
        self._leaves.append((part, [pair for pair in scorers if pair[0] is not None]))
        return part

    def _fill_leaves(self) -> None:
        scorers = [scorer for _, of_leaf in self._leaves for scorer, _ in of_leaf]
        words = np.frombuffer(self._loops.matches(scorers), dtype=">i4")
        ends = iter(np.flatnonzero(words == NO_MORE).tolist())
        start = 0
        for part, of_leaf in self._leaves:
            pieces = [NOTHING]
            for _, first in of_leaf:
                end = next(ends)
                numbers = self._number_of[words[start:end:2] + first]
                pieces.append(Scores(numbers, words[start + 1 : end : 2].view(">f4")))
                start = end + 1
            numbers, values = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
            order = np.argsort(numbers)
            part.scores = Scores(numbers[order], values[order].astype(np.float32))
        self._leaves.clear()


def _constant(part: _Part, boost: np.float32) -> Scores:
    numbers = part().numbers
    return Scores(numbers, np.full(len(numbers), boost))
