"""IPrec@recall, interpolated precision: the highest precision at a recall or above.

    IPrec@x = highest P@k of ranks k with at least x of the relevant documents among the first k

Buckley and Voorhees, "Retrieval system evaluation", in "TREC: experiment and evaluation", 2005.
Computed here since trec_eval 10 rounds x otherwise than release 9, which pytrec_eval contains.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import OfRanking, Standard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.kinds import Asked, RegisterMeasure


def interpolated_precision(
    measure: Asked, grades: Mapping[str, float], doc_ids: Sequence[str]
) -> float:
    """Return the highest precision at a recall or above, as trec_eval 10 computes it.

    The recall is a number of relevant documents, rounded half up; release 9 rounded up. If too few
    are retrieved, the value is 0.
    """
    if measure["judged_only"]:
        doc_ids = [doc_id for doc_id in doc_ids if grades.get(doc_id, -1) >= 0]
    share = measure["recall"] * sum(grade >= measure["rel"] for grade in grades.values())
    found, best = 0, 0.0
    least = math.floor(share) + (share % 1 >= 0.5)
    for rank, doc_id in enumerate(doc_ids, start=1):
        if grades.get(doc_id, 0) >= measure["rel"]:
            found += 1
            if found >= least:
                best = max(best, found / rank)
    return best


def register_measures(register: RegisterMeasure) -> None:
    """Register `IPrec`."""
    register("IPrec", Standard(OfRanking(interpolated_precision, since=10)))
