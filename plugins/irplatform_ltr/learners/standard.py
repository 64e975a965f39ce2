"""Standardized features: against the mean of all training documents, extreme values clipped.

The unit is the standard deviation within topics, since only documents of one topic are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.training.per_topic import centered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform_ltr.learners.learner import Features, Scores, Table

_CLIP = 4.0
"""Standard deviations."""


class Standard:
    """Means of features over training documents, and deviations within their topics.

    Attributes:
        mean: float64 [features].
        deviation: float64 [features].
    """

    def __init__(self, mean: Scores, deviation: Scores) -> None:
        self.mean = mean
        self.deviation = deviation

    @classmethod
    def of(cls, table: Table) -> Standard:
        """What training documents tell of features."""
        values = table.features.astype(np.float64)
        deviation = np.sqrt((centered(values, table.offsets) ** 2).mean(axis=0))
        return cls(values.mean(axis=0), deviation)

    @classmethod
    def read(cls, written: Mapping[str, list[float]]) -> Standard:
        """From what `written` gave."""
        return cls(np.array(written["mean"]), np.array(written["deviation"]))

    def written(self) -> dict[str, list[float]]:
        """As JSON."""
        return {"mean": self.mean.tolist(), "deviation": self.deviation.tolist()}

    def __call__(self, features: Features) -> Scores:
        """float64 [documents, features]; 0 for a feature that did not vary."""
        varies = self.deviation > 1e-9
        scaled = (features - self.mean) / np.where(varies, self.deviation, 1.0)
        return np.asarray(np.clip(np.where(varies, scaled, 0.0), -_CLIP, _CLIP))
