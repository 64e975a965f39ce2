"""Rerankers and systems as they are sent to workers, which load plugins anew.

A worker on another machine has only those files of this one that it fetches from the cache. So
nothing open is sent, and a folder is sent as its place in the cache.
"""

from __future__ import annotations

import pickle
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from irplatform.errors import PluginError
from irplatform.files.cache import MANIFEST, artifact, at_hand
from irplatform.files.digests import folder_digests
from irplatform.files.writing import home
from irplatform.knowledge.installation import Manifest, installed, lend
from irplatform.plugin.rerankers import Reranker
from irplatform.registry.loading import registry
from irplatform.system.arithmetic import choose_device
from irplatform.system.console import notice_once
from irplatform.training.checkpoints import KIND, Checkpoint
from irplatform.workers.cluster import on_another_machine
from irplatform.workers.distribution import several_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from irplatform.collection_resources import CollectionResources, UsageLog
    from irplatform.data import Topic
    from irplatform.reranking.systems import ChosenReranker, FittedReranker

    Block = Sequence[tuple[Topic, Sequence[str]]]
    """Topics with the ids of their candidates."""
    Values = npt.NDArray[np.float64]
    Score = Callable[..., list[Values]]
    """Takes a registration, the members and topics with documents; see `scoring.mean_scores`."""


@dataclass(frozen=True)
class SentReranker:
    """A reranker with its options, resources and knowledge bases, and facts about its code."""

    choice: ChosenReranker
    resources: CollectionResources
    code_facts: Mapping[str, str]
    knowledge: Mapping[str, Manifest]

    @classmethod
    def of(cls, choice: ChosenReranker, resources: CollectionResources, threads: int) -> Self:
        """Pack a reranker, whose resources get so many threads in the worker."""
        registration = choice.registration
        choice_to_send = replace(choice, registration=replace(registration, declared=Reranker))
        unopened = replace(resources.unopened(), threads=threads)
        return cls(choice_to_send, unopened, registration.code_facts, installed())

    @cached_property
    def loaded(self) -> ChosenReranker:
        """The reranker in a worker, with the class that is loaded there; it chooses the device.

        Raises:
            PluginError: its plugin was changed in the meantime, or is another on this machine.
        """
        registration = registry().reranker(self.choice.registration.name)
        if registration.code_facts != self.code_facts:
            raise PluginError(
                f"{registration.plugin} was changed while '{self.choice.name}' was at work, or is "
                "another one on a machine of the cluster. Start again with the same everywhere."
            )
        if on_another_machine():
            lend(self.knowledge)
        choose_device(self.resources.device, self.resources.model_threads)
        return replace(self.choice, registration=registration)


@dataclass(frozen=True)
class SentSystem:
    """A system ready to score; `place` is that of its checkpoint in the cache, "" for none."""

    reranker: SentReranker
    place: str

    @cached_property
    def _opened(self) -> tuple[Sequence[Reranker], CollectionResources]:
        choice, resources = self.reranker.loaded, self.reranker.resources
        if not self.place:
            return [choice.create(resources)], resources
        checkpoint = Checkpoint.read(at_hand(self.place))
        if resources.source.ready:
            resources = resources.with_vectors(checkpoint.vectors)
        return checkpoint.load(choice.registration, lambda: choice.create(resources)), resources

    def score(self, score: Score, block: Block) -> tuple[list[Values], UsageLog]:
        """Return the scores of a block of topics, and the log of the resources used."""
        members, resources = self._opened
        with resources.record(quietly=True) as usage:
            batch = [(topic, resources.documents(doc_ids)) for topic, doc_ids in block]
            return score(self.reranker.loaded.registration, members, batch), usage


def sent_system(system: FittedReranker, resources: CollectionResources) -> SentSystem | None:
    """Return a system to send to workers; None with one worker, or if it cannot be sent."""
    if not several_workers() or not can_be_sent(system.choice, resources):
        return None
    place = "" if system.folder is None else _in_cache(system.folder)
    return SentSystem(SentReranker.of(system.choice, resources, resources.model_threads), place)


def _in_cache(folder: Path) -> str:
    """The place of a checkpoint in the cache, into which a user's own is copied."""
    if not folder.is_relative_to(home()):

        def copy(target: Path) -> None:
            leave_out = shutil.ignore_patterns(MANIFEST)
            shutil.copytree(folder, target, dirs_exist_ok=True, ignore=leave_out)

        files = {n: d for n, d in folder_digests(folder).items() if n != MANIFEST}
        folder = artifact(KIND, folder.name, {"copy of": files}, copy).path
    return folder.relative_to(home()).as_posix()


def can_be_sent(choice: ChosenReranker, resources: CollectionResources) -> bool:
    """Tell if another process can import and make the reranker."""
    registration, counterpart = (
        choice.registration,
        registry().rerankers.get(choice.registration.name),
    )
    # Defaults may differ: variants share a pre-trained model, and options are sent along.
    if (
        counterpart is not None
        and registration.plugin.installed
        and (counterpart.system, counterpart.plugin) == (registration.system, registration.plugin)
    ):
        with suppress(pickle.PicklingError, TypeError, AttributeError):
            pickle.dumps((choice.options, resources.unopened()))
            return True
    if several_workers():
        notice_once(f"{choice.name} stays in this process: workers find installed plugins only")
    return False
