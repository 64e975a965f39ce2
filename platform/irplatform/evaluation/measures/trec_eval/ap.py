"""AP, average precision: the mean precision at the relevant documents; 0 at those not retrieved.

    AP = (sum over the relevant results, at ranks k, of P@k) / relevant documents

Harman, "Evaluation issues in information retrieval", IPM 1992.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.hits import shares
from irplatform.evaluation.kinds import OfHits, Standard

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Hits, Values
    from irplatform.evaluation.kinds import RegisterMeasure


def average_precision(hits: Hits, least: int, cutoff: float) -> Values:
    """Sum the precision at each relevant result; divide by the number of relevant documents."""
    topic, rank = hits.relevant(least, cutoff)
    first = np.searchsorted(topic, topic)
    so_far = np.arange(1, len(topic) + 1) - first
    return shares(hits.per_topic(topic, so_far / rank), hits.number_relevant(least))


def register_measures(register: RegisterMeasure) -> None:
    """Register `AP`."""
    register("AP", Standard(OfHits(average_precision)))
