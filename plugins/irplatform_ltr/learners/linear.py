"""A linear model that learns from pairs (`irplatform.training.pairwise_linear`).

Features are standardized with what the training documents tell of them, each document against the
mean of its topic, and extreme values are clipped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError
from irplatform.training.pairwise_linear import pairwise_weights
from irplatform_ltr.learners.trees import levels

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform_ltr.learners.learner import Features, Scores, Table
    from irplatform_ltr.options import LinearOptions

_CLIP = 4.0
"""Standard deviations."""


class PairwiseLinear:
    """A weighted sum of standardized features.

    Args:
        options: regularization.
    """

    def __init__(self, options: LinearOptions) -> None:
        self._options = options
        self._mean: Scores = np.zeros(0)
        self._deviation: Scores = np.zeros(0)
        self._weights: Scores = np.zeros(0)

    def fit(self, table: Table, seed: int) -> None:
        """Find the weights."""
        values = table.features.astype(np.float64)
        self._mean = values.mean(axis=0)
        sizes = np.diff(table.offsets)
        means = np.add.reduceat(values, table.offsets[:-1]) / sizes[:, None]
        self._deviation = np.sqrt(((values - np.repeat(means, sizes, axis=0)) ** 2).mean(axis=0))
        standard = self._standardized(table.features)
        self._weights = pairwise_weights(
            standard, levels(table.grades), table.offsets, l2=self._options.l2, seed=seed
        )

    def _standardized(self, features: Features) -> Scores:
        varies = self._deviation > 1e-9
        scaled = (features - self._mean) / np.where(varies, self._deviation, 1.0)
        return np.asarray(np.clip(np.where(varies, scaled, 0.0), -_CLIP, _CLIP))

    def score(self, features: Features) -> Scores:
        """The weighted sum."""
        # Row by row in the same order of additions, however many documents there are.
        return np.asarray(np.einsum("ij,j->i", self._standardized(features), self._weights))

    def contributions(self, features: Features) -> Scores:
        """The products of weights and standardized features; the constant is 0."""
        products = self._standardized(features) * self._weights
        return np.pad(products, ((0, 0), (0, 1)))

    def save(self, folder: Path, name: str) -> None:
        """Write weights, means and deviations as JSON."""
        held = {
            "weights": self._weights.tolist(),
            "mean": self._mean.tolist(),
            "deviation": self._deviation.tolist(),
        }
        (folder / f"{name}.json").write_text(json.dumps(held), encoding="utf-8")

    def load(self, folder: Path, name: str) -> None:
        """Read them.

        Raises:
            InputError: the file is none of ours.
        """
        path = folder / f"{name}.json"
        try:
            held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            self._weights = np.array(held["weights"], dtype=np.float64)
            self._mean = np.array(held["mean"], dtype=np.float64)
            self._deviation = np.array(held["deviation"], dtype=np.float64)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("this is no linear model.", path=path) from error

    def weights(self) -> Scores:
        """Per feature, its weight for a standard deviation of it."""
        return self._weights
