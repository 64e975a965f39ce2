"""A reranker ready to score: its trained members and its weight of interpolation.

Untrained rerankers have one member and a weight; trained ones are kept as a checkpoint
(`training.checkpoints`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from irplatform.options import Options, settings_of
from irplatform.plugin.rerankers import Reranker, TrainableReranker
from irplatform.registry.answers import of_type, truth
from irplatform.registry.sources import our_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.data import TextPair, Topic
    from irplatform.plugin.resources import Resources
    from irplatform.registry.registration import Registration

MEMBERS = 5
"""How many models are trained and averaged: five single models differ more on the same topics than
most things that one would want to tell apart."""


@dataclass(frozen=True)
class ChosenReranker:
    """A reranker with its options, as a run uses it.

    Attributes:
        registration: its name and class.
        options: of the reranker.
        members: how many models are trained and averaged, where it learns.
        given: what the user set of the options, by name ("size", "loop.epochs").
        trained: whether the options are a checkpoint's.
    """

    registration: Registration[Reranker]
    options: Options
    members: int = MEMBERS
    given: Mapping[str, object] = field(default_factory=dict)
    trained: bool = False

    @property
    def name(self) -> str:
        """The name on the command line and in the table."""
        return self.registration.name

    @property
    def trainable(self) -> bool:
        """Whether it learns."""
        return issubclass(self.registration.system, TrainableReranker)

    @property
    def wants_expansion(self) -> bool:
        """Whether it is made for expanded queries."""
        return self.registration.system.wants_expansion

    @property
    def pretrained_on(self) -> str:
        """What it learns from first where nobody says otherwise; "" for nothing."""
        system = self.registration.system
        return system.pretrained_on if issubclass(system, TrainableReranker) else ""

    @property
    def holds_first_stage(self) -> bool:
        """Whether it has weighed the first stage's score already."""
        reranker = self.registration.made(self.options)
        with self.registration.plugin_call("saying whether it holds the first stage"):
            answer = reranker.holds_first_stage()
        return truth(self.registration.who, "holds_first_stage", answer)

    @property
    def learns_on_device(self) -> bool:
        """Whether members of it use the device of the resources while they learn."""
        reranker = self.registration.made(self.options)
        with self.registration.plugin_call("saying whether it learns on the device"):
            answer = reranker.learns_on_device()
        return truth(self.registration.who, "learns_on_device", answer)

    @property
    def checkpoints(self) -> tuple[Path, ...]:
        """Folders of the checkpoints whose scores it reads."""
        return self.registration.checkpoints(self.options)

    def pairs_learned(self, topics: Sequence[Topic]) -> tuple[TextPair, ...]:
        """The pairs of texts that it learns from beside topics, without those of the topics."""
        return self.registration.pairs_learned(self.options, topics)

    def check(self) -> None:
        """Ask now what a run asks late: nobody wants to know after the first stage.

        Raises:
            InputError: what its options name is not there.
            PluginError: it cannot be made, or cannot say what it depends on.
        """
        self.describe()
        our_digest()  # of the code as it is now, not as it is edited while models are trained
        _ = self.holds_first_stage, self.learns_on_device

    def check_training(self) -> None:
        """See that what it learns from beside topics is there; this may load a model.

        Raises:
            InputError: it is not.
            PluginError: it cannot say.
        """
        if not self.trained:
            self.registration.check_training(self.options)

    def create(self, resources: Resources) -> Reranker:
        """An instance that has taken what it needs."""
        reranker = self.registration.made(self.options)
        with self.registration.plugin_call("preparing"):
            reranker.prepare(resources)
        return reranker

    def expanding(self, knowledge: tuple[str, ...]) -> ChosenReranker:
        """This reranker where queries are expanded with some knowledge bases, or with none.

        One that was trained goes on reading what it was trained with.
        """
        if not knowledge or self.trained:
            return self
        options = self.registration.expanding(self.options, knowledge)
        return replace(self, options=options)

    def as_trained(self, recorded: Mapping[str, object]) -> ChosenReranker:
        """This reranker with a checkpoint's options, but for those that the user set.

        Args:
            recorded: the checkpoint's options, as JSON holds them.

        Raises:
            InputError: the checkpoint has options that this version of the reranker has not.
        """
        _, values = settings_of(self.registration, self.given, beneath=recorded)
        return replace(self, options=self.registration.options(values), trained=True)

    def in_pretraining(self) -> ChosenReranker:
        """This reranker with the options that its pre-training is done with."""
        reranker = self.registration.made(self.options)
        if not isinstance(reranker, TrainableReranker):
            return self
        shared = replace(self.registration, name=reranker.pretrained_as or self.name)
        with self.registration.plugin_call("reading its options"):
            answer = reranker.options_of_pretraining()
        who, kind = self.registration.who, type(self.options)
        options = of_type(
            who, "options_of_pretraining", answer, kind, f"its {kind.__name__} are needed"
        )
        return replace(self, registration=shared, options=options, members=1)

    def describe(self) -> dict[str, Any]:
        """What its scores depend on, beside documents, topics and training."""
        more = self.registration.dependencies(self.options)
        return {
            "reranker": self.name,
            **self.registration.describe(self.options),
            **({"of": more} if more else {}),
        }


@dataclass(frozen=True)
class System:
    """A reranker ready to score.

    Attributes:
        choice: the reranker and its options.
        members: prepared instances, whose scores are averaged.
        weight: the first stage's share in interpolation, as chosen on validation topics.
        fingerprint: of all that its scores depend on, beside documents and topics.
        description: what is recorded about its training; empty for an untrained one.
        chosen_on: how many topics the weight was chosen on; None where it was not, or nobody knows.
    """

    choice: ChosenReranker
    members: Sequence[Reranker]
    weight: float
    fingerprint: str
    description: Mapping[str, Any]
    chosen_on: int | None = None
