"""Training the members of a system, several at once where that is worth it.

The first member is trained here. If it took long, the others are trained in processes of their
own, as many at once as there are cores: what a member learns depends on its seed and its topics
alone, so the weights are to the byte those of training one after another. A member that is
finished is kept, and is not trained again when an interrupted training goes on.
"""

from __future__ import annotations

import json
import pickle
import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from irplatform.console import speak_as
from irplatform.devices import choose_device
from irplatform.errors import InputError
from irplatform.plugin import TrainableReranker, TrainingData
from irplatform.registry import registry
from irplatform.reranking.scoring import Values, score_topics
from irplatform.reranking.systems import RerankerChoice, member_folder
from irplatform.text.workers import ordered_map

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.plugin import Options
    from irplatform.reranking.lessons import Example
    from irplatform.reranking.splits import Split
    from irplatform.resources import CollectionResources

WORTH_PROCESSES = 20.0
"""Seconds that the first member takes, from which on the others get processes of their own: these
need some seconds to start, and memory for their own copies of what is learned from."""
_SCORES = "scores.npz"
_FINISHED = "finished.json"


def train_members(
    choice: RerankerChoice,
    splits: Sequence[Split[Example]],
    resources: CollectionResources,
    folder: Path,
    start: Path | None,
) -> list[dict[str, Values]]:
    """Train one member per split, and write their weights.

    Args:
        choice: the reranker.
        splits: what each learns from and is validated on.
        resources: what the harness lends; member n has its seed plus n.
        folder: of the checkpoint. Members that it has are not trained again.
        start: the weights that every member starts from.

    Returns:
        Per member the scores of its validation topics' candidates.
    """
    jobs = [
        _Job(choice, split, replace(resources, seed=resources.seed + number), number, folder, start)
        for number, split in enumerate(splits)
    ]
    first, others = jobs[0], jobs[1:]
    workers = min(len(others), resources.threads // resources.model_threads)
    if first.run() >= WORTH_PROCESSES and workers > 1 and _can_travel(first):
        threads = max(1, resources.threads // workers)
        sent = (_Parcel.of(job, threads, f"member {job.number + 1}") for job in others)
        for _ in ordered_map(_run_parcel, sent, workers=workers):
            pass
    else:
        for job in others:
            job.run()
    return [job.scores() for job in jobs]


@dataclass(frozen=True)
class _Job:
    """A member to train."""

    choice: RerankerChoice
    split: Split[Example]
    resources: CollectionResources
    number: int
    folder: Path
    start: Path | None

    @property
    def workspace(self) -> Path:
        return workspace(self.folder, self.number)

    def run(self) -> float:
        """Train, write weights and scores; the seconds that it took, whenever that was."""
        finished = self.workspace / _FINISHED
        if finished.exists():
            return float(json.loads(finished.read_text(encoding="utf-8"))["seconds"])
        began = time.monotonic()
        self.workspace.mkdir(exist_ok=True)
        member = self.choice.create(self.resources)
        if not isinstance(member, TrainableReranker):
            raise InputError(f"reranker '{self.choice.name}' does not learn.")
        if self.start is not None:
            member.load(self.start)
        data = TrainingData(
            [example.labelled for example in self.split.training],
            [example.labelled for example in self.split.validation],
            self.workspace,
        )
        with self.choice.registration.at_work("learning"):
            member.fit(data)
        scores = score_topics(
            self.choice.registration,
            [member],
            [example.topic for example in self.split.validation],
            {e.topic.id: e.labelled.candidates for e in self.split.validation},
            self.resources,
        )
        weights = member_folder(self.folder, self.number)
        shutil.rmtree(weights, ignore_errors=True)
        weights.mkdir()
        member.save(weights)
        np.savez(self.workspace / _SCORES, *scores.values())
        seconds = time.monotonic() - began
        finished.write_text(json.dumps({"seconds": seconds}), encoding="utf-8")
        return seconds

    def scores(self) -> dict[str, Values]:
        """Scores of the validation topics, by topic."""
        with np.load(self.workspace / _SCORES, allow_pickle=False) as held:
            return {
                example.topic.id: held[f"arr_{number}"]
                for number, example in enumerate(self.split.validation)
            }


def workspace(folder: Path, number: int) -> Path:
    """Where a member in training keeps its state."""
    return folder / f"work-{number}"


@dataclass(frozen=True)
class _Parcel:
    """A job as it goes to another process, where plugins are loaded anew."""

    reranker: str
    options: Options
    split: Split[Example]
    resources: CollectionResources
    number: int
    folder: Path
    start: Path | None
    speaker: str

    @classmethod
    def of(cls, job: _Job, threads: int, speaker: str) -> _Parcel:
        lent = replace(job.resources.unopened(), threads=threads)
        chosen = job.choice
        held = (job.split, lent, job.number, job.folder, job.start)
        return cls(chosen.name, chosen.options, *held, speaker)


def _run_parcel(parcel: _Parcel) -> None:
    speak_as(parcel.speaker)
    choose_device(parcel.resources.device, parcel.resources.model_threads)
    choice = RerankerChoice(registry().reranker(parcel.reranker), parcel.options)
    _Job(choice, parcel.split, parcel.resources, parcel.number, parcel.folder, parcel.start).run()


def _can_travel(job: _Job) -> bool:
    """Whether another process can train the job: not on a GPU, and with what it can import."""
    if job.resources.device != "cpu":
        return False
    if registry().rerankers.get(job.choice.name) != job.choice.registration:
        return False
    try:
        pickle.dumps((job.choice.options, job.resources.unopened()))
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True
