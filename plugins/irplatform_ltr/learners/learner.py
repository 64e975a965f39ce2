"""What learners share: the table that they learn from, and the form of a learner."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError
from irplatform.system.formats import read_own_json
from irplatform.training.losses import centered

if TYPE_CHECKING:
    from collections.abc import Mapping
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


# Standardized features: against the mean of all training documents, extreme values clipped.
#
# The unit is the standard deviation within topics, since only documents of one topic are compared.

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


# Weights of a model over standardized features, as JSON.


def write_weights(path: Path, standard: Standard, **weights: Scores) -> None:
    """Write arrays under their names, with means and deviations of the features."""
    content = {name: values.tolist() for name, values in weights.items()} | standard.written()
    path.write_text(json.dumps(content), encoding="utf-8")


def read_weights(path: Path, kind: str, *names: str) -> tuple[Standard, list[Scores]]:
    """Read what `write_weights` wrote."""
    try:
        content = read_own_json(path)
        weights = [np.array(content[name], dtype=np.float64) for name in names]
        return Standard.read(content), weights
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"this is no {kind}.", path=path) from error
