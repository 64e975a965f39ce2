"""A linear model of standardized features (`irplatform.training.losses`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.training.losses import pairwise_weights
from irplatform_ltr.learners.learner import Standard, read_weights, write_weights

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform_ltr.learners.learner import Features, Scores, Table
    from irplatform_ltr.options import LinearOptions


class PairwiseLinear:
    """A weighted sum of standardized features."""

    def __init__(self, options: LinearOptions) -> None:
        self._options = options
        self._standard = Standard(np.zeros(0), np.zeros(0))
        self._weights: Scores = np.zeros(0)

    def fit(self, table: Table, seed: int) -> None:
        """Find the weights."""
        self._standard = Standard.of(table)
        self._weights = pairwise_weights(
            self._standard(table.features),
            table.grades,
            table.offsets,
            l2=self._options.l2,
            seed=seed,
        )

    def score(self, features: Features) -> Scores:
        """The weighted sum."""
        # Row by row in the same order of additions, however many documents there are.
        return np.asarray(np.einsum("ij,j->i", self._standard(features), self._weights))

    def contributions(self, features: Features) -> Scores:
        """The products of weights and standardized features; the constant is 0."""
        return np.pad(self._standard(features) * self._weights, ((0, 0), (0, 1)))

    def save(self, folder: Path, name: str) -> None:
        """Write weights, means and deviations as JSON."""
        write_weights(folder / f"{name}.json", self._standard, weights=self._weights)

    def load(self, folder: Path, name: str) -> None:
        """Read them."""
        path = folder / f"{name}.json"
        self._standard, (self._weights,) = read_weights(path, "linear model", "weights")
