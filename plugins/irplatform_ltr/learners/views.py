"""Learners that read all features, averaged with learners that do without those that remember.

What training topics say of a document is so telling for those documents that it pushes out the
others: a model that reads it finds them less often than one that does not. The mean of both keeps
most of what either finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform_ltr.learners.ensemble import Ensemble
from irplatform_ltr.learners.learner import Table

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from irplatform_ltr.learners.learner import Features, Scores
    from irplatform_ltr.options import LtrOptions

_READING = "reading"
"""The folder of the learners that do not remember."""


class Views:
    """Learners that read all features and, where some remember documents, as many without those.

    Args:
        options: the learners, and the share of those that read all.
        remembers: bool, per feature, whether it remembers.
        threads: how many to use; they change no score.
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
        """Fit both."""
        self._all.fit(table, seed)
        if self._reading is not None:
            part = np.ascontiguousarray(table.features[:, self._columns])
            self._reading.fit(Table(part, table.grades, table.offsets), seed)

    def score(self, features: Features) -> Scores:
        """The mean of both."""
        scores = self._all.score(features)
        if self._reading is None:
            return scores
        return np.asarray(
            self._share * scores
            + (1 - self._share) * self._reading.score(features[:, self._columns])
        )

    def contributions(self, features: Features) -> Scores:
        """What each feature adds to the mean; see `Learner`."""
        adds = self._all.contributions(features)
        if self._reading is None:
            return adds
        adds = adds * self._share
        columns = [*self._columns, adds.shape[1] - 1]
        part = self._reading.contributions(features[:, self._columns])
        adds[:, columns] += (1 - self._share) * part
        return np.asarray(adds)

    def save(self, folder: Path) -> None:
        """Write both."""
        self._all.save(folder)
        if self._reading is not None:
            (folder / _READING).mkdir()
            self._reading.save(folder / _READING)

    def load(self, folder: Path) -> None:
        """Read both."""
        self._all.load(folder)
        if self._reading is not None:
            self._reading.load(folder / _READING)
