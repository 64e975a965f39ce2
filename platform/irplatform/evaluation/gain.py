"""nDCG of one ranking in numpy, for training loops.

The discount of nDCG is log2(rank + 1). Gains are the grades, as in trec_eval's `ndcg_cut` (Järvelin
and Kekäläinen, TOIS 2002), or 2^grade - 1 (Burges et al., ICML 2005), as in the papers on click
logs (Mohan et al., WWW 2018), whose levels go up to 100. Grades may have decimals.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


NDCG, NDCG_OF_LEVELS = "nDCG@20", "nDCG-exp@20"
"""Measures that validate, mix and tune rankings: for topics with grades, and with levels."""

CUTOFF = 20
"""The ranks that these measures look at."""
_EXACT = 1000
"""Grades up to this have an exact power of 2; higher ones are lowered together."""


def ndcg(
    ranked: npt.ArrayLike, judged: npt.ArrayLike, cutoff: int = CUTOFF, *, exponential: bool = False
) -> float:
    """Compute nDCG@cutoff of one ranking.

    Args:
        ranked: grades of the ranked documents, best rank first; 0 for unjudged documents.
        judged: grades of all judged documents of the topic, in any order.
        cutoff: number of ranks that count.
        exponential: a grade's gain is 2^grade - 1 instead of the grade.

    Returns:
        A number in [0, 1]; 0 if nothing is relevant to the topic.
    """
    best = np.sort(np.asarray(judged, dtype=np.float64))[::-1][:cutoff]
    if exponential:
        lowered = max(best.max(initial=0.0) - _EXACT, 0.0)
        ranked, best = _powers(ranked, lowered), _powers(best, lowered)
    ideal = dcg(best, cutoff)
    return dcg(ranked, cutoff) / ideal if ideal > 0 else 0.0


def ndcg_of(doc_ids: Sequence[str], judgments: Mapping[str, float], cutoff: int = CUTOFF) -> float:
    """Compute nDCG@cutoff of a ranking, best first, with the gains that suit a topic's judgments.

    Levels, which are floats, gain 2^level - 1; whole grades gain themselves.
    """
    ranked = [judgments.get(doc_id, 0) for doc_id in doc_ids[:cutoff]]
    judged = np.array(list(judgments.values()))
    return ndcg(ranked, judged, cutoff, exponential=judged.dtype.kind == "f")


def dcg(ranked: npt.ArrayLike, cutoff: int = CUTOFF) -> float:
    """Compute the discounted cumulative gain of the first ranks; negative grades gain nothing."""
    gains = np.maximum(np.asarray(ranked, dtype=np.float64)[:cutoff], 0.0)
    return float(gains @ _discounts(cutoff)[: len(gains)])


def validation_measure(judgments: Iterable[Mapping[str, float]]) -> str:
    """Return the name under which `ndcg_of` is reported for these judgments."""
    return NDCG_OF_LEVELS if has_levels(judgments) else NDCG


def has_levels(judgments: Iterable[Mapping[str, float]]) -> bool:
    """Return whether a topic is judged by levels, which are floats."""
    kinds = (kind for grades in judgments for kind in set(map(type, grades.values())))
    return any(issubclass(kind, float) for kind in kinds)


def _powers(grades: npt.ArrayLike, lowered: float) -> npt.NDArray[np.float64]:
    """2^grade - 1, times 2^-lowered: ratios stay, and nothing overflows."""
    powers = np.exp2(np.asarray(grades, dtype=np.float64) - lowered)
    return np.asarray(powers - np.exp2(-lowered))


@lru_cache(maxsize=16)
def _discounts(cutoff: int) -> npt.NDArray[np.float64]:
    discounts: npt.NDArray[np.float64] = 1.0 / np.log2(np.arange(2, cutoff + 2))
    discounts.flags.writeable = False  # it is shared
    return discounts
