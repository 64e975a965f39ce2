"""Training the members of a system, several at once if that is faster.

A member depends on its seed and topics alone, so its weights are the same wherever it is trained.
With `workers` members are trained in as many processes, or on a Ray cluster, with a GPU each where
models learn on one. Otherwise the first member is trained here. If it takes long, the others are
trained in their own processes, one per core; on a GPU they follow one another.
"""

from __future__ import annotations

import json
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.collection_resources import on_this_machine
from irplatform.data import TrainingData
from irplatform.files.cache import at_hand, files_of
from irplatform.files.digests import file_digest
from irplatform.files.formats import read_own_json
from irplatform.files.journals import is_kept, keep
from irplatform.files.writing import home, within_home
from irplatform.plugin.rerankers import TrainableReranker
from irplatform.registry.dependencies import GROUP
from irplatform.reranking.scoring import Values, final_scores
from irplatform.reranking.sending import SentReranker, can_be_sent
from irplatform.system.console import notice, sections, set_prefix, steps
from irplatform.training.checkpoints import member_folder
from irplatform.workers.cluster import on_another_machine
from irplatform.workers.distribution import ordered_map, several_workers, takes_gpu

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
    weights in `start`, and learns nothing of the topics `held_out`.
    """

    choice: ChosenReranker
    split: Split[Example]
    resources: CollectionResources
    number: int
    folder: Path
    start: Path | None
    held_out: Sequence[Topic] = ()
    members: int = 1

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
        registration.save(reranker, weights)
        np.savez(self.workspace / _SCORES, *scores.values())
        shared = sum(self.resources.stopwatch.seconds.values()) - shared
        seconds = time.monotonic() - began - shared
        record = {
            "seconds": seconds,
            "vectors": _places(self.resources.vectors_used),
            "words": _places(self.resources.words_used),
            "files": {str(f.relative_to(self.folder)): file_digest(f) for f in self.files()},
        }
        keep(self.workspace / _FINISHED, json.dumps(record).encode())
        return seconds

    def files(self) -> list[Path]:
        """Its weights and scores."""
        weights = files_of(member_folder(self.folder, self.number))
        return [*sorted(weights), self.workspace / _SCORES]

    @property
    def finished(self) -> bool:
        """Weights, scores, and what they read of words are there."""
        if not is_kept(self.workspace / _FINISHED):
            return False
        folders = {**self.folders("vectors"), **self.folders("words")}
        digests: dict[str, str] = self.record["files"]
        files = {self.folder / name: digest for name, digest in digests.items()}
        sound = all(f.is_file() and file_digest(f) == digest for f, digest in files.items())
        if not sound:
            notice(f"member {self.number + 1} has a damaged file, and is trained again")
        return sound and all(path.is_dir() for path in folders.values())

    @property
    def record(self) -> dict[str, Any]:
        """The record that a finished member leaves."""
        record: dict[str, Any] = read_own_json(self.workspace / _FINISHED)
        return record

    def folders(self, kind: str) -> dict[str, Path]:
        """The folders that a finished member used: "vectors" by their key, or "words" by kind."""
        return {key: home() / place for key, place in self.record.get(kind, {}).items()}

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

    def packed(self, threads: int) -> SentMember:
        """Return the member for another process."""
        reranker = SentReranker.of(self.choice, self.resources, threads)
        member = replace(
            self,
            choice=reranker.choice,
            resources=reranker.resources,
            folder=within_home(self.folder),
            start=self.start and within_home(self.start),
        )
        return SentMember(member, reranker)


@dataclass(frozen=True)
class SentMember:
    """A member as it is sent to another process, with folders by their places in the cache."""

    member: Member
    reranker: SentReranker

    def loaded(self) -> Member:
        """Return the member in the process that trains it."""
        start = self.member.start
        if start is not None:
            start = at_hand(start.parent.as_posix()) / start.name
        folder = home() / self.member.folder
        return replace(self.member, choice=self.reranker.loaded, start=start, folder=folder)


def workspace(folder: Path, number: int) -> Path:
    """The folder of a member's state while it is trained."""
    return folder / f"work-{number}"


