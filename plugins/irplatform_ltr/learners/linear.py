"""A linear model of standardized features (`irplatform.training.pairwise_linear`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError
from irplatform.training.pairwise_linear import pairwise_weights
from irplatform_ltr.learners.standard import Standard
from irplatform_ltr.learners.trees import levels

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform_ltr.learners.learner import Features, Scores, Table
    from irplatform_ltr.options import LinearOptions


class PairwiseLinear:
    """A weighted sum of standardized features.

    Args:
        options: regularization.
    """

    def __init__(self, options: LinearOptions) -> None:
        self._options = options
        self._standard = Standard(np.zeros(0), np.zeros(0))
        self._weights: Scores = np.zeros(0)

    def fit(self, table: Table, seed: int) -> None:
        """Find the weights."""
        self._standard = Standard.of(table)
        self._weights = pairwise_weights(
            self._standard(table.features),
            levels(table.grades),
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
        held = {"weights": self._weights.tolist(), **self._standard.written()}
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
            self._standard = Standard.read(held)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("this is no linear model.", path=path) from error

    def weights(self) -> Scores:
        """Per feature, its weight for a standard deviation of it."""
        return self._weights
