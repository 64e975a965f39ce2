"""Success@k: whether a relevant document is among the first k ranks.

Success@k = 1 if one of the first k results is relevant, else 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.kinds import OfHits, Standard

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Hits, Values
    from irplatform.evaluation.kinds import RegisterMeasure


def success(hits: Hits, least: int, cutoff: float) -> Values:
    """Return 1 for topics with a relevant result, 0 for others."""
    return (hits.count(least, cutoff) > 0).astype(np.float64)


def register_measures(register: RegisterMeasure) -> None:
    """Register `Success`."""
    register("Success", Standard(OfHits(success, cutoffs=(True,)), only_rises=True))
