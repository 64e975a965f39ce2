"""infAP: average precision estimated from a sample of judgments; see `evaluation.sampled`.

At each retrieved relevant document at rank k, the expected precision is

    (1 + sum over the strata s of n_s * (r_s + 0.00001) / (j_s + 0.00003)) / k

n_s, j_s and r_s are the pooled, judged and relevant documents of s above it. These are averaged per
stratum over all of its relevant documents, and over the strata by their shares of the relevant
documents' estimated number. Without sampled judgments, infAP is ir-measures' measure of that name.

Yilmaz, Kanoulas and Aslam, SIGIR 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.kinds import DEPTH, Inferred
from irplatform.evaluation.sampled import retrieved

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.evaluation.kinds import RegisterMeasure
    from irplatform.evaluation.sampled import Integers, Pool


_SMOOTHING = (0.00001, 0.00003)
"""Added to the relevant and the judged documents above a rank, against division by 0."""


def inferred_ap(pool: Pool, ranking: Sequence[str], depth: int = DEPTH) -> float:
    """Estimate average precision of the first `depth` ranks; 0 if nothing judged is relevant."""
    ranks, strata, grades = retrieved(pool, ranking[:depth])
    member = strata[:, None] == np.arange(len(pool.pooled))

    def ranked_above(mask: npt.NDArray[np.bool_]) -> Integers:
        """Counts of the documents of each stratum (columns) ranked above each one (rows)."""
        counted: Integers = (member & mask[:, None]).astype(np.int64)
        above: Integers = np.cumsum(counted, axis=0) - counted
        return above

    hits = grades > 0
    pooled = ranked_above(np.ones_like(hits))
    judged, relevant = ranked_above(grades >= 0), ranked_above(hits)
    share = (relevant + _SMOOTHING[0]) / (judged + _SMOOTHING[1])
    precision = (1 + np.sum(pooled * share, axis=1)) / ranks
    stands_for = pool.pooled / np.maximum(pool.judged, 1)
    all_relevant = np.bincount(pool.strata[pool.grades > 0], minlength=len(stands_for))
    estimated = float(all_relevant @ stands_for)
    return float(precision[hits] @ stands_for[strata[hits]]) / estimated if estimated else 0.0


def register_measures(register: RegisterMeasure) -> None:
    """Register `infAP`."""
    register("infAP", Inferred(inferred_ap))
