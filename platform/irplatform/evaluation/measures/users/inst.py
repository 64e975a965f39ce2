"""INST: INSQ, but what the user still expects falls by what was gained.

    C(rank) = ((rank + T + T_rank - 1) / (rank + T + T_rank))^2, T_rank = T - sum of gains so far

Bailey, Moffat, Scholer and Thomas, "User variability and IR system evaluation", SIGIR 2015.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.evaluation.user import squares, user_measure

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Values
    from irplatform.evaluation.kinds import IrMeasure, RegisterMeasure
    from irplatform.evaluation.user import Attention


def going_on(measure: IrMeasure, ranks: Values, gains: Values) -> Attention:
    """Return the chances of a user who expects less with each gain."""
    return squares(ranks, 2 * measure["T"] - np.cumsum(gains))


def register_measures(register: RegisterMeasure) -> None:
    """Register `INST`."""
    register("INST", user_measure(going_on))
