"""Fusion of runs by ranks or by scores.

A document's score is, with ranks from 1:

`ranks`: the sum over the runs of weight / (k + rank), reciprocal ranks (Cormack, Clarke and
    Büttcher, SIGIR 2009).
`scores`: the weighted sum of standardized scores (Montague and Aslam, CIKM 2001). A run that did
    not find the document gives it the run's lowest score.
`combsum`: the weighted sum of normalized scores (Fox and Shaw, TREC 1993).
`combmnz`: the sum of normalized scores, times the sum of the weights of the runs that found the
    document (Fox and Shaw, TREC 1993; weighted: Wu and Crestani, CIKM 2002).
`isr`: the sum of 1 / rank², times the same (Mourão, Martins and Magalhães, Computerized Medical
    Imaging and Graphics 2015).
`borda`: the weighted sum of points: as many as documents were found by any run for the first rank,
    one less for each next one. The documents that a run did not find share the points left (Aslam
    and Montague, SIGIR 2001).

Otherwise a run that did not find a document adds nothing.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from irplatform.runs.packed import best, cells_of, union
from irplatform.runs.run import Run, deviation, standardized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.files.columns import Cells
    from irplatform.runs.run import Ranking, Values

Method = Literal["ranks", "scores", "combsum", "combmnz", "isr", "borda"]
Norm = Literal["min-max", "max", "sum", "zmuv", "rank", "borda"]
K = 60
"""The constant of reciprocal ranks in their paper."""
WITH_NORM = ("combsum", "combmnz")
"""The methods that normalize scores."""


@dataclass(frozen=True)
class FusionMethod:
    """A method of fusion with its options and weights.

    Attributes:
        by: the method; see the table of this module.
        norm: how `combsum` and `combmnz` normalize the scores of a topic: "min-max" (to 0 … 1),
            "max" (divided by the largest), "sum" (lowest 0, sum 1), "zmuv" (mean 0, variance 1),
            "rank" (1 - (rank - 1) / results), "borda" (Borda's places, divided by the number of
            documents of all runs).
        k: of reciprocal ranks; a larger one gives first ranks less weight.
        weights: one per run, 0 or more; empty for equal ones.

    Examples:
        >>> one = Run("one", {"1": Ranking.of(["a", "b"], [2.0, 1.0])})
        >>> two = Run("two", {"1": Ranking.of(["b", "c"], [9.0, 8.0])})
        >>> FusionMethod("combsum").fuse([one, two]).rankings["1"].doc_ids
        ('b', 'a', 'c')
    """

    by: Method = "ranks"
    norm: Norm = "min-max"
    k: float = K
    weights: tuple[float, ...] = ()

    def fuse(self, runs: Sequence[Run], name: str = "fused", depth: int | None = None) -> Run:
        """Fuse runs into one.

        Args:
            runs: the runs; their order matters for the weights only.
            name: the name of the fused run.
            depth: documents to keep per topic; by default all.

        Returns:
            A run with every topic of any of the runs, in the order in which they first come.

        Raises:
            ValueError: there are no runs, k or a weight is negative, all weights are 0, the number
                of weights is wrong, or the depth is not positive.
        """
        weights = self.weights or (1.0,) * len(runs)
        if not runs:
            raise ValueError("there are no runs to fuse")
        if depth is not None and depth < 1:
            raise ValueError(f"the depth is {depth}; it must be 1 or more")
        if len(weights) != len(runs) or min(weights) < 0 or not any(weights):
            raise ValueError(f"the weights {list(weights)} do not suit {len(runs)} runs")
        if self.k < 0:
            raise ValueError(f"k is {self.k}; it must be 0 or more")
        topics = dict.fromkeys(topic for run in runs for topic in run.rankings)
        return Run(name, {topic: self._fused(runs, topic, weights, depth) for topic in topics})

    @property
    def multiplies(self) -> bool:
        """True if a sum is multiplied by the weights of the runs that found the document."""
        return self.by in ("combmnz", "isr")

    def _fused(
        self, runs: Sequence[Run], topic: str, weights: Sequence[float], depth: int | None
    ) -> Ranking:
        found = [
            (r.rankings[topic], w)
            for r, w in zip(runs, weights, strict=True)
            if topic in r.rankings
        ]
        documents, parts, hits = self.parts(
            [ranking for ranking, _ in found], [weight for _, weight in found]
        )
        if len(found) > 2:
            # Added in order of size, so that the sum does not depend on the order of the runs.
            parts.sort(axis=0)
            hits.sort(axis=0)
        scores = functools.reduce(operator.add, parts)
        if self.multiplies:
            scores = scores * functools.reduce(operator.add, hits)
        return best(documents, scores, depth)

    def parts(
        self, rankings: Sequence[Ranking], weights: Sequence[float]
    ) -> tuple[Cells, Values, Values]:
        """Return what each ranking of a topic adds to each document.

        Returns:
            All documents in ascending order, each ranking's part of the sum [rankings, documents],
            and its weight where it found the document, else 0, in the same form. The weights are in
            the parts already, but for the methods that multiply.
        """
        documents, places = union([cells_of(ranking) for ranking in rankings])
        parts = np.zeros((len(rankings), len(documents)))
        hits = np.zeros_like(parts)
        for row, hit, ranking, weight, place in zip(
            parts, hits, rankings, weights, places, strict=True
        ):
            share = 1.0 if self.multiplies else weight
            values, missing = self._values(ranking, share, len(documents))
            row[:] = missing
            row[place] = values
            hit[place] = weight
            if self.by == "combmnz" and self.norm == "borda":
                hit[:] = weight  # each run has points for all documents
        return documents, parts, hits

    def _values(self, ranking: Ranking, weight: float, documents: int) -> tuple[Values, float]:
        """The parts of the documents that a run found, and the part of each other one."""
        count = len(ranking)
        if self.by == "ranks":
            return weight / (self.k + np.arange(1, count + 1)), 0.0
        if self.by == "isr":
            return weight / np.arange(1, count + 1, dtype=np.float64) ** 2, 0.0
        if self.by == "borda":
            left = (documents - count + 1) / 2
            return weight * (documents - np.arange(count, dtype=np.float64)), weight * left
        scores = np.asarray(ranking.scores, dtype=np.float64)
        if self.by == "scores":
            values = weight * standardized(scores)
            return values, float(values.min(initial=np.inf)) if count else 0.0
        if self.norm == "borda":
            left = (documents - count + 1) / 2 / documents
            return weight * (1 - np.arange(count) / documents), weight * left
        return weight * normalized(scores, self.norm), 0.0


def normalized(scores: Values, norm: Norm) -> Values:
    """Normalize the scores of a topic, best first; equal scores become zeros, but by "max".

    Examples:
        >>> normalized(np.array([3.0, 2.0, 1.0]), "sum").tolist()
        [0.6666666666666666, 0.3333333333333333, 0.0]
    """
    if not len(scores):
        return scores
    if norm == "rank":
        return 1 - np.arange(len(scores)) / len(scores)
    if norm == "max":
        return scores / (float(np.abs(scores).max()) or 1.0)
    lowest, unit = float(scores.min()), deviation(scores) or np.inf
    if norm == "zmuv":
        lowest = float(scores.mean())
    elif norm == "sum":
        unit = float((scores - lowest).sum()) or 1.0
    else:
        unit = float(scores.max()) - lowest or 1.0
    values: Values = (scores - lowest) / unit
    return values
