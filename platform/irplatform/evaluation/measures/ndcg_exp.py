"""nDCG-exp, normalized discounted cumulative gain; a grade's gain is 2^grade - 1.

    DCG@k = sum over the first k ranks of (2^grade - 1) / log2(rank + 1)
    nDCG-exp@k = DCG@k / DCG@k of the best ranking

Burges et al., "Learning to rank using gradient descent", ICML 2005. ir-measures writes
`nDCG(dcg='exp-log2')`; its program takes grades up to 4 and prints five digits.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from irplatform.evaluation.gain import ndcg
from irplatform.evaluation.kinds import Graded

if TYPE_CHECKING:
    from irplatform.evaluation.kinds import RegisterMeasure


def register_measures(register: RegisterMeasure) -> None:
    """Register `nDCG-exp`."""
    register("nDCG-exp", Graded(partial(ndcg, exponential=True), alias="nDCG(dcg='exp-log2')"))
