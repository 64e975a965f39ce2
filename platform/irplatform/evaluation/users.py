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

    User = Callable[[Any, Values, Values], tuple[Values, float]]


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
        return (grades >= measure["rel"]).astype(np.float64)
    least, most = measure["min_rel"], measure["max_rel"]
    gains: Values = (np.clip(grades, least, most) - least) / (most - least)
    return gains


def _rbp(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    del ranks
    return np.full(len(gains), measure["p"]), 1 / (1 - measure["p"])


def _sdcg(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    del measure, gains
    return np.log2(ranks + 1) / np.log2(ranks + 2), 0


def _bpm(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    del ranks
    return (np.cumsum(gains) < measure["T"]).astype(np.float64), 0


def _nerr8(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    del measure, ranks
    return 1 - gains, 0


def _nerr9(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    del measure
    return ranks / (ranks + 1) * (1 - gains), 0


def _nerr10(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    going_on, below = _rbp(measure, ranks, gains)
    return going_on * (1 - gains), below


def _insq(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    return _squares(ranks, np.full(len(gains), 2 * measure["T"]))


def _nerr11(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    going_on, below = _insq(measure, ranks, gains)
    return going_on * (1 - gains), below


def _inst(measure: Any, ranks: Values, gains: Values) -> tuple[Values, float]:
    return _squares(ranks, 2 * measure["T"] - np.cumsum(gains))


def _squares(ranks: Values, wanted: Values) -> tuple[Values, float]:
    from scipy.special import zeta

    ends = ranks + wanted
    return ((ends - 1) / ends) ** 2, float(ends[-1] ** 2 * zeta(2, ends[-1]))


USERS: Mapping[str, User] = {
    "BPM": _bpm,
    "INSQ": _insq,
    "INST": _inst,
    "NERR8": _nerr8,
    "NERR9": _nerr9,
    "NERR10": _nerr10,
    "NERR11": _nerr11,
    "RBP": _rbp,
    "SDCG": _sdcg,
}
"""Name to a function of measure, ranks and gains: the chance of going on after each rank, and the
sum of the chances of reaching the ranks below the last one, in parts of that of the first of them.
"""
