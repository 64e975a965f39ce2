"""RBP, rank-biased precision: the user goes on with the chance p.

    C(rank) = p, and so RBP = (1 - p) * sum over the ranks of gain * p^(rank - 1)

Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", TOIS 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.user import user_measure

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Values
    from irplatform.evaluation.kinds import IrMeasure, RegisterMeasure
    from irplatform.evaluation.user import Attention


def gains(measure: IrMeasure, grades: Values) -> Values:
    """Return 1 for each relevant document, 0 for the others."""
    relevant: Values = (grades >= measure["rel"]).astype(np.float64)
    return relevant


def going_on(measure: IrMeasure, _ranks: Values, gains: Values) -> Attention:
    """Return the same chance after each rank."""
    return np.full(len(gains), measure["p"]), 1 / (1 - measure["p"])


def register_measures(register: RegisterMeasure) -> None:
    """Register `RBP`."""
    register("RBP", user_measure(going_on, gains, only_rises=True))
