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


@dataclass(frozen=True)
class MeanDifference:
    """A mean difference between two systems over topics.

    Attributes:
        mean: of the differences.
        error: the standard error of that mean; infinite for a single topic.
    """

    mean: float
    error: float

    @classmethod
    def of(cls, differences: npt.NDArray[np.float64]) -> MeanDifference:
        """The mean of one or more topics' differences."""
        count = len(differences)
        error = float(differences.std(ddof=1)) / count**0.5 if count > 1 else float("inf")
        return cls(float(differences.mean()), error)

    @property
    def is_clear(self) -> bool:
        """Whether the mean is above 0 by more than its standard error."""
        return self.mean > self.error
