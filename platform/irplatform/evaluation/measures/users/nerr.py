"""NERR8 to NERR11, nearly expected reciprocal rank: the user stops with the chance of the gain.

    NERR8:  C(rank) = 1 - gain, down to the cutoff
    NERR9:  C(rank) = rank / (rank + 1) * (1 - gain), down to the cutoff
    NERR10: C(rank) = p * (1 - gain), else as RBP
    NERR11: C(rank) = ((rank + 2T - 1) / (rank + 2T))^2 * (1 - gain), else as INSQ

Azzopardi, Mackenzie and Moffat, "ERR is not C/W/L", ICTIR 2021, equations 8 to 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.measures.users import insq, rbp
from irplatform.evaluation.user import user_measure

if TYPE_CHECKING:
    from irplatform.evaluation.hits import Values
    from irplatform.evaluation.kinds import IrMeasure, RegisterMeasure
    from irplatform.evaluation.user import Attention, User


def _until_relevant(user: User) -> User:
    """The same user, who stops at a rank with the chance of its gain."""

    def going_on(measure: IrMeasure, ranks: Values, gains: Values) -> Attention:
        chances, below = user(measure, ranks, gains)
        return chances * (1 - gains), below

    return going_on


def register_measures(register: RegisterMeasure) -> None:
    """Register NERR8, NERR9, NERR10 and NERR11."""
    users: dict[str, User] = {
        "NERR8": lambda _, __, gains: (1 - gains, 0.0),
        "NERR9": lambda _, ranks, gains: (ranks / (ranks + 1) * (1 - gains), 0.0),
        "NERR10": _until_relevant(rbp.going_on),
        "NERR11": _until_relevant(insq.going_on),
    }
    for name, user in users.items():
        register(name, user_measure(user))
