"""Features for the last layer of a neural reranker, as one matrix per topic.

They are opened by name, standardized on the training documents, and cut at ±5, so that a single
feature of an unusual document cannot dominate (our choice). The width depends on names and settings
alone: groups that do not apply to the training topics, and constant features, give zeros. So
weights of pre-training fit a model that is trained on topics with more fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError
from irplatform.features.calculator import Calculator
from irplatform.features.groups import applying, contributions, open_groups
from irplatform.files.writing import share
from irplatform.training.topic_identity import APART

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Topic, TrainingData
    from irplatform.features.groups import Batch, Features, Group
    from irplatform.plugin.resources import Resources
    from irplatform.training.samplers import Pool


FOLDS = 5
"""Of training topics, for groups that learn."""
_SHARED = 200_000
"""The most candidates that are computed for all members of a system together."""
_TOPICS_AT_ONCE = 50
_MOST = 5.0
_GROUPS = "features.json"
_SCALES = "features.safetensors"


class SideFeatures:
    """Standardized features of some groups, for any topic and documents.

    `fit` or `load` comes before `matrix`, `matrices` and `save`, which raise InputError otherwise.
    Unknown or repeated names and stray settings are an InputError, too.
    """

    def __init__(
        self, names: Sequence[str], settings: Mapping[str, Mapping[str, Any]], resources: Resources
    ) -> None:
        self._resources = resources
        self._groups = open_groups(names, settings, resources)
        self._group_names: set[str] = set()
        self._ready = not names
        self._mean = np.zeros(self.width, dtype=np.float32)
        self._scale = np.zeros(self.width, dtype=np.float32)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features, as `group.feature`."""
        return tuple(name for group in self._groups for name in group.columns)

    @property
    def width(self) -> int:
        """How many features there are."""
        return len(self.columns)

    def fit(self, data: TrainingData, pools: Sequence[Pool]) -> list[Features]:
        """Learn from training topics: groups that learn, mean and deviation of every feature.

        Returns:
            The `matrix` of each pool's documents, float32 [documents, width]; learned features come
            from instances that never saw the topic's judgments.
        """
        topics = [labelled.topic for labelled in (*data.training, *data.validation)]
        calculator = Calculator(self._resources)
        columns: list[list[Features]] = []
        groups: list[Group] = []
        self._group_names = {
            group.name for group in applying(self._groups, topics, self._resources)
        }
        for unfitted in self._groups:
            group = unfitted
            if group.name in self._group_names:
                if group.learns:
                    group = calculator.out_of_fold(group, data, FOLDS, APART)
                columns.append(self._of_pools(group, pools, data))
            else:
                width = len(group.columns)
                columns.append([np.zeros((len(pool.doc_ids), width), np.float32) for pool in pools])
            groups.append(group)
        self._groups = groups
        self._ready = True
        raw = [
            _joined(matrices, pool.doc_ids) for pool, *matrices in zip(pools, *columns, strict=True)
        ]
        self._learn_scales(raw)
        return [self._standardized(values) for values in raw]

    def _of_pools(self, group: Group, pools: Sequence[Pool], data: TrainingData) -> list[Features]:
        """Features of pools.

        Members of a system learn from different parts of the same topics. So the candidates of all
        topics come from the cache, if they are not too many.
        """
        calculator = Calculator(self._resources)
        topics = sorted([*data.training, *data.validation], key=lambda t: t.topic.id)
        if sum(len(labelled.candidates) for labelled in topics) <= _SHARED:
            calculator.remember(group, [(t.topic, t.candidates) for t in topics])
        features: list[Features] = []
        for start in range(0, len(pools), _TOPICS_AT_ONCE):
            batch = [
                (pool.labelled.topic, self._resources.documents(pool.doc_ids))
                for pool in pools[start : start + _TOPICS_AT_ONCE]
            ]
            features += calculator.compute(group, batch)
        return features

    def _learn_scales(self, raw: Sequence[Features]) -> None:
        values = np.concatenate([*raw, np.empty((0, self.width), np.float32)]).astype(np.float64)
        if len(values):
            deviation = values.std(axis=0)
            self._mean = values.mean(axis=0).astype(np.float32)
            varies = deviation > 1e-6 * np.maximum(1.0, np.abs(self._mean))
            self._scale = np.where(varies, 1 / np.maximum(deviation, 1e-12), 0).astype(np.float32)

    def _standardized(self, values: Features) -> Features:
        standard: Features = ((values - self._mean) * self._scale).clip(-_MOST, _MOST)
        return standard

    def matrix(self, topic: Topic, doc_ids: Sequence[str]) -> Features:
        """Features of documents of a topic: float32 [documents, width], standardized, within ±5."""
        return self.matrices([(topic, doc_ids)])[0]

    def matrices(self, asked: Sequence[tuple[Topic, Sequence[str]]]) -> list[Features]:
        """The `matrix` of several topics; groups may compute all of them at once."""
        self._require_ready()
        batch: Batch = [(topic, self._resources.documents(ids)) for topic, ids in asked]
        calculator = Calculator(self._resources)
        columns = [
            calculator.compute(group, batch)
            if group.name in self._group_names
            else [np.zeros((len(docs), len(group.columns)), np.float32) for _, docs in batch]
            for group in self._groups
        ]
        return [
            self._standardized(_joined(matrices, ids))
            for (_, ids), *matrices in zip(asked, *columns, strict=True)
        ]

    def contributions(
        self, values: Features, adds: npt.NDArray[np.floating[Any]]
    ) -> dict[str, Any]:
        """The part of one document's score that features make, without the groups left out.

        `values` is a row of `matrix`; `adds` is what each feature adds to the score.
        """
        flags = [group.name in self._group_names for group in self._groups]
        mask = np.repeat(flags, [len(group.columns) for group in self._groups])
        groups = [group.columns for group in self._groups if group.name in self._group_names]
        return contributions(groups, values[mask], adds[mask])

    def _require_ready(self) -> None:
        if not self._ready:
            names = ", ".join(group.name for group in self._groups)
            raise InputError(
                f"this model was trained without the features {names}. Train it again."
            )

    @staticmethod
    def saved_in(folder: Path) -> bool:
        """Whether a folder has what `save` writes if there are groups."""
        return (folder / _GROUPS).exists()

    def save(self, folder: Path) -> None:
        """Write what was learned into a folder, beside the weights; nothing without groups."""
        self._require_ready()
        if self._groups:
            from safetensors.numpy import save_file

            Calculator.save(
                [g for g in self._groups if g.name in self._group_names], folder / _GROUPS
            )
            save_file({"mean": self._mean, "scale": self._scale}, folder / _SCALES)
            share(folder / _SCALES)

    def load(self, folder: Path) -> None:
        """Read what `save` wrote; InputError if it is damaged or for other groups."""
        if not self._groups:
            return
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        saved = {g.name: g for g in Calculator(self._resources).load(folder / _GROUPS)}
        names = [group.name for group in self._groups]
        try:
            scales = load_file(folder / _SCALES)
            mean, scale = scales["mean"], scales["scale"]
        except (OSError, SafetensorError, KeyError) as error:
            raise InputError("this is not a file of scales.", path=folder / _SCALES) from error
        if set(saved) - set(names) or mean.shape != (self.width,):
            raise InputError(
                f"this model reads other features ({', '.join(saved)}) than {', '.join(names)}.",
                path=folder / _GROUPS,
            )
        self._group_names = set(saved)
        self._groups = [saved.get(group.name, group) for group in self._groups]
        self._mean, self._scale = mean, scale
        self._ready = True


def _joined(matrices: Sequence[Features], doc_ids: Sequence[str]) -> Features:
    if not matrices:
        return np.empty((len(doc_ids), 0), dtype=np.float32)
    return np.hstack(list(matrices))
