"""RR, reciprocal rank: of the first relevant result.

    RR = 1 / rank of the first relevant result

Kantor and Voorhees, "The TREC-5 confusion track", Information Retrieval 2000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.kinds import OfHits, Standard

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Hits, Values
    from irplatform.evaluation.kinds import RegisterMeasure


def reciprocal_rank(hits: Hits, least: int, cutoff: float) -> Values:
    """Return 1 / the rank of the first relevant result."""
    topic, rank = hits.relevant(least, cutoff)
    firsts, at = np.unique(topic, return_index=True)
    values = np.zeros(len(hits.topics))
    values[firsts] = 1.0 / rank[at]
    return values


def register_measures(register: RegisterMeasure) -> None:
    """Register `RR`."""
    register("RR", Standard(OfHits(reciprocal_rank, cutoffs=(False,)), only_rises=True))
