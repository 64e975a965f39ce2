"""Rprec: the precision at the number of relevant documents.

    Rprec = P@r, where r documents are relevant

Buckley and Voorhees, "Retrieval system evaluation", in "TREC: experiment and evaluation", 2005.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.hits import shares
from irplatform.evaluation.kinds import OfHits, Standard

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Hits, Values
    from irplatform.evaluation.kinds import RegisterMeasure


def r_precision(hits: Hits, least: int, cutoff: float) -> Values:
    """Return the precision at the number of relevant documents."""
    number = hits.number_relevant(least)
    topic, rank = hits.relevant(least, cutoff)
    return shares(hits.per_topic(topic[rank <= number[topic]]), number)


def register_measures(register: RegisterMeasure) -> None:
    """Register `Rprec`."""
    register("Rprec", Standard(OfHits(r_precision, cutoffs=(False,))))
