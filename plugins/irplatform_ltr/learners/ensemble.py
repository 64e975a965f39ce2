"""Several learners averaged.

Each one's scores are divided by their standard deviation among the training documents of a topic,
so that all have the same say; the factors are learned once, and a document's score does not depend
on which others are scored with it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from irplatform.errors import InputError
from irplatform.json_io import read_own_json
from irplatform.training.per_topic import centered
from irplatform_ltr.learners.linear import PairwiseLinear
from irplatform_ltr.learners.network import PairwiseNetwork
from irplatform_ltr.learners.trees import MOST_DOCUMENTS, Trees

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform_ltr.learners.learner import Features, Learner, Scores, Table
    from irplatform_ltr.options import LtrOptions

_FILE = "ensemble.json"
_LAMBDAMART = ("trees", "average")
"""Values of the option `learner` with LambdaMART among their learners."""


def most_documents(options: LtrOptions) -> int | None:
    """How many documents of a topic the learners can learn from; None for any number."""
    return MOST_DOCUMENTS if options.learner in _LAMBDAMART else None


class Ensemble:
    """Named learners and what each one's scores are divided by."""

    def __init__(self, learners: dict[str, Learner]) -> None:
        self.learners = learners
        self._scales: dict[str, float] = {}

    @classmethod
    def of(cls, options: LtrOptions, threads: int = 1) -> Ensemble:
        """The learners that the options name; the number of threads changes no score."""
        learners: dict[str, Learner] = {}
        if options.learner in _LAMBDAMART:
            learners["lambdamart"] = Trees("lambdarank", options.tree, threads)
        if options.learner == "average":
            learners["regression"] = Trees("regression", options.tree, threads)
        if options.learner in ("linear", "average"):
            learners["linear"] = PairwiseLinear(options.linear)
        if options.learner in ("network", "average"):
            learners["network"] = PairwiseNetwork(options.network)
        return cls(learners)

    def fit(self, table: Table, seed: int) -> None:
        """Fit all of them."""
        for name, learner in self.learners.items():
            learner.fit(table, seed)
            within = centered(learner.score(table.features), table.offsets)
            deviation = float(np.sqrt(np.mean(within**2)))
            self._scales[name] = deviation or 1.0

    def score(self, features: Features) -> Scores:
        """The mean of the learners' scores."""
        scaled = [
            learner.score(features) / self._scales[name] for name, learner in self.learners.items()
        ]
        return np.asarray(np.sum(scaled, axis=0) / len(scaled))

    def contributions(self, features: Features) -> Scores:
        """What each feature adds to the mean; see `Learner`."""
        scaled = [
            learner.contributions(features) / self._scales[name]
            for name, learner in self.learners.items()
        ]
        return np.asarray(np.sum(scaled, axis=0) / len(scaled))

    def save(self, folder: Path) -> None:
        """Write all of them."""
        (folder / _FILE).write_text(json.dumps({"scales": self._scales}), encoding="utf-8")
        for name, learner in self.learners.items():
            learner.save(folder, name)

    def load(self, folder: Path) -> None:
        """Read all of them."""
        path = folder / _FILE
        try:
            scales = read_own_json(path)["scales"]
            self._scales = {name: float(scales[name]) for name in self.learners}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"this holds no model with the learners {', '.join(self.learners)}.", path=path
            ) from error
        for name, learner in self.learners.items():
            learner.load(folder, name)
