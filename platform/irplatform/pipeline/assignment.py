"""Which system scores which topics: one for all of them, or one per fold of cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from irplatform.reranking.fitting import fit_system, open_checkpoint, unweighed
from irplatform.reranking.splits import fold_topics
from irplatform.reranking.training_set import TrainingSet
from irplatform.training.topic_marks import families

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.collections import Qrels
    from irplatform.pipeline.candidates import Candidates
    from irplatform.plugin import Topic
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.systems import RerankerChoice, System
    from irplatform.reranking.training_set import TrainingSource
    from irplatform.resources import CollectionResources

FOLDS = 5
"""Of cross-validation over a collection's own topics."""


@dataclass(frozen=True)
class RerankingTask:
    """What the rerankers of a run are given.

    Attributes:
        candidates: the evaluated topics.
        training_source: what to learn from.
        qrels: the topics' judgments; only cross-validation looks at them, and never at a topic's
            own.
        interpolate: the first stage's share, or None to choose it on validation topics.
    """

    candidates: Candidates
    training_source: TrainingSource
    qrels: Qrels | None = None
    interpolate: float | None = None


@dataclass(frozen=True)
class Assignment:
    """A system and what it scores.

    Attributes:
        fit: makes it ready, which may mean hours of training.
        topics: the topics that it scores; it has learned from none of them.
    """

    fit: Callable[[], System]
    topics: Sequence[Topic]


def assign(
    choice: RerankerChoice,
    task: RerankingTask,
    resources: CollectionResources,
    scores: Mapping[str, Values] | None = None,
) -> list[Assignment]:
    """Say which system scores which topics; nothing is fitted yet.

    Args:
        choice: the reranker.
        task: the topics, and what to learn from.
        resources: the harness's resources.
        scores: those of all topics, where the reranker learns nothing and they are known.
    """
    topics, qrels, source = task.candidates.topics, task.qrels or {}, task.training_source
    pretraining = source.pretraining_of(choice)
    if source.checkpoint is not None and choice.trainable:
        return [Assignment(partial(open_checkpoint, choice, source.checkpoint, resources), topics)]
    if source.training_set is not None:
        fit = partial(fit_system, choice, source.training_set, resources, pretraining)
        return [Assignment(fit, topics)]
    judged = task.candidates.examples(qrels, resources)
    if not source.folds or not judged:
        return [Assignment(partial(unweighed, choice, resources), topics)]
    assigned = []
    unjudged = [topic for topic in topics if topic.id not in qrels]
    kin = families([example.topic for example in judged])
    useful = [example.has_relevant for example in judged]
    for number, split in enumerate(fold_topics(judged, FOLDS, resources.seed, kin, useful)):
        held_out = [example.topic for example in split.validation]
        label = f"fold {number + 1} of {FOLDS}"
        training_set = TrainingSet(label, split.training, held_out=held_out)
        fit = partial(fit_system, choice, training_set, resources, pretraining, scores)
        assigned.append(Assignment(fit, held_out + (unjudged if number == 0 else [])))
    return assigned
