"""infNDCG: nDCG estimated from a sample of judgments; see `evaluation.sampled`.

    infNDCG = sum over the strata s of n_s / j_s * sum(grade / log2(rank + 1)) / ideal

n_s are the retrieved documents of the stratum, j_s the judged ones among them. The inner sum is
over its retrieved relevant documents. The ideal is estimated, see `_ideal_dcg`.

Yilmaz, Kanoulas and Aslam, SIGIR 2008.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.kinds import DEPTH, Inferred
from irplatform.evaluation.sampled import retrieved

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.evaluation.kinds import RegisterMeasure
    from irplatform.evaluation.sampled import Pool


def inferred_ndcg(pool: Pool, ranking: Sequence[str], depth: int = DEPTH) -> float:
    """Estimate nDCG of a ranking, best first; an estimate can exceed 1.

    0 if no judged document is relevant. `depth` ranks count, also in the ideal ranking.
    """
    ranks, strata, grades = retrieved(pool, ranking[:depth])
    count = len(pool.pooled)
    relevant = grades > 0
    gains = grades[relevant] / np.log2(ranks[relevant] + 1)
    gain = np.bincount(strata[relevant], weights=gains, minlength=count)
    results = np.bincount(strata, minlength=count)
    judged = np.bincount(strata[grades >= 0], minlength=count)
    ideal = _ideal_dcg(pool, depth)
    dcg = _sum(results * gain / np.maximum(judged, 1))
    return dcg / ideal if ideal > 0 else 0.0


def _ideal_dcg(pool: Pool, depth: int) -> float:
    """The DCG of the estimated numbers of documents per grade, the best grade first.

    The number of a grade is estimated over all strata and rounded half up. Its documents take the
    ranks after *all* documents of better grades, and counting stops after its first one at `depth`
    or beyond: a lower grade still counts once, at its own rank far below. The official program does
    so.
    """
    total = 0.0
    start = 0
    for grade in np.unique(pool.grades[pool.grades > 0])[::-1].tolist():
        count = np.bincount(pool.strata[pool.grades == grade], minlength=len(pool.pooled))
        estimated = _sum(count * pool.pooled / np.maximum(pool.judged, 1))
        end = start + int(np.floor(estimated + 0.5))
        ranks = np.arange(start + 1, min(end, max(start + 1, depth)) + 1)
        total += float(np.sum(grade / np.log2(ranks + 1)))
        start = end
    return total


def _sum(values: npt.NDArray[np.float64]) -> float:
    """Add up one by one, as the official program does; NumPy and Python's `sum` round otherwise."""
    return functools.reduce(operator.add, values.tolist(), 0.0)


def register_measures(register: RegisterMeasure) -> None:
    """Register `infNDCG`."""
    register("infNDCG", Inferred(inferred_ndcg))
