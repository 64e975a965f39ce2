"""Gradient-boosted trees by LightGBM (Ke et al., NeurIPS 2017).

LambdaMART (Burges, MSR-TR-2010-82) optimizes nDCG by the order of a topic's documents; regression
trees fit grades, centered per topic so that no tree is spent on how many relevant documents a
topic has. Both are kept as LightGBM's text files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from irplatform.errors import InputError
from irplatform.training.losses import centered

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from irplatform_ltr.learners.learner import Features, Scores, Table
    from irplatform_ltr.options import TreeOptions

_HIGHEST_GRADE = 1000
"""The highest label of LambdaMART, to which the gain of each has to be told. Gains are the labels
themselves, not powers of 2."""
MOST_DOCUMENTS = 10_000
"""LightGBM's LambdaMART refuses a topic with more."""
_MANY = 100_000
"""Documents from which on several threads are used."""
_THREADS = re.compile(r"^\[num_threads: \d+\]$", re.MULTILINE)


class Trees:
    """Boosted trees."""

    def __init__(
        self, objective: Literal["lambdarank", "regression"], options: TreeOptions, threads: int = 1
    ) -> None:
        self._threads = threads
        self._objective = objective
        self._options = options
        self._booster: Any = None

    def fit(self, table: Table, seed: int) -> None:
        """Boost on a table of training documents."""
        import lightgbm

        ranking = self._objective == "lambdarank"
        labels = levels(table.grades) if ranking else centered(table.grades, table.offsets)
        data = lightgbm.Dataset(
            table.features,
            label=labels,
            group=np.diff(table.offsets) if ranking else None,
            params={"verbose": -1},
            free_raw_data=True,
        )
        parameters = self._parameters(seed, int(labels.max()))
        # On small tables threads wait for one another longer than they work.
        parameters["num_threads"] = self._threads if len(labels) >= _MANY else 1
        self._booster = lightgbm.train(parameters, data, self._options.trees)

    def _parameters(self, seed: int, highest: int) -> dict[str, Any]:
        options = self._options
        ranking = {
            "lambdarank_truncation_level": options.cutoff,
            "label_gain": [float(grade) for grade in range(highest + 1)],
        }
        return {
            "objective": self._objective,
            "learning_rate": options.rate,
            "num_leaves": options.leaves,
            "min_data_in_leaf": options.leaf_documents,
            "feature_fraction": options.feature_share,
            "bagging_fraction": options.document_share,
            "bagging_freq": 1,
            "lambda_l2": options.l2,
            "seed": seed,
            "deterministic": True,
            "force_row_wise": True,
            "verbose": -1,
            **(ranking if self._objective == "lambdarank" else {}),
        }

    def score(self, features: Features) -> Scores:
        """Sum of the trees' values."""
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
        """Read trees."""
        import lightgbm

        path = folder / f"{name}.txt"
        try:
            self._booster = lightgbm.Booster(model_str=path.read_text(encoding="utf-8"))
        except (OSError, ValueError, lightgbm.basic.LightGBMError) as error:
            raise InputError(f"these are not LightGBM's trees: {error}.", path=path) from error


def levels(grades: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Grades as whole numbers up to 1,000: as they are, or scaled if too high or with decimals."""
    highest = float(grades.max(initial=0))
    if highest <= _HIGHEST_GRADE and not (grades % 1).any():
        return grades.astype(np.int64)
    return np.asarray(np.ceil(grades * (_HIGHEST_GRADE / highest)), dtype=np.int64)
