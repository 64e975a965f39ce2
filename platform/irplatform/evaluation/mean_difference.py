"""The one-standard-error rule: a choice must gain more than the standard error of its gain.

On few topics, a setting that is merely lucky must not replace what is known to work. Whatever is
chosen on topics (weights of a fusion, the weight of interpolation, tuned options) is held to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


FEWEST_TOPICS = 3
"""Of two topics, a quarter of all differences exceed their standard error by luck alone."""


@dataclass(frozen=True)
class MeanDifference:
    """A mean difference between two systems over topics.

    Attributes:
        mean: of the differences.
        error: the standard error of that mean; infinite for fewer than three topics.
    """

    mean: float
    error: float

    @classmethod
    def of(cls, differences: npt.NDArray[np.float64]) -> MeanDifference:
        """The mean of one or more topics' differences."""
        count = len(differences)
        if count < FEWEST_TOPICS:
            return cls(float(differences.mean()), float("inf"))
        return cls(float(differences.mean()), float(differences.std(ddof=1)) / count**0.5)

    @property
    def is_clear(self) -> bool:
        """Whether the mean is above 0 by more than its standard error."""
        return self.mean > self.error
