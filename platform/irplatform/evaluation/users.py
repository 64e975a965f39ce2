"""Measures that model a user who goes on from rank to rank: C/W/L, at any depth.

After each rank the user goes on with a probability C; the share of attention that a rank gets, W,
is the chance of reaching it, divided by its sum over all ranks (Moffat, Bailey, Scholer and Thomas,
TOIS 2017). The value is the sum of gains by W. The sums of RBP, INSQ, INST, NERR10 and NERR11 go
on without end: the ranks below a run's last have gain 0, but attention. cwl_eval, which computes
these measures for ir-measures, stops both sums at rank 1,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.runs.run import Values

    Answer = tuple[Values, float]
    User = Callable[[Any, Values, Values], Answer]


def value(measure: Any, grades: Mapping[str, float], doc_ids: Sequence[str]) -> float:
    """Compute a measure of `USERS` for a topic.

    Args:
        measure: of ir-measures.
        grades: document id to grade.
        doc_ids: the results, best first.
    """
    gains = _gains(measure, np.array([max(grades.get(doc_id, 0), 0) for doc_id in doc_ids], float))
    if cutoff := measure.params.get("cutoff"):
        gains = np.append(gains[:cutoff], np.zeros(max(cutoff - len(gains), 0)))
    going_on, below = USERS[measure.NAME](measure, np.arange(1.0, len(gains) + 1), gains)
    reached = np.cumprod(np.append(1.0, going_on))
    return float(reached[:-1] @ gains / (reached[:-1].sum() + reached[-1] * below))


def _gains(measure: Any, grades: Values) -> Values:
    """Gains from 0 to 1; grades outside of `min_rel` and `max_rel` count as these."""
    if measure.NAME == "RBP":
        relevant: Values = (grades >= measure["rel"]).astype(np.float64)
        return relevant
    least, most = measure["min_rel"], measure["max_rel"]
    gains: Values = (np.clip(grades, least, most) - least) / (most - least)
    return gains


def _rbp(measure: Any, ranks: Values, gains: Values) -> Answer:  # noqa: ARG001 - as the others
    return np.full(len(gains), measure["p"]), 1 / (1 - measure["p"])


def _squares(ranks: Values, wanted: Values) -> Answer:
    from scipy.special import zeta

    ends = ranks + wanted
    going_on: Values = np.square((ends - 1) / ends)
    return going_on, float(ends[-1] ** 2 * zeta(2, ends[-1]))


def _insq(measure: Any, ranks: Values, gains: Values) -> Answer:
    return _squares(ranks, np.full(len(gains), 2 * measure["T"]))


def _until_relevant(user: User) -> User:
    """The same user, who stops at a rank with the chance of its gain."""

    def going_on(measure: Any, ranks: Values, gains: Values) -> Answer:
        chances, below = user(measure, ranks, gains)
        return chances * (1 - gains), below

    return going_on


USERS: Mapping[str, User] = {
    "BPM": lambda measure, _, gains: ((np.cumsum(gains) < measure["T"]) * 1.0, 0.0),
    "INSQ": _insq,
    "INST": lambda measure, ranks, gains: _squares(ranks, 2 * measure["T"] - np.cumsum(gains)),
    "NERR8": lambda _, __, gains: (1 - gains, 0.0),
    "NERR9": lambda _, ranks, gains: (ranks / (ranks + 1) * (1 - gains), 0.0),
    "NERR10": _until_relevant(_rbp),
    "NERR11": _until_relevant(_insq),
    "RBP": _rbp,
    "SDCG": lambda _, ranks, __: (np.log2(ranks + 1) / np.log2(ranks + 2), 0.0),
}
"""Name to a function of measure, ranks and gains: the chance of going on after each rank, and the
sum of the chances of reaching the ranks below the last one, in parts of that of the first of them.
"""
