"""Features of different units on one scale: mean 0 and deviation 1 over the training documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

_SMALLEST = 1e-6
"""What a feature that hardly varies is divided by."""


def learn_standardization(features: Tensor, mean: Tensor, scale: Tensor) -> None:
    """Take mean and deviation from the features of training documents.

    Both stay as they are where there are no features, or no two documents to tell a deviation.

    Args:
        features: float32 [documents, F], not standardized.
        mean: float32 [F], written to.
        scale: float32 [F], what a difference from the mean is to be divided by; written to.
    """
    if features.shape[1] and len(features) > 1:
        mean.copy_(features.mean(dim=0))
        scale.copy_(features.std(dim=0).clamp(min=_SMALLEST))
