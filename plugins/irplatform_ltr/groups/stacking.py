"""Scores of other rerankers as features (stacked generalization: Wolpert, Neural Networks 1992).

A reranker that learns is trained out of fold, along with the model that reads its scores (see
`cross_fitting`). A checkpoint is taken as it is, and refused where it has seen the topics.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.kit import Checkpoint
from irplatform.plugin import (
    Documents,
    FeatureGroup,
    Field,
    InputError,
    NamedSystem,
    Options,
    Reads,
    Reranker,
    Resources,
    Topic,
    TrainableFeatureGroup,
    TrainableReranker,
    TrainingData,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.kit import Float32


class StackOptions(Options):
    """Options of stacked rerankers."""

    rerankers: tuple[str, ...] = Field((), description="names of rerankers")
    settings: dict[str, dict[str, Any]] = Field({}, description="their options, by name")


class Stacked(TrainableFeatureGroup):
    """Scores of other rerankers, which are trained out of fold where they learn."""

    Options = StackOptions
    options: StackOptions
    _rerankers: dict[str, Reranker]

    def reads(self) -> Reads:
        names, settings = self.options.rerankers, self.options.settings
        return Reads(systems=NamedSystem.several("reranker", names, settings, named_in="rerankers"))

    def prepare(self, resources: Resources) -> None:
        self._rerankers = {
            name: resources.reranker(name, self.options.settings.get(name))
            for name in self.options.rerankers
        }

    def names(self) -> tuple[str, ...]:
        return self.options.rerankers

    def fit(self, data: TrainingData) -> None:
        for name, reranker in self._rerankers.items():
            if isinstance(reranker, TrainableReranker):
                workspace = data.workspace / name
                workspace.mkdir(parents=True, exist_ok=True)
                reranker.fit(replace(data, workspace=workspace))

    def compute_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        return _side_by_side(
            [reranker.score_batch(batch) for reranker in self._rerankers.values()], batch
        )

    def save(self, folder: Path) -> None:
        for name, reranker in self._rerankers.items():
            (folder / name).mkdir()
            if isinstance(reranker, TrainableReranker):
                reranker.save(folder / name)

    def load(self, folder: Path) -> None:
        for name, reranker in self._rerankers.items():
            if isinstance(reranker, TrainableReranker):
                reranker.load(folder / name)


class CheckpointOptions(Options):
    """Options of the scores of checkpoints."""

    folders: tuple[str, ...] = Field((), description="checkpoints that `platform train` wrote")


class Checkpoints(FeatureGroup):
    """Scores of checkpoints that were trained on other topics, their members averaged."""

    Options = CheckpointOptions
    options: CheckpointOptions
    _members: list[Sequence[Reranker]]
    _device: str
    _threads: int

    def reads(self) -> Reads:
        for folder in self._folders:
            Checkpoint.read(folder).check_files()
        return Reads(checkpoints=tuple(self._folders))

    @property
    def _folders(self) -> list[Path]:
        return [Path(folder) for folder in self.options.folders]

    def prepare(self, resources: Resources) -> None:
        self._device, self._threads = resources.device, resources.model_threads
        self._members = [resources.checkpoint(folder) for folder in self._folders]

    def names(self) -> tuple[str, ...]:
        return tuple(f"{number} {path.name}" for number, path in enumerate(self._folders, start=1))

    def prepared_with(self) -> Mapping[str, object]:
        """Where they compute: other devices, and other numbers of threads, round otherwise."""
        device = {} if self._device == "cpu" else {"device": self._device}
        return {"model_threads": self._threads, **device}

    def lacks(self, topics: Sequence[Topic]) -> str:
        """Nothing; but a checkpoint must not have been trained on these topics."""
        for folder in self._folders:
            if overlap := Checkpoint.read(folder).learned(topics):
                raise InputError(
                    f"this checkpoint was trained on {len(overlap)} of the {len(topics)} topics of "
                    "training and validation. Name its reranker in "
                    f"{Options.spelled({'ltr.stack': '[…]'})}: it is then trained out of fold.",
                    path=folder,
                )
        return ""

    def compute_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        means = []
        for members in self._members:
            member_scores = [member.score_batch(batch) for member in members]
            means.append([np.mean(scores, axis=0) for scores in zip(*member_scores, strict=True)])
        return _side_by_side(means, batch)


def _side_by_side(
    scores: Sequence[Sequence[Sequence[float]]], batch: Sequence[tuple[Topic, Documents]]
) -> list[Float32]:
    return [
        np.array([of_system[number] for of_system in scores], dtype=np.float32)
        .reshape(len(scores), len(documents))
        .T
        for number, (_, documents) in enumerate(batch)
    ]
