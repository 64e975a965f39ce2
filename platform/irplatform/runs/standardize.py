"""Scores of different systems on one scale, so that they can be added."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


def standardized(scores: Values) -> Values:
    """Scores with mean 0 and deviation 1; zeros where all are equal."""
    deviation = scores.std() if len(scores) else 0.0
    if deviation < 1e-12:
        return np.zeros_like(scores)
    values: Values = (scores - scores.mean()) / deviation
    return values
