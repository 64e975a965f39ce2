"""A member of a system: trained on its split, its weights and out-of-sample scores written.

A member that is finished is known by its record, and is not trained again when an interrupted
training goes on.
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError, PluginError
from irplatform.json_io import read_own_json
from irplatform.plugin import TrainableReranker, TrainingData
from irplatform.reranking.scoring import Values, final_scores
from irplatform.storage import atomic_write
from irplatform.training.checkpoints import member_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Topic
    from irplatform.reranking.splits import Split
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.reranking.training_set import Example
    from irplatform.resources import CollectionResources

_SCORES = "scores.npz"
_FINISHED = "finished.json"


@dataclass(frozen=True)
class Member:
    """A member to train.

    Attributes:
        choice: the reranker.
        split: what it learns from and is validated on.
        resources: the harness's resources, with the member's seed.
        number: which one it is, from 0.
        folder: of the checkpoint.
        start: the weights that it starts from; None for its own.
        held_out: topics that nothing may be learned of.
    """

    choice: RerankerChoice
    split: Split[Example]
    resources: CollectionResources
    number: int
    folder: Path
    start: Path | None
    held_out: Sequence[Topic] = ()

    @property
    def workspace(self) -> Path:
        """Where it keeps its state while it is trained."""
        return workspace(self.folder, self.number)

    def train(self) -> float:
        """Train, write weights and scores.

        Returns:
            The seconds that it took, whenever that was, without what other members use as well:
            word vectors, the forward index.
        """
        if self.finished:
            return float(self.record["seconds"])
        began, shared = time.monotonic(), sum(self.resources.stopwatch.seconds.values())
        self.workspace.mkdir(exist_ok=True)
        reranker = self.fit(self.workspace)
        registration = self.choice.registration
        topics = [example.topic for example in self.split.weighing]
        candidates = {e.topic.id: e.labelled.candidates for e in self.split.weighing}
        scores = final_scores(registration, [reranker], topics, candidates, self.resources)
        weights = member_folder(self.folder, self.number)
        shutil.rmtree(weights, ignore_errors=True)
        weights.mkdir()
        with registration.plugin_call("saving"):
            reranker.save(weights)
        if not any(weights.iterdir()):
            raise PluginError(
                f"{registration.who}: save() wrote nothing, so what it learned would be lost."
            )
        np.savez(self.workspace / _SCORES, *scores.values())
        shared = sum(self.resources.stopwatch.seconds.values()) - shared
        seconds = time.monotonic() - began - shared
        vectors = {key: str(path) for key, path in self.resources.vectors_used.items()}
        record = json.dumps({"seconds": seconds, "vectors": vectors})
        with atomic_write(self.workspace / _FINISHED) as file:
            file.write(record)
        return seconds

    @property
    def finished(self) -> bool:
        """Whether weights and scores are there, and the word vectors that they go with."""
        if not (self.workspace / _FINISHED).exists():
            return False
        return all(Path(path).is_dir() for path in self.record["vectors"].values())

    @property
    def record(self) -> dict[str, Any]:
        """What was written when the member was finished."""
        record: dict[str, Any] = read_own_json(self.workspace / _FINISHED)
        return record

    def fit(self, workspace: Path) -> TrainableReranker:
        """Train, keeping the state in the workspace."""
        reranker = self.choice.create(self.resources)
        if not isinstance(reranker, TrainableReranker):
            raise InputError(f"reranker '{self.choice.name}' does not learn.")
        if self.start is not None:
            with self.choice.registration.plugin_call("loading its pre-training"):
                reranker.load(self.start)
        data = TrainingData(
            [example.labelled for example in self.split.training],
            [example.labelled for example in self.split.validation],
            workspace,
            self.held_out,
        )
        with self.choice.registration.plugin_call("learning"):
            reranker.fit(data)
        return reranker

    def scores(self) -> dict[str, Values]:
        """Scores of the topics that the weight is chosen on, by topic."""
        with np.load(self.workspace / _SCORES, allow_pickle=False) as arrays:
            return {
                example.topic.id: arrays[f"arr_{number}"]
                for number, example in enumerate(self.split.weighing)
            }


def workspace(folder: Path, number: int) -> Path:
    """Where a member in training keeps its state."""
    return folder / f"work-{number}"
