"""R@k, recall: the share of the relevant documents that is among the first k ranks.

    R@k = relevant results among the first k / relevant documents

van Rijsbergen, "Information Retrieval", 1979.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.hits import shares
from irplatform.evaluation.kinds import OfHits, Standard

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Hits, Values
    from irplatform.evaluation.kinds import RegisterMeasure


def recall(hits: Hits, least: int, cutoff: float) -> Values:
    """Divide the number of relevant results by that of relevant documents."""
    return shares(hits.count(least, cutoff), hits.number_relevant(least))


def register_measures(register: RegisterMeasure) -> None:
    """Register `R`."""
    register("R", Standard(OfHits(recall, cutoffs=(True,)), only_rises=True))
