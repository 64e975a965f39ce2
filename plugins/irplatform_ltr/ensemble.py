"""Learners averaged, and averaged once more with learners that remember no documents.

Each learner's scores are divided by their standard deviation among the training documents of a
topic. So all have the same say, and a document's score does not depend on the others.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from irplatform.kit import centered, read_json
from irplatform.plugin import InputError
from irplatform_ltr.learners import PairwiseLinear, Table, Trees
from irplatform_ltr.pairwise_network import PairwiseNetwork

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from irplatform_ltr.learners import Features, Scores
    from irplatform_ltr.options import LtrOptions


Learner = Trees | PairwiseLinear | PairwiseNetwork
"""Its contributions are [documents, features + 1]: the shares of a score, and a constant."""

_FILE = "ensemble.json"


class Ensemble:
    """Named learners and what each one's scores are divided by."""

    def __init__(self, learners: dict[str, Learner]) -> None:
        self.learners = learners
        self._scales: dict[str, float] = {}

    @classmethod
    def of(cls, options: LtrOptions, threads: int = 1) -> Ensemble:
        """The learners that the options name; the number of threads changes no score."""
        learners: dict[str, Learner] = {}
        if options.learner in ("trees", "average"):
            learners["lambdamart"] = Trees("lambdarank", options.tree, threads)
        if options.learner == "average":
            learners["regression"] = Trees("regression", options.tree, threads)
        if options.learner in ("linear", "average"):
            learners["linear"] = PairwiseLinear(options.linear)
        if options.learner in ("network", "average"):
            learners["network"] = PairwiseNetwork(options.network)
        return cls(learners)

    def fit(self, table: Table, seed: int) -> None:
        for name, learner in self.learners.items():
            learner.fit(table, seed)
            within = centered(learner.score(table.features), table.offsets)
            deviation = float(np.sqrt(np.mean(within**2)))
            self._scales[name] = deviation or 1.0

    def score(self, features: Features) -> Scores:
        return self._mean(
            {name: learner.score(features) for name, learner in self.learners.items()}
        )

    def contributions(self, features: Features) -> Scores:
        return self._mean(
            {n: learner.contributions(features) for n, learner in self.learners.items()}
        )

    def _mean(self, values: dict[str, Scores]) -> Scores:
        scaled = [value / self._scales[name] for name, value in values.items()]
        return np.asarray(np.sum(scaled, axis=0) / len(scaled))

    def save(self, folder: Path) -> None:
        (folder / _FILE).write_text(json.dumps({"scales": self._scales}), encoding="utf-8")
        for name, learner in self.learners.items():
            learner.save(folder, name)

    def load(self, folder: Path) -> None:
        path = folder / _FILE
        try:
            scales = read_json(path)["scales"]
            self._scales = {name: float(scales[name]) for name in self.learners}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"this holds no model with the learners {', '.join(self.learners)}.", path=path
            ) from error
        for name, learner in self.learners.items():
            learner.load(folder, name)


_READING = "reading"  # the folder of the learners that do not remember


class Views:
    """Learners that read all features and, where some remember documents, as many without those.

    A model that reads what training topics say of a document finds other documents less often. The
    mean of both keeps most of what either finds. `remembers` is a bool for each feature.
    """

    def __init__(
        self, options: LtrOptions, remembers: npt.NDArray[np.bool_], threads: int = 1
    ) -> None:
        two = options.memory_share < 1 and remembers.any() and not remembers.all()
        self._share = options.memory_share if two else 1.0
        self._all = Ensemble.of(options, threads)
        self._reading = Ensemble.of(options, threads) if two else None
        self._columns = np.flatnonzero(~remembers)

    def fit(self, table: Table, seed: int) -> None:
        self._all.fit(table, seed)
        if self._reading is not None:
            part = np.ascontiguousarray(table.features[:, self._columns])
            self._reading.fit(Table(part, table.grades, table.offsets), seed)

    def score(self, features: Features) -> Scores:
        scores = self._all.score(features)
        if self._reading is None:
            return scores
        return np.asarray(
            self._share * scores
            + (1 - self._share) * self._reading.score(features[:, self._columns])
        )

    def contributions(self, features: Features) -> Scores:
        adds = self._all.contributions(features)
        if self._reading is None:
            return adds
        adds = adds * self._share
        columns = [*self._columns, adds.shape[1] - 1]
        part = self._reading.contributions(features[:, self._columns])
        adds[:, columns] += (1 - self._share) * part
        return np.asarray(adds)

    def save(self, folder: Path) -> None:
        self._all.save(folder)
        if self._reading is not None:
            (folder / _READING).mkdir()
            self._reading.save(folder / _READING)

    def load(self, folder: Path) -> None:
        self._all.load(folder)
        if self._reading is not None:
            self._reading.load(folder / _READING)
