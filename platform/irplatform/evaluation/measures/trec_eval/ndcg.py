"""nDCG, normalized discounted cumulative gain; grades are gains.

    DCG@k = sum over the first k ranks of grade / log2(rank + 1)
    nDCG@k = DCG@k / DCG@k of the best ranking

Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation import gain
from irplatform.evaluation.hits import shares
from irplatform.evaluation.kinds import Graded, OfHits, Standard

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Hits, Integers, Values
    from irplatform.evaluation.kinds import Measure, RegisterMeasure


def ndcg(hits: Hits, _least: int, cutoff: float) -> Values:
    """Divide the discounted cumulative gain by that of the best ranking."""
    mask = (hits.grade > 0) & (hits.rank <= cutoff)
    gained = _gain(hits, hits.topic[mask], hits.rank[mask], hits.grade[mask])
    order = np.lexsort((-hits.grades, hits.of_grade))
    topic, grades = hits.of_grade[order], hits.grades[order]
    rank = np.arange(1, len(topic) + 1) - np.searchsorted(topic, topic)
    mask = (grades > 0) & (rank <= cutoff)
    return shares(gained, _gain(hits, topic[mask], rank[mask], grades[mask]))


def _gain(hits: Hits, topic: Integers, rank: Integers, grade: Integers) -> Values:
    deepest = int(rank.max(initial=0))
    # Not NumPy's logarithm, which differs from C's in the last bit on some processors.
    discounts = np.array([0.0, *(math.log2(place + 1) for place in range(1, deepest + 1))])
    return hits.per_topic(topic, grade / discounts[rank])


class NDCG(Standard):
    """nDCG, which is computed of grades with decimals too."""

    def for_levels(self) -> Measure:
        """Return nDCG of levels; this one where grades have gains of their own."""
        if self.ir_measure.params.keys() <= {"cutoff", "dcg"}:
            return Graded(gain.ndcg, self.ir_measure.params.get("cutoff"))
        return self

    def takes_whole(self) -> bool:
        """Return whether grades have gains of their own."""
        return self.for_levels() is self


def register_measures(register: RegisterMeasure) -> None:
    """Register `nDCG`."""
    register("nDCG", NDCG(OfHits(ndcg)))
