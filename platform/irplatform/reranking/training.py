"""Training the members of a system, several at once if that is faster.

The first member is trained here. If it takes long, the others are trained in their own processes,
one per core: a member depends on its seed and topics alone, so the weights are the same. On a GPU
they follow one another, unless the reranker learns on the CPU. If several processes train a model
together (`training.distributed`), all of them fit the member, and the first writes it.
"""

from __future__ import annotations

import json
import pickle
import shutil
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.data import TrainingData
from irplatform.errors import InputError, PluginError
from irplatform.plugin.rerankers import Reranker, TrainableReranker
from irplatform.registry.loading import registry
from irplatform.reranking.scoring import Values, final_scores
from irplatform.system.arithmetic import choose_device
from irplatform.system.console import notice, parts, set_prefix, silence, steps
from irplatform.system.formats import read_own_json
from irplatform.system.workers import all_at_once, ordered_map
from irplatform.system.writing import atomic_write
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

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Topic
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.reranking.training_set import Example, Split


_SCORES = "scores.npz"
_FINISHED = "finished.json"
"""The record of a finished member, which an interrupted training does not train again."""
WORTH_PROCESSES = 20.0
"""Seconds of the first member from which on the others get processes of their own: these need some
seconds to start, and memory for their own copies of the data."""


@dataclass(frozen=True)
class Member:
    """A member of a system to train, by its `number` from 0, on its split.

    The resources have the member's seed; the folder is that of the checkpoint. It starts from the
    weights in `start`, and learns nothing of the topics `held_out`. `place` is its process's among
    those that train it together. On its way to another process, `made_by` has the reranker's code.
    """

    choice: ChosenReranker
    split: Split[Example]
    resources: CollectionResources
    number: int
    folder: Path
    start: Path | None
    held_out: Sequence[Topic] = ()
    members: int = 1
    place: Place | None = None
    made_by: Mapping[str, str] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        """The folder of its state while it is trained."""
        return workspace(self.folder, self.number)

    def train(self) -> float:
        """Train, write weights and scores; return the seconds that this took, now or before.

        They leave out what other members use as well: word vectors, the forward index.
        """
        if self.finished:
            return float(self.record["seconds"])
        began, shared = time.monotonic(), sum(self.resources.stopwatch.seconds.values())
        self.workspace.mkdir(exist_ok=True)
        reranker = self.fit(self.workspace)
        registration = self.choice.registration
        topics = [example.topic for example in self.split.weight_topics]
        candidates = {e.topic.id: e.labelled.candidates for e in self.split.weight_topics}
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
        record = json.dumps(
            {
                "seconds": seconds,
                "vectors": _as_text(self.resources.vectors_used),
                "words": _as_text(self.resources.words_used),
            }
        )
        with atomic_write(self.workspace / _FINISHED) as file:
            file.write(record)
        return seconds

    @property
    def finished(self) -> bool:
        """Weights, scores, and what they read of words are there."""
        if not (self.workspace / _FINISHED).exists():
            return False
        used = {**self.record["vectors"], **self.record.get("words", {})}
        return all(Path(path).is_dir() for path in used.values())

    @property
    def record(self) -> dict[str, Any]:
        """The record that a finished member leaves."""
        record: dict[str, Any] = read_own_json(self.workspace / _FINISHED)
        return record

    def fit(self, workspace: Path) -> TrainableReranker:
        """Train, keeping the state in a workspace."""
        reranker = self.choice.create(self.resources)
        assert isinstance(reranker, TrainableReranker)
        if self.start is not None:
            with self.choice.registration.plugin_call("loading its pre-training"):
                reranker.load(self.start)
        training, validation = (
            [example.labelled for example in part]
            for part in (self.split.training, self.split.validation)
        )
        with self.choice.registration.plugin_call("learning"):
            reranker.fit(TrainingData(training, validation, workspace, self.held_out))
        return reranker

    def scores(self) -> dict[str, Values]:
        """The scores of the topics that the weight is chosen on, by topic."""
        with np.load(self.workspace / _SCORES, allow_pickle=False) as arrays:
            return {
                example.topic.id: arrays[f"arr_{number}"]
                for number, example in enumerate(self.split.weight_topics)
            }

    def packed(self, threads: int, place: Place | None = None) -> Member:
        """Return the member for another process, which loads plugins anew.

        Its resources are not open, and the reranker's class is left out.
        """
        registration = self.choice.registration
        choice = replace(self.choice, registration=replace(registration, declared=Reranker))
        resources = replace(self.resources.unopened(), threads=threads)
        made_by = registration.made_by
        return replace(self, choice=choice, resources=resources, place=place, made_by=made_by)

    def unpacked(self) -> Member:
        """Return the member in another process, with that process's class of the reranker.

        Raises:
            PluginError: its plugin was changed in the meantime.
        """
        registration = registry().reranker(self.choice.registration.name)
        if registration.made_by != self.made_by:
            raise PluginError(
                f"{registration.plugin} was changed while '{self.choice.name}' was trained: its "
                "members would be of two versions. Start again."
            )
        return replace(self, choice=replace(self.choice, registration=registration))


