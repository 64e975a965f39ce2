"""Reranking: a system is fitted where it learns, scores the candidates, and is interpolated."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from irplatform.errors import counted
from irplatform.files.cache import NotInCacheError, nothing_made
from irplatform.reranking.fitting import fit_system, open_checkpoint, train_ahead, untrained
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.results import RerankedRun, is_known, known_or_made
from irplatform.reranking.scoring import cached_scores
from irplatform.reranking.sending import can_be_sent
from irplatform.reranking.training import shares_features
from irplatform.reranking.training_set import (
    LearningPlan,
    TrainingSet,
    examples,
    fold_topics,
    seeds_of,
)
from irplatform.reranking.warnings import warnings_of
from irplatform.runs import Run
from irplatform.runs.names import alone_name
from irplatform.system.console import section, sections, steps, with_subject
from irplatform.training.topic_identity import families
from irplatform.workers.distribution import several_workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Topic
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.systems import ChosenReranker, FittedReranker
    from irplatform.retrieval.candidates import Candidates

    Ranked = tuple[FittedReranker, Sequence[Topic], Mapping[str, Values]]
    """A system with topics and their scores."""

_TRAINING, _WEIGHING = 6, 2
"""Parts of the progress bar, where scoring the topics has 1: of training, and of scoring others."""
_FEW_TOPICS = 5
"""A weight that was chosen on fewer gets a notice: other few topics may choose another."""


def rerank_with_seeds(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
    count: int,
    *,
    only: int | None = None,
) -> Iterator[RerankedRun]:
    """Fit a reranker and rank all topics with it, once for each of `count` seeds.

    The resources have the first seed. A reranker that does not learn ranks once. The names of
    several runs, and notices, carry their seeds. `only` leaves out the other seeds.
    """
    seeds = seeds_of(resources.seed, count if choice.trainable else 1)
    several = len(seeds) > 1
    seeds = [seed for seed in seeds if only in (None, seed)]
    with sections(len(seeds)):
        _train_ahead(choice, candidates, learning, resources, seeds)
        for seed in seeds:
            # Artifacts that other systems use are not part of these runs.
            seeded = replace(resources, seed=seed, artifacts=candidates.artifacts)
            with section(), with_subject(f"seed {seed}" if several else ""):
                reranked = rerank(choice, candidates, learning.of_seed(seed), seeded)
            yield reranked.with_suffix(f"-seed{seed}") if several else reranked


def _train_ahead(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
    seeds: Sequence[int],
) -> None:
    """Train the members of all seeds and folds at once, if workers can."""
    if not (several_workers() and choice.trainable and resources.resume):
        return
    if learning.checkpoint or shares_features(choice) or not can_be_sent(choice, resources):
        return
    seeded = [
        of_seed
        for seed in seeds
        if not is_known(
            choice,
            candidates,
            learning.of_seed(seed),
            of_seed := replace(resources, seed=seed),
        )
    ]
    trainings = [
        (training_set, of_seed)
        for of_seed in seeded
        for training_set, _ in training_per_topics(
            choice, candidates, learning.of_seed(of_seed.seed), of_seed
        )
        if training_set is not None
    ]
    if len(trainings) > 1:
        with resources.stopwatch.timed("train"):
            train_ahead(choice, trainings, learning.pretraining_of(choice))


def rerank(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
) -> RerankedRun:
    """Fit a reranker and rank all topics with it, unless it is known what comes of that.

    In cross-validation there is one system per fold. See `rerank_with_seeds`.
    """
    if not choice.trainable and learning.interpolate is not None:  # there is no weight to choose
        learning = LearningPlan(interpolate=learning.interpolate)
    make = partial(_fit_and_rank, choice, candidates, learning, resources)
    return known_or_made(choice, candidates, learning, resources, make)


def _fit_and_rank(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
    systems: Sequence[FittedReranker],
) -> RerankedRun:
    """Fit a reranker and rank; of known `systems` only the scores are read, if they are kept."""
    opened = resources_with(learning, choice, resources)
    if scores := _kept_scores(candidates, learning, opened, systems):
        return _mixed(choice, candidates, learning, resources, scores)
    warnings = warnings_of(choice, candidates.topics, learning)
    for warning in warnings:
        opened.notice(warning)
    ranked = _fold_scores(choice, candidates, learning, opened)
    run = _mixed(choice, candidates, learning, resources, ranked)
    if learning.interpolate is None and (few := _few_topics(choice, run.systems)):
        opened.notice(few)
    return replace(run, warnings=warnings)


def _kept_scores(
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
    systems: Sequence[FittedReranker],
) -> list[Ranked]:
    """The scores of a known system that ranks all topics; none if they are not in the cache."""
    if not systems or learning.folds:
        return []
    (system,) = systems
    try:
        with nothing_made():
            topics, per_topic = candidates.topics, candidates.per_topic
            return [(system, topics, cached_scores(system, topics, per_topic, resources))]
    except NotInCacheError:
        return []


def _mixed(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
    ranked: Sequence[Ranked],
) -> RerankedRun:
    """Mix scores with the first stage."""
    weights: list[float] = []
    alone, final = {}, {}
    for system, topics, scores in ranked:
        weight = system.weight if learning.interpolate is None else learning.interpolate
        for topic in topics:
            reranked = Reranked.of(
                candidates.first.rankings[topic.id],
                candidates.per_topic[topic.id],
                scores[topic.id].tolist(),
            )
            alone[topic.id], final[topic.id] = reranked.mixed(0.0), reranked.mixed(weight)
        weights.append(weight)
    order = [topic.id for topic in candidates.topics]
    return RerankedRun(
        candidates.cut(Run(alone_name(choice.name), {t: alone[t] for t in order})),
        candidates.cut(Run(choice.name, {t: final[t] for t in order})),
        sum(weights) / len(weights),
        [system for system, *_ in ranked],
        resources,
        weights=weights,
    )


def _fold_scores(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
) -> list[Ranked]:
    """Fit a system per fold; return each, without its members, with its topics and their scores."""
    timed, per_topic = resources.stopwatch.timed, candidates.per_topic
    known_scores: Mapping[str, Values] | None = None
    if learning.folds and not choice.trainable:  # alike in all folds but the weight
        with timed("rerank"):
            plain = untrained(choice, resources)
            known_scores = cached_scores(plain, candidates.topics, per_topic, resources)
    fitting = 0 if learning.training_set is None else _WEIGHING
    if choice.trainable:
        fitting = 0 if learning.checkpoint else _TRAINING
    folds = training_per_topics(choice, candidates, learning, resources)
    scored = []
    with steps("fold", len(folds)) if len(folds) > 1 else sections(1) as advance:
        for training_set, topics in folds:
            with sections(fitting + 1):
                with section(fitting), timed("train"):
                    system = fit(choice, learning, training_set, resources, known_scores)
                with section(1), timed("rerank"):
                    scores = known_scores or cached_scores(system, topics, per_topic, resources)
            advance(1)
            scored.append((replace(system, members=()), topics, scores))
    return scored


def training_per_topics(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
) -> list[tuple[TrainingSet | None, Sequence[Topic]]]:
    """Return training sets, each with the topics that a system of it scores.

    There is one for all topics, or None where nothing is learned. In cross-validation there is one
    per fold, without the fold's topics.
    """
    if not learning.folds or (learning.checkpoint and choice.trainable):
        return [(learning.training_set, candidates.topics)]
    judged = examples(candidates, resources)
    if not judged:
        return [(None, candidates.topics)]
    unjudged = [topic for topic in candidates.topics if topic.id not in candidates.qrels]
    family_of = families([example.topic for example in judged])
    useful = [example.has_relevant for example in judged]
    folds: list[tuple[TrainingSet | None, Sequence[Topic]]] = []
    count, seed = learning.fold_count, resources.seed
    for number, split in enumerate(fold_topics(judged, count, seed, family_of, useful)):
        held_out = [example.topic for example in split.validation]
        label = f"fold {number + 1} of {count}"
        training_set = TrainingSet(label, split.training, held_out=held_out)
        folds.append((training_set, held_out + (unjudged if number == 0 else [])))
    return folds


def fit(
    choice: ChosenReranker,
    learning: LearningPlan,
    training_set: TrainingSet | None,
    resources: CollectionResources,
    scores: Mapping[str, Values] | None = None,
) -> FittedReranker:
    """Make a reranker ready to score, which may take hours of training.

    `training_set` is None if it learns nothing. `scores` are known scores of all topics, for a
    reranker that does not learn.
    """
    if learning.checkpoint and choice.trainable:
        return open_checkpoint(choice, learning.checkpoint, resources)
    if training_set is None:
        return untrained(choice, resources)
    return fit_system(choice, training_set, resources, learning.pretraining_of(choice), scores)


def _few_topics(choice: ChosenReranker, systems: Sequence[FittedReranker]) -> str:
    """Say that weights were chosen on so few topics that it may be luck; "" if not."""
    counts = [system.chosen_on for system in systems if system.chosen_on is not None]
    if not counts or min(counts) >= _FEW_TOPICS:
        return ""
    fold = " in a fold" if len(systems) > 1 else ""
    return (
        f"{choice.name}: the first stage's share was chosen on only "
        f"{counted(min(counts), 'topic')}{fold}, where luck decides much"
    )


def resources_with(
    learning: LearningPlan, choice: ChosenReranker, resources: CollectionResources
) -> CollectionResources:
    """Return the resources, with a checkpoint's own word vectors if it is loaded."""
    checkpoint = learning.checkpoint_of(choice)
    return resources.with_vectors(checkpoint.vectors) if checkpoint else resources
