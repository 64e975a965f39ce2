"""nDCG in numpy, for training loops that score a ranking thousands of times.

Linear gains and a discount of log2(rank + 1), as trec_eval's `ndcg_cut` (Järvelin and Kekäläinen,
TOIS 2002, with the discount from the first rank on). For results that are reported, use `evaluate`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def ndcg(ranked: npt.ArrayLike, judged: npt.ArrayLike, cutoff: int = 20) -> float:
    """NDCG@cutoff of one ranking.

    Args:
        ranked: grades of the ranked documents, best rank first; 0 where a document is not judged.
        judged: grades of all judged documents of the topic, in any order.
        cutoff: how many ranks count.

    Returns:
        A number in [0, 1]; 0 if nothing is relevant to the topic.
    """
    ideal = dcg(np.sort(np.asarray(judged, dtype=np.float64))[::-1][:cutoff], cutoff)
    return dcg(ranked, cutoff) / ideal if ideal > 0 else 0.0


def ndcg_of(doc_ids: Sequence[str], judgments: Mapping[str, int], cutoff: int = 20) -> float:
    """NDCG@cutoff of a ranking, best first, of a topic with these judgments; see `ndcg`."""
    ranked = [judgments.get(doc_id, 0) for doc_id in doc_ids[:cutoff]]
    return ndcg(ranked, list(judgments.values()), cutoff)


def dcg(ranked: npt.ArrayLike, cutoff: int = 20) -> float:
    """Discounted cumulative gain of the first `cutoff` ranks; negative grades gain nothing."""
    gains = np.maximum(np.asarray(ranked, dtype=np.float64)[:cutoff], 0.0)
    return float(gains @ _discounts(cutoff)[: len(gains)])


@lru_cache(maxsize=16)
def _discounts(cutoff: int) -> npt.NDArray[np.float64]:
    discounts: npt.NDArray[np.float64] = 1.0 / np.log2(np.arange(2, cutoff + 2))
    discounts.flags.writeable = False  # it is shared
    return discounts
