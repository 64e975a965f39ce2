"""INSQ, inverse squares: the user expects a gain of T, and goes on the more likely the deeper.

    C(rank) = ((rank + 2T - 1) / (rank + 2T))^2

Moffat, Scholer and Thomas, "Models and metrics: IR evaluation as a user process", ADCS 2012.
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
    """Return the chances of a user who expects the same gain at each rank."""
    return squares(ranks, np.full(len(gains), 2 * measure["T"]))


def register_measures(register: RegisterMeasure) -> None:
    """Register `INSQ`."""
    register("INSQ", user_measure(going_on))