def train_members(
    members: Sequence[Member],
) -> tuple[list[dict[str, Values]], dict[str, Path], dict[str, Path]]:
    """Train the members of a system, and write their weights into the folder of a checkpoint.

    Finished members are not trained again. Returns each member's scores of the topics that a weight
    is chosen on; the folders of word vectors that members used, by `VectorSource.key`; and those of
    statistics of words, by kind.
    """
    choice, resources = members[0].choice, members[0].resources
    if several_workers() and can_be_sent(choice, resources):
        train_on_workers(members)
        return _results(members)
    first, others = members[0], members[1:]
    workers = min(len(others), resources.threads // resources.model_threads)
    side_by_side = workers > 1 and learn_side_by_side(choice, resources)
    with sections(len(members)) as advance:
        seconds = _train_shown(first)
        advance(1)
        if seconds >= WORTH_PROCESSES and side_by_side:
            threads = max(1, resources.threads // workers)
            packed = (member.packed(threads) for member in others)
            with steps("member", len(members), 1, counts=False) as count:
                for _ in ordered_map(_train_elsewhere, packed, workers=workers, fewest=2):
                    count(1)
                    advance(1)
            return _results(members)
        for member in others:
            _train_shown(member)
            advance(1)
    return _results(members)


def _train_shown(member: Member) -> float:
    with steps("member", member.members, member.number, counts=False):
        return member.train()


def _results(
    members: Sequence[Member],
) -> tuple[list[dict[str, Values]], dict[str, Path], dict[str, Path]]:
    vectors, words = (
        {key: path for member in members for key, path in member.folders(kind).items()}
        for kind in ("vectors", "words")
    )
    return [member.scores() for member in members], vectors, words


def _places(folders: Mapping[str, Path]) -> dict[str, str]:
    return {key: str(within_home(path)) for key, path in folders.items()}


def train_on_workers(members: Sequence[Member]) -> None:
    """Train the members that are not finished, and bring home what other machines trained.

    They may be of several systems of one reranker, which differ in seeds and topics.
    """
    missing = [member for member in members if not member.finished]
    if not missing:
        return
    choice, resources = missing[0].choice, missing[0].resources
    threads, finished_count = resources.model_threads, len(members) - len(missing)
    with steps("member", len(members), finished_count) as advance:
        if shares_features(choice):
            # Features take the time: workers compute those that all members read.
            missing.pop(0).train()
            advance(1)
        else:
            choice.create(on_this_machine(resources))  # makes what all use, such as word vectors
        packed = [member.packed(threads) for member in missing]
        on_gpu = takes_gpu(resources.device) and choice.traits.learns_on_device
        trained = ordered_map(_train_elsewhere, packed, fewest=2, threads=threads, on_gpu=on_gpu)
        for member, files in zip(missing, trained, strict=True):
            for name, content in files.items():
                (member.folder / name).parent.mkdir(parents=True, exist_ok=True)
                path = member.folder / name
                write = keep if path.name == _FINISHED else Path.write_bytes
                write(path, content)
            advance(1)


def shares_features(choice: ChosenReranker) -> bool:
    """Tell if a reranker learns quickly from features that take long."""
    computes = any(system.kind == GROUP for system in choice.reads.systems)
    return computes and not choice.traits.learns_on_device


def _train_elsewhere(packed: SentMember) -> dict[str, bytes]:
    """Train a member; return its files by name if they lie on another machine, the record last."""
    member = packed.loaded()
    set_prefix(f"member {member.number + 1}")
    member.folder.mkdir(parents=True, exist_ok=True)
    with sections(1):
        _train_shown(member)
    if not on_another_machine():
        return {}
    folders = member_folder(member.folder, member.number), member.workspace
    paths = [*member.files(), member.workspace / _FINISHED]
    files = {str(path.relative_to(member.folder)): path.read_bytes() for path in paths}
    for folder in folders:
        shutil.rmtree(folder)
    with suppress(OSError):  # other members are trained there
        member.folder.rmdir()
    return files


def learn_side_by_side(choice: ChosenReranker, resources: CollectionResources) -> bool:
    """Tell if members can be trained at once: a GPU may hold one model only."""
    on_gpu = resources.device != "cpu" and choice.traits.learns_on_device
    return not on_gpu and can_be_sent(choice, resources)
