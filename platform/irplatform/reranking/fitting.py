"""From judged topics to a system that is ready to score: members, and a weight of interpolation.

Members are trained on splits of the training topics, each validated on topics that it does not
learn from. The weight is chosen on the same out-of-sample scores.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from irplatform.collection_resources import on_this_machine
from irplatform.comparison.tests import FEWEST_TOPICS
from irplatform.errors import InputError, counted
from irplatform.files.cache import Artifact, artifact, unfinished
from irplatform.files.costs import Work
from irplatform.files.digests import fingerprint
from irplatform.reranking.interpolation import Reranked, WeightChoice, choose_weight
from irplatform.reranking.scoring import cached_scores
from irplatform.reranking.systems import ChosenReranker, FittedReranker, LaterMembers
from irplatform.reranking.training import (
    Member,
    train_members,
    train_on_workers,
    workspace,
)
from irplatform.reranking.training_set import (
    MOST_WEIGHING_TOPICS,
    Split,
    split_topics,
    weight_topics,
)
from irplatform.system.console import notice, notice_once, section, with_subject
from irplatform.training.checkpoints import KIND, Checkpoint, member_folder, write_checkpoint
from irplatform.training.topic_identity import families
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.plugin.rerankers import Reranker
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.training_set import Example, TrainingSet

TRAINING_FORMAT = 4


def fit_system(
    choice: ChosenReranker,
    training_set: TrainingSet,
    resources: CollectionResources,
    pretraining: TrainingSet | None = None,
    scores: Mapping[str, Values] | None = None,
) -> FittedReranker:
    """Train a reranker that learns, and choose its weight; or take both from the cache.

    `scores` are known scores of the training topics, for a reranker that does not learn. InputError
    if there is nothing to learn from.
    """
    if choice.trainable:
        checkpoint = train_system(choice, training_set, resources, pretraining)
        system = open_checkpoint(choice, checkpoint.path, resources, checkpoint.fingerprint)
        # The topics may have had another collection's name when it was trained on them.
        return replace(system, description={**system.description, "trained_on": training_set.label})
    _require_relevant(choice, training_set)
    system = untrained(choice, resources)
    examples = weight_topics(training_set.validation or training_set.training)
    if scores is None:
        topics = [example.topic for example in examples]
        candidates = {example.topic.id: example.labelled.candidates for example in examples}
        scores = cached_scores(system, topics, candidates, resources)
    interpolation = _choose(choice, examples, scores)
    return replace(system, weight=interpolation.weight, chosen_on=interpolation.topics)


def untrained(choice: ChosenReranker, resources: CollectionResources) -> FittedReranker:
    """Return a reranker without training, as a system with the weight 0."""
    member = LaterMembers(lambda: [choice.create(on_this_machine(resources))])
    return FittedReranker(choice, member, 0.0, fingerprint(choice.describe()), {})


def open_checkpoint(
    choice: ChosenReranker,
    folder: Path,
    resources: CollectionResources,
    made_from: str | None = None,
) -> FittedReranker:
    """Return the system that a checkpoint of this reranker holds.

    `made_from` is a fingerprint of all that it was made from, if that is known.
    """
    checkpoint = Checkpoint.read(folder, of=choice.registration.name)

    def load() -> list[Reranker]:
        create = partial(choice.create, on_this_machine(resources))
        return checkpoint.load(choice.registration, create)

    # Code and options may be others than those that it was trained with.
    origin = made_from or [checkpoint.description, choice.describe()]
    # On a GPU, the same gives other weights each time.
    return FittedReranker(
        choice,
        LaterMembers(load),
        checkpoint.weight,
        fingerprint({"made": origin, "weights": checkpoint.weights}),
        checkpoint.describe(),
        chosen_on=checkpoint.description["interpolation"].get("topics"),
        folder=checkpoint.folder,
    )


def _require_relevant(choice: ChosenReranker, training_set: TrainingSet) -> None:
    if not any(example.has_relevant for example in training_set.training):
        raise InputError(
            f"'{training_set.label}' has no relevant document to train '{choice.name}' on."
        )


def _require_validation(
    choice: ChosenReranker, training_set: TrainingSet, family_of: Sequence[int]
) -> None:
    relevant = [
        family
        for example, family in zip(training_set.training, family_of, strict=True)
        if example.has_relevant
    ]
    if training_set.validation or len(set(relevant)) > 1:
        return
    reason = (
        f"'{training_set.label}' has only one topic with a relevant document"
        if len(relevant) == 1
        else f"the topics of '{training_set.label}' with a relevant document all ask for the same "
        "or are of one source"
    )
    raise InputError(f"{reason}, so that none is left to validate '{choice.name}' on.")


def train_system(
    choice: ChosenReranker,
    training_set: TrainingSet,
    resources: CollectionResources,
    pretraining: TrainingSet | None = None,
    *,
    doing: str = "",
) -> Artifact:
    """Train the members of a system and keep them as a checkpoint in the cache.

    Pre-training makes one model with its own checkpoint, whose weights every member starts from.
    `doing` names the work in progress and notices. InputError if nothing is relevant in the
    training set, or no topic is left to validate on.
    """
    start = None
    if pretraining:
        start = train_system(
            choice.in_pretraining(), pretraining, resources, doing=f"pre-training {choice.name}"
        )
    plan = _plan(choice, training_set, resources, start)
    splits, work = plan.splits, doing or f"training {choice.name}"

    def build(folder: Path) -> None:
        notice(
            f"{work} on {training_set.label}: {counted(len(splits), 'member')}"
            f"{', each' if len(splits) > 1 else ''} on {counted(len(splits[0].training), 'topic')} "
            f"and validated on {sum(e.has_relevant for e in splits[0].validation):,}"
        )
        if len(splits) > 1:
            notice_once("members are models of one reranker; the mean of their scores ranks")
        scored, vectors, words = train_members(plan.members(folder))
        interpolation = _choose(choice, *_out_of_sample(splits, scored))
        curve = {str(weight): value for weight, value in interpolation.curve.items()}
        description = {
            **choice.describe(),
            "trained_on": training_set.label,
            "topics": len(training_set.training),
            "splits": [
                {"training": len(split.training), "validation": len(split.validation)}
                for split in splits
            ],
            "interpolation": {
                "weight": interpolation.weight,
                "topics": interpolation.topics,
                interpolation.measure: curve,
            },
            "depends_on": plan.depends_on,
        }
        topics = [*training_set.topics, *training_set.held_out]
        write_checkpoint(
            folder,
            len(splits),
            vectors,
            [*training_set.topics, *(pretraining.topics if pretraining else ())],
            description,
            [*choice.checkpoints(), *([start.path] if start else ())],
            {pair.query for pair in choice.pairs_learned(topics)},
            words,
        )
        for number in range(len(splits)):
            shutil.rmtree(workspace(folder, number))

    with section(0.5 if doing or pretraining else 1, work):
        return artifact(
            KIND, plan.label, plan.depends_on, build, resumable=resources.resume, work=plan.work
        )


def work_of_training(choice: ChosenReranker, topics: int, members: int) -> Work:
    """The work of training so many members on so many topics, for forecasts."""
    return Work("train", choice.registration.name, topics * members, choice.variant)


@dataclass(frozen=True)
class _Plan:
    """The training of a system: a split per member, and all that their weights depend on.

    Member n has the seed of the resources plus n. All begin with the weights of `start`.
    """

    choice: ChosenReranker
    training_set: TrainingSet
    resources: CollectionResources
    start: Artifact | None
    splits: Sequence[Split[Example]]
    depends_on: Mapping[str, object]

    @property
    def label(self) -> str:
        """A readable beginning of the checkpoint's name."""
        return f"{self.choice.registration.name}-{self.training_set.label}"

    @property
    def work(self) -> Work:
        """The work, for forecasts."""
        return work_of_training(self.choice, len(self.training_set.training), len(self.splits))

    def members(self, folder: Path) -> list[Member]:
        """The members to train, in the folder of their checkpoint."""
        start = member_folder(self.start.path, 0) if self.start else None
        held_out, count = self.training_set.held_out, len(self.splits)
        return [
            Member(
                self.choice, split, self.resources.of_member(n), n, folder, start, held_out, count
            )
            for n, split in enumerate(self.splits)
        ]


