"""P@k, precision: the share of the first k ranks that is relevant.

    P@k = relevant results among the first k / k

van Rijsbergen, "Information Retrieval", 1979.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import OfHits, Standard

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Hits, Values
    from irplatform.evaluation.kinds import RegisterMeasure


def precision(hits: Hits, least: int, cutoff: float) -> Values:
    """Divide the number of relevant results by the cutoff."""
    return hits.count(least, cutoff) / cutoff


def register_measures(register: RegisterMeasure) -> None:
    """Register `P`."""
    register("P", Standard(OfHits(precision, cutoffs=(True,)), only_rises=True))
