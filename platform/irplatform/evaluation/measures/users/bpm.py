"""BPM, the Bejeweled player model, in its static form: the user goes on until the gain is T.

    C(rank) = 1 while the sum of gains is below T, else 0; 0 at the cutoff

Zhang, Liu, Li, Zhang, Xu and Ma, "Evaluating web search with a Bejeweled player model", SIGIR 2017.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.user import user_measure

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Values
    from irplatform.evaluation.kinds import IrMeasure, RegisterMeasure
    from irplatform.evaluation.user import Attention


def going_on(measure: IrMeasure, _ranks: Values, gains: Values) -> Attention:
    """Return 1 until the gain suffices."""
    return (np.cumsum(gains) < measure["T"]) * 1.0, 0.0


def register_measures(register: RegisterMeasure) -> None:
    """Register `BPM`."""
    register("BPM", user_measure(going_on))