def _plan(
    choice: ChosenReranker,
    training_set: TrainingSet,
    resources: CollectionResources,
    start: Artifact | None,
) -> _Plan:
    _require_relevant(choice, training_set)
    family_of = families([example.topic for example in training_set.training])
    _require_validation(choice, training_set, family_of)
    topics, validation = training_set.training, training_set.validation
    useful = [example.has_relevant for example in topics]
    splits = split_topics(topics, validation, resources.seed, choice.members, family_of, useful)
    if blind := sum(not any(e.found_relevant for e in split.validation) for split in splits):
        resources.notice(
            f"WARNING: {choice.name} on {training_set.label}: {blind} of "
            f"{counted(len(splits), 'member')} {'is' if blind == 1 else 'are'} validated on topics "
            "without any relevant document among their candidates: training cannot know when to "
            "stop."
        )
    depends_on = {
        "format": TRAINING_FORMAT,
        "irplatform": __version__,
        **choice.describe(),
        "corpus": resources.corpus.fingerprint,
        "training_set": training_set.fingerprint,
        "vectors": resources.source.describe(),
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
        "members": choice.members,
        "weighing_topics": MOST_WEIGHING_TOPICS,
        "start": start.fingerprint if start else None,
        "processes": 1,  # so that checkpoints of earlier versions are found
        "holds_first_stage": choice.traits.weighs_first_stage,
        "fewest_topics": FEWEST_TOPICS,
    }
    return _Plan(choice, training_set, resources, start, splits, depends_on)


