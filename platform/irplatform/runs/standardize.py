"""Scores of different systems on one scale, so that they can be added."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
_ROUNDING = 1e-12
"""Scores closer than this, relative to the largest, are equal: some systems score by probabilities
of 1e-20."""


def deviation(scores: Values) -> float:
    """Standard deviation of scores; 0 where all are equal, or there are none."""
    if not len(scores):
        return 0.0
    found = float(scores.std())
    return found if found > _ROUNDING * float(np.abs(scores).max()) else 0.0


def standardized(scores: Values) -> Values:
    """Scores with mean 0 and deviation 1; zeros where all are equal."""
    unit = deviation(scores)
    if not unit:
        return np.zeros_like(scores)
    values: Values = (scores - scores.mean()) / unit
    return values
