"""Reranking: a system is fitted where it learns, scores the candidates, and is interpolated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted
from irplatform.reranking.fitting import fit_system, open_checkpoint, untrained
from irplatform.reranking.folds import fold_topics, seeds_of
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.scoring import cached_scores
from irplatform.reranking.training_set import LearningPlan, TrainingSet
from irplatform.reranking.warnings import warnings_of
from irplatform.runs import Run
from irplatform.runs.run import alone_name
from irplatform.system.console import notice, parts, speaking_of, stage, steps
from irplatform.training.checkpoints import Checkpoint
from irplatform.training.topic_identity import families

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Qrels, Topic
    from irplatform.reranking.candidates import Candidates
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.systems import ChosenReranker, System
    from irplatform.resources import CollectionResources


# Which system scores which topics: one for all of them, or one per fold of cross-validation.

FOLDS = 5
"""Of cross-validation over a collection's own topics."""


@dataclass(frozen=True)
class RerankingTask:
    """What the rerankers of a run are given.

    Attributes:
        candidates: the evaluated topics.
        learning: what to learn from.
        qrels: the topics' judgments; only cross-validation looks at them, and never at a topic's
            own.
        interpolate: the first stage's share, or None to choose it on validation topics.
    """

    candidates: Candidates
    learning: LearningPlan
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
    choice: ChosenReranker,
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
    topics, qrels, source = task.candidates.topics, task.qrels or {}, task.learning
    pretraining = source.pretraining_of(choice)
    if source.checkpoint is not None and choice.trainable:
        return [Assignment(partial(open_checkpoint, choice, source.checkpoint, resources), topics)]
    if source.training_set is not None:
        fit = partial(fit_system, choice, source.training_set, resources, pretraining)
        return [Assignment(fit, topics)]
    judged = task.candidates.examples(qrels, resources)
    if not source.folds or not judged:
        return [Assignment(partial(untrained, choice, resources), topics)]
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


_TRAINING, _WEIGHING = 6, 2
"""Parts of the progress bar, where scoring the topics has 1: of training, and of scoring others."""
_FEW_TOPICS = 5
"""Where a weight was chosen on fewer, that is told: another few topics may choose another."""


@dataclass(frozen=True)
class RerankedRun:
    """What a reranker made of the candidates.

    Attributes:
        alone: the run of the reranker's scores.
        final: the run of both scores, mixed with `weight`.
        weight: the first stage's share; the mean where folds chose their own.
        systems: the systems that made it, without their members: one, or one per fold.
        warnings: what a reader of its scores must know.
    """

    alone: Run
    final: Run
    weight: float
    systems: Sequence[System]
    warnings: Sequence[str] = ()

    def with_suffix(self, suffix: str) -> RerankedRun:
        """The same, under longer names."""
        final = f"{self.final.name}{suffix}"
        return replace(
            self, alone=self.alone.renamed(alone_name(final)), final=self.final.renamed(final)
        )


def rerank(
    choice: ChosenReranker, task: RerankingTask, resources: CollectionResources
) -> RerankedRun:
    """Fit a reranker and rank all topics with it.

    Args:
        choice: the reranker.
        task: what it ranks, and what it learns from.
        resources: the harness's resources.
    """
    candidates, interpolate = task.candidates, task.interpolate
    resources = resources_with(task.learning, choice, resources)
    warnings = warnings_of(choice, candidates.topics, task.learning, interpolate)
    for warning in warnings:
        resources.notice(warning)
    systems: list[System] = []
    alone, final = {}, {}
    for system, topics, scores in _scored(choice, task, resources):
        weight = system.weight if interpolate is None else interpolate
        for topic in topics:
            reranked = Reranked.of(
                candidates.first.final.rankings[topic.id],
                candidates.per_topic[topic.id],
                scores[topic.id].tolist(),
            )
            alone[topic.id], final[topic.id] = reranked.mixed(0.0), reranked.mixed(weight)
        systems.append(replace(system, members=()))  # folds have five networks each
    if interpolate is None and (few := _few_topics(choice, systems)):
        resources.notice(few)
    weights = [s.weight if interpolate is None else interpolate for s in systems]
    order = [topic.id for topic in candidates.topics]
    return RerankedRun(
        candidates.first.cut(Run(alone_name(choice.name), {t: alone[t] for t in order})),
        candidates.first.cut(Run(choice.name, {t: final[t] for t in order})),
        sum(weights) / len(weights),
        systems,
        warnings,
    )


