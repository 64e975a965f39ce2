"""IPrec@recall, interpolated precision: the highest precision at a recall or above.

    IPrec@x = highest P@k of ranks k with at least x of the relevant documents among the first k

Buckley and Voorhees, "Retrieval system evaluation", in "TREC: experiment and evaluation", 2005.
Computed here since trec_eval 10 rounds x otherwise than release 9, which pytrec_eval contains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.kinds import OfRanking, Standard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.hits import Hits, Values
    from irplatform.evaluation.kinds import IrMeasure, PerTopic, RegisterMeasure, Scored


def interpolated_precision(
    measure: IrMeasure, grades: Mapping[str, float], doc_ids: Sequence[str]
) -> float:
    """Return the highest precision at a recall or above, as trec_eval 10 computes it.

    The recall is a number of relevant documents, rounded half up; release 9 rounded up. If too few
    are retrieved, the value is 0.
    """
    if measure["judged_only"]:
        doc_ids = [doc_id for doc_id in doc_ids if grades.get(doc_id, -1) >= 0]
    share = measure["recall"] * sum(grade >= measure["rel"] for grade in grades.values())
    count, best = 0, 0.0
    least = math.floor(share) + (share % 1 >= 0.5)
    for rank, doc_id in enumerate(doc_ids, start=1):
        if grades.get(doc_id, 0) >= measure["rel"]:
            count += 1
            if count >= least:
                best = max(best, count / rank)
    return best


def highest_precision(hits: Hits, least: int, recall: float) -> Values:
    """Return the same of all topics at once, for a grade of at least 1 that is relevant."""
    topic, rank = hits.relevant(least, math.inf)
    share = recall * hits.number_relevant(least)
    needed = np.floor(share) + (share % 1 >= 0.5)
    counts = np.arange(1, len(topic) + 1) - np.searchsorted(topic, topic)
    mask = counts >= needed[topic]
    best = np.zeros(len(hits.topics))
    np.maximum.at(best, topic[mask], (counts / rank)[mask])
    return best


@dataclass(frozen=True)
class _AtRecall(OfRanking):
    """All topics at once, unless unjudged documents count, or are left out."""

    def values(self, measure: IrMeasure, scored: Scored) -> PerTopic:
        if measure["judged_only"] or measure["rel"] < 1:
            return super().values(measure, scored)
        values = highest_precision(scored.hits, measure["rel"], measure["recall"])
        return dict(zip(scored.hits.topics, values.tolist(), strict=True))


def register_measures(register: RegisterMeasure) -> None:
    """Register `IPrec`."""
    register("IPrec", Standard(_AtRecall(interpolated_precision, since=10)))
