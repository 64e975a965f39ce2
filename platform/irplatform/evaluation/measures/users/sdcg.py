"""SDCG, scaled discounted cumulative gain: the attention is that of nDCG, down to the cutoff.

    C(rank) = log2(rank + 1) / log2(rank + 2)

Moffat, Bailey, Scholer and Thomas, "Incorporating user expectations and behavior into the
measurement of search effectiveness", TOIS 2017.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.user import user_measure

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Values
    from irplatform.evaluation.kinds import IrMeasure, RegisterMeasure
    from irplatform.evaluation.user import Attention


def going_on(_measure: IrMeasure, ranks: Values, _gains: Values) -> Attention:
    """Return the ratio of the discounts of a rank and the next."""
    return np.log2(ranks + 1) / np.log2(ranks + 2), 0.0


def register_measures(register: RegisterMeasure) -> None:
    """Register `SDCG`."""
    register("SDCG", user_measure(going_on))