def _few_topics(choice: ChosenReranker, systems: Sequence[System]) -> str:
    """What to tell where weights were chosen on so few topics that it may be luck, or ""."""
    counts = [system.chosen_on for system in systems if system.chosen_on is not None]
    if not counts or min(counts) >= _FEW_TOPICS:
        return ""
    fold = " in a fold" if len(systems) > 1 else ""
    return (
        f"{choice.name}: the first stage's share was chosen on only "
        f"{counted(min(counts), 'topic')}{fold}, where luck decides much"
    )


def _scored(
    choice: ChosenReranker, task: RerankingTask, resources: CollectionResources
) -> Iterator[tuple[System, Sequence[Topic], Mapping[str, Values]]]:
    """The systems one after the other: the topics that each scores, and their scores."""
    if not choice.trainable and task.interpolate is not None:  # there is no weight to choose
        task = replace(task, learning=LearningPlan())
    candidates = task.candidates
    own_scores: Mapping[str, Values] | None = None
    if task.learning.folds and not choice.trainable:  # alike in all folds but the weight
        with resources.stopwatch.timed("rerank"):
            own_scores = cached_scores(
                untrained(choice, resources), candidates.topics, candidates.per_topic, resources
            )
    assigned = assign(choice, task, resources, own_scores)
    fitting = 0 if task.learning.training_set is None else _WEIGHING
    if choice.trainable:
        fitting = 0 if task.learning.checkpoint else _TRAINING
    with steps("fold", len(assigned)) if len(assigned) > 1 else parts(1) as advance:
        for assignment in assigned:
            with parts(fitting + 1):
                with stage("", fitting), resources.stopwatch.timed("train"):
                    system = assignment.fit()
                with stage("", 1), resources.stopwatch.timed("rerank"):
                    scores = own_scores or cached_scores(
                        system, assignment.topics, candidates.per_topic, resources
                    )
            advance(1)
            yield system, assignment.topics, scores


def rerank_with_seeds(
    choice: ChosenReranker, task: RerankingTask, resources: CollectionResources, count: int
) -> Iterator[tuple[RerankedRun, CollectionResources]]:
    """Fit a reranker and rank all topics with it, once for each of several seeds.

    Args:
        choice: the reranker; one that does not learn ranks once.
        task: see `rerank`.
        resources: the harness's resources; the first seed is theirs.
        count: how many seeds; where there are several, the names of the runs carry them, and so
            does every line that is told meanwhile.

    Yields:
        The runs of a seed, and the resources that they were made with.
    """
    seeds = seeds_of(resources.seed, count if choice.trainable else 1)
    several = len(seeds) > 1
    with parts(len(seeds)) as advance:
        for seed in seeds:
            # What others of the process use is not what these runs are made with.
            seeded = replace(resources, seed=seed, artifacts=task.candidates.first.used)
            with speaking_of(f"seed {seed}" if several else ""):
                reranked = rerank(choice, task, seeded)
            advance(1)
            yield (reranked.with_suffix(f"-seed{seed}") if several else reranked), seeded


def resources_with(
    learning: LearningPlan, choice: ChosenReranker, resources: CollectionResources
) -> CollectionResources:
    """The resources, with a checkpoint's own word vectors where it is loaded."""
    if learning.checkpoint is None or not choice.trainable:
        return resources
    return resources.with_vectors(Checkpoint.read(learning.checkpoint).vectors)


def apply_checkpoint(
    checkpoint: Path | None, rerankers: Sequence[ChosenReranker]
) -> list[ChosenReranker]:
    """The rerankers, the one that a checkpoint belongs to with the options it was trained with.

    Raises:
        InputError: it is no checkpoint, not whole, or of another reranker, or several rerankers
            learn.
    """
    if checkpoint is None:
        return list(rerankers)
    trainable = [choice for choice in rerankers if choice.trainable]
    if len(trainable) != 1:
        raise InputError("--checkpoint needs exactly one reranker that learns.")
    read = Checkpoint.read(checkpoint, of=trainable[0].name)
    read.check_members()
    recorded = read.options
    trained = trainable[0].as_trained(recorded)
    options = trained.options.model_dump(mode="json")
    changed = [name for name in options if name in recorded and options[name] != recorded[name]]
    if changed:
        notice(
            f"{checkpoint} was trained with other options ({', '.join(changed)}); the share of the "
            "first stage that it brings was chosen with those."
        )
    return [trained if choice.trainable else choice for choice in rerankers]
