"""nDCG in numpy, for training loops that score a ranking thousands of times.

The discount is log2(rank + 1), from the first rank on. Gains are the grades, as in trec_eval's
`ndcg_cut` (Järvelin and Kekäläinen, TOIS 2002), or 2^grade - 1 (Burges et al., ICML 2005), which is
NDCG of the papers on click logs. For results that are reported, use `evaluate`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


NDCG, NDCG_OF_LEVELS = "nDCG@20", "nDCG-exp@20"
"""What rankings are validated, mixed and tuned by: of topics with grades, and with levels."""
_EXACT = 1000
"""Grades up to this have a power of 2 among floats; higher ones are all lowered by the same."""


def ndcg(
    ranked: npt.ArrayLike, judged: npt.ArrayLike, cutoff: int = 20, *, exponential: bool = False
) -> float:
    """NDCG@cutoff of one ranking.

    Args:
        ranked: grades of the ranked documents, best rank first; 0 where a document is not judged.
        judged: grades of all judged documents of the topic, in any order.
        cutoff: how many ranks count.
        exponential: whether a grade's gain is 2^grade - 1 instead of the grade.

    Returns:
        A number in [0, 1]; 0 if nothing is relevant to the topic.
    """
    best = np.sort(np.asarray(judged, dtype=np.float64))[::-1][:cutoff]
    if exponential:
        lowered = max(best.max(initial=0.0) - _EXACT, 0.0)
        ranked, best = _powers(ranked, lowered), _powers(best, lowered)
    ideal = dcg(best, cutoff)
    return dcg(ranked, cutoff) / ideal if ideal > 0 else 0.0


def _powers(grades: npt.ArrayLike, lowered: float) -> npt.NDArray[np.float64]:
    """2^grade - 1, times 2^-lowered: ratios stay, and nothing overflows."""
    powers = np.exp2(np.asarray(grades, dtype=np.float64) - lowered)
    return np.asarray(powers - np.exp2(-lowered))


def ndcg_of(doc_ids: Sequence[str], judgments: Mapping[str, float], cutoff: int = 20) -> float:
    """NDCG@cutoff of a ranking, best first, by the gains that suit a topic's judgments.

    Levels, which are floats, gain 2^level - 1, and grades themselves; see `ndcg`.
    """
    ranked = [judgments.get(doc_id, 0) for doc_id in doc_ids[:cutoff]]
    judged = np.array(list(judgments.values()))
    return ndcg(ranked, judged, cutoff, exponential=judged.dtype.kind == "f")


def validation_measure(judgments: Iterable[Mapping[str, float]]) -> str:
    """What `ndcg_of` is called where a measure of topics with these judgments is reported."""
    return NDCG_OF_LEVELS if has_levels(judgments) else NDCG


def has_levels(judgments: Iterable[Mapping[str, float]]) -> bool:
    """Whether a topic is judged by levels, which are floats."""
    return any(isinstance(grade, float) for grades in judgments for grade in grades.values())


def dcg(ranked: npt.ArrayLike, cutoff: int = 20) -> float:
    """Discounted cumulative gain of the first `cutoff` ranks; negative grades gain nothing."""
    gains = np.maximum(np.asarray(ranked, dtype=np.float64)[:cutoff], 0.0)
    return float(gains @ _discounts(cutoff)[: len(gains)])


@lru_cache(maxsize=16)
def _discounts(cutoff: int) -> npt.NDArray[np.float64]:
    discounts: npt.NDArray[np.float64] = 1.0 / np.log2(np.arange(2, cutoff + 2))
    discounts.flags.writeable = False  # it is shared
    return discounts
