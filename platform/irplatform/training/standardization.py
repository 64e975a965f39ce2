"""Features of different units on one scale: mean 0 and deviation 1 over the training documents.

A feature that is the same for all of them becomes 0 everywhere, as in `features.SideFeatures`: a
model has learned nothing of it that a document which differs should be scored by.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

_SMALLEST = 1e-6
"""Deviation, as a share of the mean where that is above 1, from which on a feature varies."""


def learn_standardization(features: Tensor, mean: Tensor, scale: Tensor) -> None:
    """Take mean and deviation from the features of training documents.

    Both stay as they are where there are no features, or no two documents to tell a deviation.

    Args:
        features: float32 [documents, F], not standardized.
        mean: float32 [F], written to.
        scale: float32 [F], what a difference from the mean is to be divided by, infinite for a
            feature that does not vary; written to.
    """
    if features.shape[1] and len(features) > 1:
        mean.copy_(features.mean(dim=0))
        deviation = features.std(dim=0)
        varies = deviation > _SMALLEST * features.mean(dim=0).abs().clamp(min=1)
        scale.copy_(deviation.where(varies, math.inf))
