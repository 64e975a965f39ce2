"""Training the members of a system, several at once where that is worth it.

The first member is trained here. If it took long, the others are trained in processes of their
own, as many at once as there are cores: what a member learns depends on its seed and its topics
alone, so the weights are to the byte those of training one after another. A member that is
finished is kept, and is not trained again when an interrupted training goes on.

Where several processes are to train a model together (`training.distributed`), all of them fit the
member, and the first writes it.
"""

from __future__ import annotations

import json
import pickle
import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.console import notice, say_nothing, speak_as
from irplatform.devices import choose_device
from irplatform.errors import InputError, PluginError
from irplatform.parallel import all_at_once, ordered_map
from irplatform.plugin import TrainableReranker, TrainingData
from irplatform.registry import registry
from irplatform.reranking.scoring import Values, score_topics
from irplatform.reranking.systems import RerankerChoice
from irplatform.storage import atomic_write
from irplatform.training.checkpoints import member_folder
from irplatform.training.distributed import (
    PROCESSES_VARIABLE,
    Place,
    joined,
    quiet_torch,
    training_processes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.plugin import Options
    from irplatform.reranking.splits import Split
    from irplatform.reranking.training_set import Example
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
) -> tuple[list[dict[str, Values]], dict[str, Path]]:
    """Train one member per split, and write their weights.

    Args:
        choice: the reranker.
        splits: what each learns from and is validated on.
        resources: the harness's resources; member n has its seed plus n.
        folder: of the checkpoint. Members that it has are not trained again.
        start: the weights that every member starts from.

    Returns:
        Per member the scores of the candidates of those topics that a weight is chosen on; and the
        folders of the word vectors that members used, by `VectorSource.key`.
    """
    jobs = [
        _Job(choice, split, resources.of_member(number), number, folder, start)
        for number, split in enumerate(splits)
    ]
    processes = training_processes(resources.device)
    if processes > 1:
        notice(f"{processes} processes train each member together")
        for job in jobs:
            _run_together(job, processes)
        return _results(jobs)
    first, others = jobs[0], jobs[1:]
    workers = min(len(others), resources.threads // resources.model_threads)
    side_by_side = workers > 1 and resources.device == "cpu" and can_travel(choice, resources)
    if first.run() >= WORTH_PROCESSES and side_by_side:
        threads = max(1, resources.threads // workers)
        sent = (_Parcel.of(job, threads, f"member {job.number + 1}") for job in others)
        for _ in ordered_map(_run_parcel, sent, workers=workers, fewest=2):
            pass
    else:
        for job in others:
            job.run()
    return _results(jobs)


def _results(jobs: Sequence[_Job]) -> tuple[list[dict[str, Values]], dict[str, Path]]:
    """What finished members wrote, whichever process or attempt it was."""
    vectors = {key: Path(path) for job in jobs for key, path in job.record["vectors"].items()}
    return [job.scores() for job in jobs], vectors


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
        if self.finished:
            return float(self.record["seconds"])
        began = time.monotonic()
        self.workspace.mkdir(exist_ok=True)
        member = self.fit(self.workspace)
        scores = score_topics(
            self.choice.registration,
            [member],
            [example.topic for example in self.split.weighing],
            {e.topic.id: e.labelled.candidates for e in self.split.weighing},
            self.resources,
        )
        weights = member_folder(self.folder, self.number)
        shutil.rmtree(weights, ignore_errors=True)
        weights.mkdir()
        with self.choice.registration.at_work("saving"):
            member.save(weights)
        np.savez(self.workspace / _SCORES, *scores.values())
        seconds = time.monotonic() - began
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
        held: dict[str, Any] = json.loads((self.workspace / _FINISHED).read_text(encoding="utf-8"))
        return held

    def fit(self, workspace: Path) -> TrainableReranker:
        """Train, keeping the state in the workspace."""
        member = self.choice.create(self.resources)
        if not isinstance(member, TrainableReranker):
            raise InputError(f"reranker '{self.choice.name}' does not learn.")
        if self.start is not None:
            with self.choice.registration.at_work("loading its pre-training"):
                member.load(self.start)
        data = TrainingData(
            [example.labelled for example in self.split.training],
            [example.labelled for example in self.split.validation],
            workspace,
        )
        with self.choice.registration.at_work("learning"):
            member.fit(data)
        return member

    def scores(self) -> dict[str, Values]:
        """Scores of the topics that the weight is chosen on, by topic."""
        with np.load(self.workspace / _SCORES, allow_pickle=False) as held:
            return {
                example.topic.id: held[f"arr_{number}"]
                for number, example in enumerate(self.split.weighing)
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
    made_by: Mapping[str, str]
    speaker: str
    place: Place | None = None
    """Among the processes that train the member together; None for one alone."""

    @classmethod
    def of(cls, job: _Job, threads: int, speaker: str, place: Place | None = None) -> _Parcel:
        resources = replace(job.resources.unopened(), threads=threads)
        chosen = job.choice
        made_by = chosen.registration.made_by
        held = (job.split, resources, job.number, job.folder, job.start, made_by)
        return cls(chosen.name, chosen.options, *held, speaker, place)


def _run_together(job: _Job, processes: int) -> None:
    """Train a member in several processes at once.

    Raises:
        InputError: they could not load the reranker.
    """
    if job.finished:
        return
    if not can_travel(job.choice, job.resources):
        raise InputError(
            f"reranker '{job.choice.name}' cannot be trained in several processes: these find "
            f"installed plugins only. Unset {PROCESSES_VARIABLE}."
        )
    job.workspace.mkdir(exist_ok=True)
    threads = max(1, job.resources.threads // processes)
    with tempfile.TemporaryDirectory() as scratch:
        workspaces = [job.workspace, *(Path(scratch) / str(n) for n in range(1, processes))]
        places = [
            Place(rank, processes, Path(scratch) / "meeting", folder, job.workspace)
            for rank, folder in enumerate(workspaces)
        ]
        all_at_once(_run_parcel, [_Parcel.of(job, threads, "", place) for place in places])


def _run_parcel(parcel: _Parcel) -> None:
    speak_as(parcel.speaker)
    device, place = parcel.resources.device, parcel.place
    if place is not None:
        quiet_torch()
    choose_device(device, parcel.resources.model_threads)
    choice = RerankerChoice(registry().reranker(parcel.reranker), parcel.options)
    if choice.registration.made_by != parcel.made_by:
        raise PluginError(
            f"{choice.registration.plugin} was changed while '{parcel.reranker}' was trained: its "
            "members would be of two versions. Start again."
        )
    held = (parcel.split, parcel.resources, parcel.number, parcel.folder, parcel.start)
    job = _Job(choice, *held)
    if place is None:
        job.run()
        return
    if device == "cuda":
        import torch

        torch.cuda.set_device(place.rank)
    with joined(place, device):
        if place.rank == 0:
            job.run()
            return
        say_nothing()
        place.workspace.mkdir()
        job.fit(place.workspace)


def can_travel(choice: RerankerChoice, resources: CollectionResources) -> bool:
    """Whether another process can train the reranker, with what it can import."""
    known, held = registry().rerankers.get(choice.name), choice.registration
    # Defaults may differ: variants share a pre-trained model, and options travel along.
    if known is None or (known.system, known.plugin) != (held.system, held.plugin):
        return False
    try:
        pickle.dumps((choice.options, resources.unopened()))
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True
