"""What learners share: the table that they learn from, and the form of a learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pathlib import Path

Features = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """Documents of training topics, one topic behind the other.

    Attributes:
        features: float32 [documents, features].
        grades: float64 [documents], 0 or more.
        offsets: int64 [topics + 1], where each topic begins.
    """

    features: Features
    grades: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]


class Learner(Protocol):
    """A score of a document's features."""

    def fit(self, table: Table, seed: int) -> None:
        """Learn; the same for the same table and seed."""

    def score(self, features: Features) -> Scores:
        """One score per document, higher is better."""

    def contributions(self, features: Features) -> Scores:
        """What each feature adds to the score: [documents, features + 1], the last is constant."""

    def save(self, folder: Path, name: str) -> None:
        """Write what was learned."""

    def load(self, folder: Path, name: str) -> None:
        """Read what `save` wrote."""
