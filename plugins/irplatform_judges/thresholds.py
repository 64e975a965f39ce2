"""Thresholds that turn scores into grades, fitted on judged documents.

A document has at least a grade if its score reaches the grade's threshold. Each threshold is the
one with the best agreement with people about "at least this grade": Cohen's kappa (Cohen, 1960),
which corrects for how rare a grade is. Thresholds do not fall from grade to grade.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


def fitted_thresholds(
    scores: npt.NDArray[np.float64], grades: Integers, levels: Sequence[int]
) -> list[float]:
    """Fit thresholds.

    Args:
        scores: of documents, [n].
        grades: theirs, [n].
        levels: all grades, ascending.

    Returns:
        The threshold of each grade but the lowest, ascending; infinite from the first grade that
        no document reaches.
    """
    order = np.argsort(-scores, kind="stable")
    scores, grades = scores[order], grades[order]
    ends = np.flatnonzero(np.append(np.diff(scores) < 0, True)).astype(np.int64)
    least, thresholds = 0, []
    for level in reversed(levels[1:]):
        reached = np.cumsum(grades >= level, dtype=np.int64)
        if not reached[-1]:
            thresholds.append(np.inf)
            continue
        places = ends[ends >= least]
        least = int(places[np.argmax(_kappa(reached, places))])
        below = scores[least + 1] if least + 1 < len(scores) else scores[least]
        thresholds.append(float((scores[least] + below) / 2))
    return thresholds[::-1]


def _kappa(reached: Integers, places: Integers) -> npt.NDArray[np.float64]:
    """Cohen's kappa if the documents up to each place are given the grade."""
    count, people = len(reached), int(reached[-1])
    given = places + 1.0
    agreed = 2 * reached[places] + count - given - people
    chance = (given * people + (count - given) * (count - people)) / count
    kappa: npt.NDArray[np.float64] = (agreed - chance) / np.maximum(count - chance, 1e-9)
    return kappa


def grade_of(score: float, thresholds: Sequence[float], levels: Sequence[int]) -> int:
    """The grade of a score.

    >>> [grade_of(score, [0.3, 0.7], [0, 1, 2]) for score in (0.1, 0.3, 0.9)]
    [0, 1, 2]
    """
    return levels[bisect.bisect_right(thresholds, score)]