def train_ahead(
    choice: ChosenReranker,
    trainings: Sequence[tuple[TrainingSet, CollectionResources]],
    pretraining: TrainingSet | None = None,
) -> None:
    """Train members of several systems at once in workers; `train_system` finds them finished."""
    starts: list[Artifact | None] = [None] * len(trainings)
    if pretraining:
        before = choice.in_pretraining()
        of_seeds = {resources.seed: resources for _, resources in trainings}
        train_ahead(before, [(pretraining, resources) for resources in of_seeds.values()])
        doing = f"pre-training {choice.name}"
        starts = [train_system(before, pretraining, r, doing=doing) for _, r in trainings]
    with ExitStack() as stack:
        members: list[Member] = []
        for (training_set, resources), start in zip(trainings, starts, strict=True):
            plan = _plan(choice, training_set, resources, start)
            folder = stack.enter_context(unfinished(KIND, plan.label, plan.depends_on))
            if folder is not None:
                members += plan.members(folder)
        if members:
            notice(f"training {counted(len(members), 'member')} of {choice.name} at once")
            with with_subject(f"training {choice.name}"):
                train_on_workers(members)


def _out_of_sample(
    splits: Sequence[Split[Example]], scored: Sequence[Mapping[str, Values]]
) -> tuple[list[Example], dict[str, Values]]:
    """The topics that members were validated on, and the mean of these members' scores."""
    validated: dict[str, Example] = {}
    scores: dict[str, list[Values]] = {}
    for split, of_member in zip(splits, scored, strict=True):
        for example in split.weight_topics:
            validated[example.topic.id] = example
            scores.setdefault(example.topic.id, []).append(of_member[example.topic.id])
    means = {topic: np.mean(values, axis=0) for topic, values in scores.items()}
    return list(validated.values()), means


def _choose(
    choice: ChosenReranker, examples: Sequence[Example], scores: Mapping[str, Values]
) -> WeightChoice:
    reranked = {
        e.topic.id: Reranked.of(e.first, e.labelled.candidates, scores[e.topic.id].tolist())
        for e in examples
    }
    judgments = {e.topic.id: e.labelled.judgments for e in examples}
    return choose_weight(reranked, judgments, holds_first_stage=choice.traits.weighs_first_stage)
