"""A reranker from its options to a system that is ready to score.

An untrained reranker has one member and a weight; a trained one is kept as a checkpoint
(`training.checkpoints`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from irplatform.errors import InputError, PluginError
from irplatform.files.code_digests import our_digest
from irplatform.plugin.rerankers import Reranker, TrainableReranker
from irplatform.registry.dependencies import ChosenSystem
from irplatform.spelling import option
from irplatform.system.console import notice
from irplatform.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from irplatform.plugin.resources import Resources
    from irplatform.registry.registration import Registration

MEMBERS = 5
"""How many models are trained and averaged: single models differ more on the same topics than most
systems that one compares."""


@dataclass(frozen=True)
class ChosenReranker(ChosenSystem[Reranker]):
    """A reranker with its options, as a run uses it.

    If it learns, so many `members` are trained and averaged. `label` is its name in this run.
    `trained` says that the options are a checkpoint's, but for those that the user set.
    """

    members: int = MEMBERS
    label: str = ""
    trained: bool = False

    @property
    def name(self) -> str:
        """The name of its runs, in files and in the table."""
        return self.label or self.registration.name

    @property
    def trainable(self) -> bool:
        """It learns from judged topics."""
        return issubclass(self.registration.system, TrainableReranker)

    def check_training(self) -> None:
        """Check that its training data can be used, unless a checkpoint is used as it is."""
        if not self.trained:
            super().check_training()

    def check(self) -> None:
        """Check before any work that it can be used, and describe what its scores depend on."""
        self.describe()
        our_digest()  # of the code as it is now, not as it is edited while models are trained
        _ = self.traits

    def create(self, resources: Resources) -> Reranker:
        """Return a prepared instance."""
        reranker = self.registration.make(self.options)
        with self.registration.plugin_call("preparing"):
            reranker.prepare(resources)
        return reranker

    def expanding(self, knowledge: tuple[str, ...]) -> ChosenReranker:
        """Return it with the knowledge bases of expanded queries; a trained one keeps its own."""
        if not knowledge or self.trained:
            return self
        return replace(self, options=self.with_knowledge(knowledge))

    def in_pretraining(self) -> ChosenReranker:
        """Return it with the options that its pre-training is done with.

        Raises:
            InputError: it learns from a file of pairs. Pre-training does not know which topics
                come later, so it cannot leave out their pairs.
        """
        if not self.trainable:
            return self
        if (pairs := self.reads.pairs) is not None:
            raise InputError(
                f"{option('pretrain')} and pairs.file exclude each other: pre-training would "
                "learn from pairs of the topics that training and validation ask. Leave out one of "
                "them.",
                path=pairs.path,
            )
        traits, kind = self.traits, type(self.options)
        options = traits.pretraining_options or self.options
        if not isinstance(options, kind):
            raise PluginError(
                f"{self.registration.full_title} returned {type(options).__name__} as "
                f"pretraining_options of its traits; its {kind.__name__} are needed."
            )
        name = traits.shares_pretraining or self.registration.name
        shared = replace(self.registration, name=name)
        return replace(self, registration=shared, options=options, members=1)

    def describe(self) -> dict[str, Any]:
        """Return all that its scores depend on, beside documents, topics and training."""
        more = self.describe_reads()
        return {
            "reranker": self.registration.name,
            **self.registration.describe(self.options),
            **({"of": more} if more else {}),
        }


class LaterMembers(Sequence[Reranker]):
    """Members that are prepared or loaded at first use: known scores need none."""

    def __init__(self, make: Callable[[], Sequence[Reranker]]) -> None:
        self._make = make

    @cached_property
    def _members(self) -> Sequence[Reranker]:
        return self._make()

    @overload
    def __getitem__(self, number: int) -> Reranker: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Reranker]: ...
    def __getitem__(self, number: int | slice) -> Reranker | Sequence[Reranker]:
        return self._members[number]

    def __len__(self) -> int:
        return len(self._members)


@dataclass(frozen=True)
class FittedReranker:
    """A reranker ready to score: prepared members, whose scores are averaged.

    `weight` is the first stage's share, chosen on `chosen_on` topics (None if unknown). The
    fingerprint is of all that its scores depend on, beside documents and topics. The description is
    the record of its training; empty for an untrained one. The folder is its checkpoint.
    """

    choice: ChosenReranker
    members: Sequence[Reranker]
    weight: float
    fingerprint: str
    description: Mapping[str, Any]
    chosen_on: int | None = None
    folder: Path | None = None

    def prepared(self) -> FittedReranker:
        """Return it with members that are prepared now: what one lacks is told at once."""
        return replace(self, members=[*self.members])


def recorded_options(
    checkpoint: Path | None, rerankers: Sequence[Registration[Reranker]]
) -> dict[str, Mapping[str, object]]:
    """Return the options that a checkpoint was trained with, by its reranker; {} without one.

    Raises:
        InputError: it is not a whole checkpoint of this reranker, or several rerankers learn.
    """
    if checkpoint is None:
        return {}
    trainable = [r.name for r in rerankers if issubclass(r.system, TrainableReranker)]
    if len(trainable) != 1:
        raise InputError(f"{option('checkpoint')} needs exactly one reranker that learns.")
    trained = Checkpoint.read(checkpoint, of=trainable[0])
    trained.check_members()
    return {trainable[0]: trained.options}


def tell_of_other_options(
    checkpoint: Path | None,
    recorded: Mapping[str, Mapping[str, object]],
    rerankers: Sequence[ChosenReranker],
) -> None:
    """Say which options of a checkpoint's reranker are others than in its training."""
    for choice in rerankers:
        before = recorded.get(choice.registration.name, {})
        options = choice.options.model_dump(mode="json")
        changed = [n for n in options if n in before and options[n] != before[n]]
        if changed:
            notice(
                f"{checkpoint} was trained with other options ({', '.join(changed)}); the share of "
                "the first stage that it brings was chosen with those."
            )
