"""Measures that model a user who goes on from rank to rank: C/W/L, at any depth.

After each rank the user goes on with a probability C; the share of attention that a rank gets, W,
is the chance of reaching it, divided by its sum over all ranks (Moffat, Bailey, Scholer and Thomas,
TOIS 2017). The value is the sum of gains by W. The sums of RBP, INSQ, INST, NERR10 and NERR11 go
on without end: the ranks below a run's last have gain 0, but attention. cwl_eval, which computes
these measures for ir-measures, stops both sums at rank 1,000.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from irplatform.evaluation.hits import Values
from irplatform.evaluation.kinds import IrMeasure, OfRanking, Standard

if TYPE_CHECKING:
    from irplatform.evaluation.kinds import Limits

Attention: TypeAlias = tuple[Values, float]
"""The chance of going on after each rank, and the sum of the chances of reaching the ranks below
the last one, in parts of that of the first of them.
"""

User: TypeAlias = Callable[[IrMeasure, Values, Values], Attention]
"""A user's attention, from measure, ranks and gains."""

TAKES: Limits = {
    "p": (lambda p: 0 <= p < 1, "numbers from 0 to below 1"),
    "T": (lambda gain: 0 < gain < math.inf, "numbers above 0"),
}


def scaled(measure: IrMeasure, grades: Values) -> Values:
    """Return gains from 0 to 1; grades outside of `min_rel` and `max_rel` count as these."""
    least, most = measure["min_rel"], measure["max_rel"]
    gains: Values = (np.clip(grades, least, most) - least) / (most - least)
    return gains


def user_measure(
    user: User, gains: Callable[[IrMeasure, Values], Values] = scaled, *, only_rises: bool = False
) -> Standard:
    """Return the measure that models a user."""
    return Standard(OfRanking(UserValue(user, gains)), takes=TAKES, only_rises=only_rises)


@dataclass(frozen=True)
class UserValue:
    """The value of a topic for a user; `gains` makes gains of grades of at least 0."""

    user: User
    gains: Callable[[IrMeasure, Values], Values]

    def __call__(
        self, measure: IrMeasure, grades: Mapping[str, float], doc_ids: Sequence[str]
    ) -> float:
        """Compute the value from document id to grade, and the results, best first."""
        retrieved = np.array([max(grades.get(doc_id, 0), 0) for doc_id in doc_ids], float)
        gains = self.gains(measure, retrieved)
        if cutoff := measure.params.get("cutoff"):
            gains = np.append(gains[:cutoff], np.zeros(max(cutoff - len(gains), 0)))
        going_on, below = self.user(measure, np.arange(1.0, len(gains) + 1), gains)
        reached = np.cumprod(np.append(1.0, going_on))
        return float(reached[:-1] @ gains / (reached[:-1].sum() + reached[-1] * below))


def squares(ranks: Values, targets: Values) -> Attention:
    """Return the chances of going on of INSQ and INST, for a wanted gain at each rank."""
    from scipy.special import zeta

    ends = ranks + targets
    going_on: Values = np.square((ends - 1) / ends)
    return going_on, float(ends[-1] ** 2 * zeta(2, ends[-1]))
