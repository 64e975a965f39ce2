"""What systems are fitted on: judged topics with their candidates, and where they come from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform.data import LabelledTopic, Topic
from irplatform.errors import counted
from irplatform.system.console import notice
from irplatform.system.digests import fingerprint
from irplatform.training.topic_identity import topic_marks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from irplatform.reranking.systems import ChosenReranker
    from irplatform.runs import Ranking


@dataclass(frozen=True)
class Example:
    """A judged topic with its candidates and what the first stage thinks of them."""

    labelled: LabelledTopic
    first: Ranking

    @property
    def topic(self) -> Topic:
        """The topic."""
        return self.labelled.topic

    @property
    def has_relevant(self) -> bool:
        """Whether something is relevant to the topic: others tell nothing about a ranking."""
        return any(grade > 0 for grade in self.labelled.judgments.values())

    @property
    def found_relevant(self) -> bool:
        """Whether something relevant is among its candidates, so that they can be ranked well."""
        judgments = self.labelled.judgments
        return any(judgments.get(doc_id, 0) > 0 for doc_id in self.labelled.candidates)


@dataclass(frozen=True)
class TrainingSet:
    """What systems are fitted on.

    Attributes:
        label: where it comes from, for messages and names: the training collection's id.
        training: judged topics.
        validation: judged topics apart, where the collection has them.
        held_out: the topics of the fold that is left out, in cross-validation.
    """

    label: str
    training: Sequence[Example]
    validation: Sequence[Example] | None = None
    held_out: Sequence[Topic] = ()

    @property
    def topics(self) -> list[Topic]:
        """All topics, those of the validation included."""
        return [
            example.topic for part in (self.training, self.validation or ()) for example in part
        ]

    def with_validation_apart(self) -> TrainingSet:
        """The same without validation topics that ask what a training topic asks; tells of them."""
        learned = {mark for example in self.training for mark in topic_marks(example.topic)}
        validation = self.validation or ()
        unseen = [each for each in validation if learned.isdisjoint(topic_marks(each.topic))]
        if not (repeated := len(validation) - len(unseen)):
            return self
        notice(
            f"{self.label}: {counted(repeated, 'validation topic')} of {len(validation):,} "
            f"{'asks' if repeated == 1 else 'ask'} what a training topic asks, and "
            f"{'is' if repeated == 1 else 'are'} left out"
        )
        return replace(self, validation=unseen or None)

    def digest(self) -> str:
        """Stands for topics, candidates, judgments, first-stage rankings and what is held out."""
        mark = hashlib.sha256()
        for part in (self.training, self.validation or ()):
            mark.update(b"\0part")
            for example in part:
                labelled = example.labelled
                mark.update(fingerprint({"topic": labelled.topic.describe()}).encode())
                mark.update(repr(labelled.candidates).encode())
                mark.update(repr(sorted(labelled.judgments.items())).encode())
                mark.update(repr(example.first.doc_ids).encode())
                mark.update(example.first.scores.tobytes())
        for topic in self.held_out:
            mark.update(b"\0held out" + fingerprint({"topic": topic.describe()}).encode())
        return mark.hexdigest()[:16]


@dataclass(frozen=True)
class LearningPlan:
    """Where rerankers learn from: a checkpoint, a training collection, or the topics' own folds.

    Attributes:
        training_set: the training collection's topics, or None.
        checkpoint: a folder to load instead of training.
        folds: cross-validate over the evaluated collection's own judged topics.
        pretraining: what rerankers that learn are pre-trained on, or None.
        declared: the same for those that name their pre-training themselves (`pretrained_on`),
            or None.
    """

    training_set: TrainingSet | None = None
    checkpoint: Path | None = None
    folds: bool = False
    pretraining: TrainingSet | None = None
    declared: TrainingSet | None = None

    def pretraining_of(self, choice: ChosenReranker) -> TrainingSet | None:
        """What a reranker is pre-trained on."""
        return self.declared if self.declared and choice.pretrained_on else self.pretraining


def examples(
    topics: Sequence[Topic],
    judgments: Mapping[str, Mapping[str, float]],
    first: Mapping[str, Ranking],
    candidates: Mapping[str, tuple[str, ...]],
    missing: AbstractSet[str] = frozenset(),
) -> list[Example]:
    """The topics that have judgments, with their candidates.

    Args:
        topics: the topics.
        judgments: topic id to document id to grade. A negative one says that nobody judged the
            document, and that is how it is taken.
        first: the first stage's rankings.
        candidates: topic id to the ids of its candidates.
        missing: judged documents that do not exist; nothing is learned from their judgments.
    """
    judged = []
    for topic in topics:
        if topic.id in judgments:
            scores = dict(first[topic.id])
            doc_ids = candidates[topic.id]
            grades = judgments[topic.id]
            if not missing.isdisjoint(grades) or min(grades.values(), default=0) < 0:
                grades = {d: g for d, g in grades.items() if d not in missing and g >= 0}
            labelled = LabelledTopic(topic, doc_ids, grades, tuple(scores[d] for d in doc_ids))
            judged.append(Example(labelled, first[topic.id]))
    return judged
