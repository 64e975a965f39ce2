"""Scores of different systems on one scale, so that they can be added."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
_ROUNDING = 1e-6
"""Scores closer than this, relative to the largest, are equal. Networks compute in 32 bits, so that
documents that they cannot tell apart differ by rounding; and some systems score by probabilities of
1e-20."""


def deviation(scores: Values) -> float:
    """Standard deviation of scores; 0 where all are equal, or there are none."""
    if not len(scores):
        return 0.0
    spread = float(scores.std())
    return spread if spread > _ROUNDING * float(np.abs(scores).max()) else 0.0


def standardized(scores: Values) -> Values:
    """Scores with mean 0 and deviation 1; zeros where all are equal.

    A few scores far from all others, such as a -1e9 for what a system rejects, stretch the
    deviation until the others are equal in a run's 32 bits. Where the better half would lose more
    than a hundredth of its distinct scores so, places among the scores are standardized instead.
    """
    unit = deviation(scores)
    if not unit:
        return np.zeros_like(scores)
    values: Values = (scores - scores.mean()) / unit
    better = scores >= np.median(scores)
    if _distinct(values[better]) < 0.99 * _distinct(scores[better]):
        places = np.unique(scores, return_inverse=True)[1].astype(np.float64)
        values = (places - places.mean()) / places.std()
    return values


def _distinct(scores: Values) -> int:
    """How many there are in the bits of a run."""
    return len(np.unique(scores.astype(np.float32)))
