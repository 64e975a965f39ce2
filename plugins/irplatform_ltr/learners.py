"""Learners over features: gradient-boosted trees and a pairwise linear model.

All learn from a table of training documents. The linear model and the network
(`pairwise_network.py`) read standardized features; the trees are LightGBM's.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from irplatform.kit import centered, pairwise_weights, read_json
from irplatform.plugin import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.kit import Int64
    from irplatform_ltr.options import LinearOptions, TreeOptions


Features = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """Documents of training topics, one topic behind the other."""

    features: Features  # float32 [documents, features]
    grades: npt.NDArray[np.float64]  # float64 [documents], 0 or more
    offsets: Int64  # int64 [topics + 1], where each topic begins


_CLIP = 4.0  # standard deviations


@dataclass(frozen=True)
class Standard:
    """Standardizes features by the deviation within topics, and clips extreme values."""

    mean: Scores  # [features]
    deviation: Scores  # [features]

    @classmethod
    def of(cls, table: Table) -> Standard:
        values = table.features.astype(np.float64)
        deviation = np.sqrt((centered(values, table.offsets) ** 2).mean(axis=0))
        return cls(values.mean(axis=0), deviation)

    def __call__(self, features: Features) -> Scores:
        varies = self.deviation > 1e-9
        scaled = (features - self.mean) / np.where(varies, self.deviation, 1.0)
        return np.asarray(np.clip(np.where(varies, scaled, 0.0), -_CLIP, _CLIP))


def write_weights(path: Path, standard: Standard, **weights: Scores) -> None:
    """Write arrays under their names, with means and deviations of the features."""
    arrays = {**weights, **vars(standard)}
    content = {name: values.tolist() for name, values in arrays.items()}
    path.write_text(json.dumps(content), encoding="utf-8")


def read_weights(path: Path, kind: str, *names: str) -> tuple[Standard, list[Scores]]:
    """Read what `write_weights` wrote."""
    try:
        content = read_json(path)
        weights = [np.array(content[name], dtype=np.float64) for name in names]
        return Standard(np.array(content["mean"]), np.array(content["deviation"])), weights
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"this is not a {kind}.", path=path) from error


_HIGHEST_GRADE = 1000
"""The highest label of LambdaMART, whose gains are the labels themselves, not powers of 2."""
_MANY = 1_000_000
"""Documents from which on several threads are used: before, they wait longer than they work."""
_THREADS = re.compile(r"^\[num_threads: \d+\]$", re.MULTILINE)


@dataclass
class Trees:
    """Gradient-boosted trees by LightGBM (Ke et al., NeurIPS 2017).

    LambdaMART (Burges, MSR-TR-2010-82) optimizes nDCG. Regression trees fit grades, centered per
    topic: no tree is spent on how many relevant documents a topic has.
    """

    objective: Literal["lambdarank", "regression"]
    options: TreeOptions
    threads: int = 1
    _booster: Any = None

    def fit(self, table: Table, seed: int) -> None:
        import lightgbm

        ranking = self.objective == "lambdarank"
        labels = levels(table.grades) if ranking else centered(table.grades, table.offsets)
        data = lightgbm.Dataset(
            table.features,
            label=labels,
            group=np.diff(table.offsets) if ranking else None,
            params={"verbose": -1},
            free_raw_data=True,
        )
        parameters = self._parameters(seed, int(labels.max()))
        parameters["num_threads"] = self.threads if len(labels) >= _MANY else 1
        self._booster = lightgbm.train(parameters, data, self.options.trees)

    def _parameters(self, seed: int, highest: int) -> dict[str, Any]:
        options = self.options
        ranking = {
            "lambdarank_truncation_level": options.cutoff,
            "label_gain": [float(grade) for grade in range(highest + 1)],
        }
        return {
            "objective": self.objective,
            "learning_rate": options.rate,
            "num_leaves": options.leaves,
            "min_data_in_leaf": options.leaf_documents,
            "feature_fraction": options.feature_share,
            "bagging_fraction": options.document_share,
            "bagging_freq": 1,
            "lambda_l2": options.l2,
            "seed": seed,
            "deterministic": True,
            "force_col_wise": True,  # a tree reads the features alone that it may use
            "verbose": -1,
            **(ranking if self.objective == "lambdarank" else {}),
        }

    def score(self, features: Features) -> Scores:
        scores: Scores = self._booster.predict(features, num_threads=1)
        return scores

    def contributions(self, features: Features) -> Scores:
        """Shapley values of the features in the trees (Lundberg and Lee, NeurIPS 2017)."""
        values: Scores = self._booster.predict(features, num_threads=1, pred_contrib=True)
        return values

    def save(self, folder: Path, name: str) -> None:
        """Write the trees as text, without the number of threads that grew them."""
        text = _THREADS.sub("[num_threads: 1]", self._booster.model_to_string())
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")

    def load(self, folder: Path, name: str) -> None:
        import lightgbm

        path = folder / f"{name}.txt"
        try:
            self._booster = lightgbm.Booster(model_str=path.read_text(encoding="utf-8"))
        except (OSError, ValueError, lightgbm.basic.LightGBMError) as error:
            raise InputError(f"these are not LightGBM's trees: {error}.", path=path) from error


def levels(grades: npt.NDArray[np.float64]) -> Int64:
    """Grades as whole numbers up to 1,000: as they are, or scaled if too high or with decimals."""
    highest = float(grades.max(initial=0))
    if highest <= _HIGHEST_GRADE and not (grades % 1).any():
        return grades.astype(np.int64)
    return np.asarray(np.ceil(grades * (_HIGHEST_GRADE / highest)), dtype=np.int64)


class PairwiseLinear:
    """A weighted sum of standardized features (`pairwise_weights`)."""

    _standard: Standard
    _weights: Scores

    def __init__(self, options: LinearOptions) -> None:
        self._options = options

    def fit(self, table: Table, seed: int) -> None:
        self._standard = Standard.of(table)
        self._weights = pairwise_weights(
            self._standard(table.features),
            table.grades,
            table.offsets,
            l2=self._options.l2,
            seed=seed,
        )

    def score(self, features: Features) -> Scores:
        # Not a matrix product, which rounds differently for different numbers of documents.
        return np.asarray(np.einsum("ij,j->i", self._standard(features), self._weights))

    def contributions(self, features: Features) -> Scores:
        """The products of weights and standardized features; the constant is 0."""
        return np.pad(self._standard(features) * self._weights, ((0, 0), (0, 1)))

    def save(self, folder: Path, name: str) -> None:
        write_weights(folder / f"{name}.json", self._standard, weights=self._weights)

    def load(self, folder: Path, name: str) -> None:
        path = folder / f"{name}.json"
        self._standard, (self._weights,) = read_weights(path, "linear model", "weights")