def workspace(folder: Path, number: int) -> Path:
    """The folder of a member's state while it is trained."""
    return folder / f"work-{number}"


def train_members(
    choice: ChosenReranker,
    splits: Sequence[Split[Example]],
    resources: CollectionResources,
    folder: Path,
    start: Path | None,
    held_out: Sequence[Topic] = (),
) -> tuple[list[dict[str, Values]], dict[str, Path], dict[str, Path]]:
    """Train one member per split, and write their weights into the folder of a checkpoint.

    Member n has the seed of the resources plus n, and starts from the weights in `start`. Finished
    members are not trained again. Returns each member's scores of the topics that a weight is
    chosen on; the folders of word vectors that members used, by `VectorSource.key`; and those of
    statistics of words, by kind.
    """
    rest = folder, start, held_out, len(splits)
    members = [
        Member(choice, split, resources.of_member(number), number, *rest)
        for number, split in enumerate(splits)
    ]
    processes = training_processes(resources.device)
    if processes > 1:
        notice(f"{processes} processes train each member together")
        with steps("member", len(members)) as advance:
            for member in members:
                _run_together(member, processes)
                advance(1)
        return _results(members)
    first, others = members[0], members[1:]
    workers = min(len(others), resources.threads // resources.model_threads)
    side_by_side = workers > 1 and learn_side_by_side(choice, resources)
    with parts(len(members)) as advance:
        with steps("member", len(members), counts=False):
            seconds = first.train()
        advance(1)
        if seconds >= WORTH_PROCESSES and side_by_side:
            threads = max(1, resources.threads // workers)
            packed = (member.packed(threads) for member in others)
            with steps("member", len(members), 1, counts=False) as count:
                for _ in ordered_map(_train_here, packed, workers=workers, fewest=2):
                    count(1)
                    advance(1)
            return _results(members)
        for member in others:
            with steps("member", len(members), member.number, counts=False):
                member.train()
            advance(1)
    return _results(members)


def _results(
    members: Sequence[Member],
) -> tuple[list[dict[str, Values]], dict[str, Path], dict[str, Path]]:
    vectors, words = (
        {key: Path(path) for m in members for key, path in m.record.get(used, {}).items()}
        for used in ("vectors", "words")
    )
    return [member.scores() for member in members], vectors, words


def _as_text(folders: Mapping[str, Path]) -> dict[str, str]:
    return {key: str(path) for key, path in folders.items()}


def _run_together(member: Member, processes: int) -> None:
    """Train a member in several processes at once."""
    if member.finished:
        return
    if not can_travel(member.choice, member.resources):
        raise InputError(
            f"reranker '{member.choice.name}' cannot be trained in several processes: these find "
            f"installed plugins only. Unset {PROCESSES_VARIABLE}."
        )
    member.workspace.mkdir(exist_ok=True)
    threads = max(1, member.resources.threads // processes)
    with tempfile.TemporaryDirectory() as scratch:
        workspaces = [member.workspace, *(Path(scratch) / str(n) for n in range(1, processes))]
        places = [
            Place(rank, processes, Path(scratch) / "meeting", folder, member.workspace)
            for rank, folder in enumerate(workspaces)
        ]
        all_at_once(_train_here, [member.packed(threads, place) for place in places])


def _train_here(packed: Member) -> None:
    """Train a member from another process."""
    place, device = packed.place, packed.resources.device
    set_prefix("" if place else f"member {packed.number + 1}")
    if place is not None:
        quiet_torch()
    choose_device(device, packed.resources.model_threads)
    member = packed.unpacked()
    if place is None:
        with parts(1), steps("member", member.members, member.number, counts=False):
            member.train()
        return
    if device == "cuda":
        import torch

        torch.cuda.set_device(place.rank)
    with joined(place, device):
        if place.rank == 0:
            member.train()
            return
        silence()
        place.workspace.mkdir()
        member.fit(place.workspace)


def learn_side_by_side(choice: ChosenReranker, resources: CollectionResources) -> bool:
    """Tell if members can be trained at once: a GPU may hold one model only."""
    on_gpu = resources.device != "cpu" and choice.traits.learns_on_device
    return not on_gpu and can_travel(choice, resources)


def can_travel(choice: ChosenReranker, resources: CollectionResources) -> bool:
    """Tell if another process can import and train the reranker."""
    ours, theirs = choice.registration, registry().rerankers.get(choice.registration.name)
    # Defaults may differ: variants share a pre-trained model, and options travel along.
    if theirs is None or not ours.plugin.installed:
        return False
    if (theirs.system, theirs.plugin) != (ours.system, ours.plugin):
        return False
    try:
        pickle.dumps((choice.options, resources.unopened()))
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True
