"""A reranker ready to score: its trained members and its weight of interpolation.

Untrained rerankers have one member and a weight; trained ones are kept as a checkpoint, a folder
with a description (`checkpoint.json`), one folder per member as the reranker saved it, and the word
vectors that they were trained with, so that it can be moved.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.plugin import Options, Reranker, Resources, TrainableReranker
from irplatform.reranking.splits import MEMBERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.registry import Registration

DESCRIPTION = "checkpoint.json"
CHECKPOINT_FORMAT = 1


@dataclass(frozen=True)
class RerankerChoice:
    """A reranker with its options, as a run uses it.

    Attributes:
        registration: its name and class.
        options: of the reranker.
        members: how many models are trained and averaged, where it learns.
    """

    registration: Registration[Reranker]
    options: Options
    members: int = MEMBERS

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
        return self.registration.system(self.options).holds_first_stage()

    def create(self, resources: Resources) -> Reranker:
        """An instance that has taken what it needs."""
        with self.registration.at_work("preparing"):
            reranker = self.registration.system(self.options)
            reranker.prepare(resources)
        return reranker

    def as_trained(self, recorded: Mapping[str, object]) -> RerankerChoice:
        """This reranker with a checkpoint's options, where it has its defaults now.

        Raises:
            InputError: the checkpoint has options that this version of the reranker has not.
        """
        usual = self.registration.options({})
        chosen = {
            name: value
            for name in type(usual).model_fields
            if (value := getattr(self.options, name)) != getattr(usual, name)
        }
        return replace(self, options=self.registration.options({**recorded, **chosen}))

    def in_pretraining(self) -> RerankerChoice:
        """This reranker with the options that its pre-training is done with."""
        system = self.registration.system
        if not issubclass(system, TrainableReranker):
            return self
        shared = replace(self.registration, name=system.pretrained_as or self.name)
        options = system.options_of_pretraining(self.options)
        return replace(self, registration=shared, options=options, members=1)

    def describe(self) -> dict[str, Any]:
        """What its scores depend on, beside documents, topics and training."""
        more = self.registration.system(self.options).depends_on()
        return {
            "reranker": self.name,
            **self.registration.made_by,
            "options": self.options.model_dump(mode="json"),
            **({"of": dict(more)} if more else {}),
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
    """

    choice: RerankerChoice
    members: Sequence[Reranker]
    weight: float
    fingerprint: str
    description: Mapping[str, Any]


def member_folder(folder: Path, number: int) -> Path:
    """Where a checkpoint has the weights of a member."""
    return folder / f"member-{number}"


def write_checkpoint(
    folder: Path, members: int, vector_folders: Sequence[Path], description: Mapping[str, Any]
) -> None:
    """Complete a checkpoint.

    Args:
        folder: has the weights of the members, each in its `member_folder`.
        members: how many.
        vector_folders: word vectors; the first are those that it was trained with.
        description: what is recorded about its training.
    """
    for source in vector_folders[:1]:
        shutil.rmtree(folder / "vectors", ignore_errors=True)
        shutil.copytree(source, folder / "vectors", copy_function=_link_or_copy)
    text = json.dumps({"format": CHECKPOINT_FORMAT, "members": members, **description}, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def _link_or_copy(source: str, target: str) -> None:
    """Vectors are large and never change: share the bytes where the file system can."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def read_description(folder: Path, choice: RerankerChoice) -> dict[str, Any]:
    """Read what a checkpoint says about itself.

    Raises:
        InputError: not a checkpoint, or one of another reranker.
    """
    if folder.is_file():
        raise InputError(
            "a checkpoint is the folder that `platform train` writes, not a file. Pickled models "
            "(.pt, .pkl) are not read, since they can run code.",
            path=folder,
        )
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        trained, form = description["reranker"], description["format"]
        description["options"], description["members"], description["interpolation"]["weight"]
    except FileNotFoundError as error:
        raise InputError(
            f"there is no checkpoint here: {DESCRIPTION} is missing.", path=folder
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            "this is not a checkpoint's description.", path=folder / DESCRIPTION
        ) from error
    if form != CHECKPOINT_FORMAT:
        raise InputError(
            f"this checkpoint has format {form}; this version reads format {CHECKPOINT_FORMAT}. "
            "Train it again.",
            path=folder,
        )
    if trained != choice.name:
        raise InputError(
            f"this is a checkpoint of '{trained}', not of '{choice.name}'. "
            f"Use --reranker {trained}.",
            path=folder,
        )
    return dict(description)


def load_members(folder: Path, choice: RerankerChoice, resources: Resources) -> list[Reranker]:
    """Read the members of a checkpoint."""
    description = read_description(folder, choice)
    members: list[Reranker] = []
    for number in range(int(description["members"])):
        member = choice.create(resources)
        if not isinstance(member, TrainableReranker):
            raise InputError(
                f"'{choice.name}' does not learn, so it has no checkpoints.", path=folder
            )
        with choice.registration.at_work("loading a checkpoint"):
            member.load(member_folder(folder, number))
        members.append(member)
    return members
