"""The parts of a run that are more than a call: searching, learning, reranking.

`api.run` tells the story; this module holds its chapters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform.collections.checks import refuse_broken
from irplatform.console import notice
from irplatform.errors import InputError
from irplatform.reranking.fitting import (
    Example,
    Lessons,
    examples,
    fit_system,
    learned_topics,
    open_checkpoint,
)
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.scoring import Values, score_topics
from irplatform.reranking.splits import fold_topics
from irplatform.reranking.systems import RerankerChoice, System, read_description
from irplatform.resources import CollectionResources, VectorSource
from irplatform.retrieval.first_stage import FirstStage, RetrieverChoice, retrieve
from irplatform.runs import Run
from irplatform.storage import artifact, fingerprint, home

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.collections import Collection, Qrels
    from irplatform.plugin import Topic

FOLDS = 5
"""Of cross-validation over a collection's own topics."""
FEWEST_TOPICS = 10
"""Fewer judged topics than this are not cross-validated."""


@dataclass(frozen=True)
class Candidates:
    """A collection's topics after the first stage."""

    topics: Sequence[Topic]
    first: FirstStage
    per_topic: Mapping[str, tuple[str, ...]]

    def examples(self, qrels: Qrels) -> list[Example]:
        """The judged topics to learn from."""
        return examples(self.topics, qrels, self.first.final.rankings, self.per_topic)


def refuse_broken_corpus(
    collection: Collection, qrels: Qrels | None, resources: CollectionResources
) -> None:
    """Index the corpus, and see that it is whole; a corpus that passed once is not looked at again.

    Raises:
        InputError: many documents are empty, or many relevant ones are missing.
    """
    judged = {topic: dict(grades) for topic, grades in (qrels or {}).items()}
    index = resources.index_artifact().fingerprint

    def look(_folder: Path) -> None:
        stats = resources.index().stats()
        refuse_broken(
            collection,
            qrels,
            contains=resources.index().contains,
            documents=stats["documents"],
            empty=stats["documents"] - stats["non_empty_documents"],
        )

    with resources.timed("index"):
        artifact("check", collection.id, {"index": index, "qrels": fingerprint(judged)}, look)


def search(
    collection: Collection,
    retrievers: Sequence[RetrieverChoice],
    depth: int,
    rerank_depth: int,
    resources: CollectionResources,
) -> Candidates:
    """Retrieve candidates for all topics of a collection."""
    topics = list(collection.load_topics())
    first = retrieve(retrievers, topics, depth, resources, label=collection.id)
    return Candidates(topics, first, first.candidates(rerank_depth))


@dataclass(frozen=True)
class Teacher:
    """Where rerankers learn from: a checkpoint, a training collection, or the topics' own folds.

    Attributes:
        lessons: the training collection's topics, or None.
        checkpoint: a folder to load instead of training.
        folds: cross-validate over the evaluated collection's own judged topics.
    """

    lessons: Lessons | None = None
    checkpoint: Path | None = None
    folds: bool = False


def find_training(collection: Collection, train_on: Collection | None) -> Collection | None:
    """The collection that trains rerankers for this one, if there is one.

    Raises:
        InputError: it is the evaluated collection itself, or it has no judgments.
    """
    training = train_on or (collection.training() if collection.training else None)
    if training is None:
        return None
    if training.id == collection.id:
        raise InputError(f"'{collection.id}' cannot train rerankers for itself.")
    if training.load_qrels is None:
        raise InputError(f"'{training.id}' has no judgments to train on.")
    return training


def learn_from(
    training: Collection,
    retrievers: Sequence[RetrieverChoice],
    depth: int,
    rerank_depth: int,
    resources: CollectionResources,
) -> Lessons:
    """Retrieve candidates for the training topics, and the validation topics where there are.

    Raises:
        InputError: the training collection has other documents.
    """
    parts: list[list[Example]] = []
    validation = training.validation() if training.validation else None
    for part in (training, validation):
        if part is None or part.load_qrels is None:
            parts.append([])
            continue
        if part.corpus.fingerprint != resources.corpus.fingerprint:
            raise InputError(
                f"'{part.id}' has other documents than the evaluated collection. Train on it with "
                "`platform train` and give the result with --checkpoint."
            )
        found = search(part, retrievers, depth, rerank_depth, resources)
        parts.append(found.examples(part.load_qrels()))
    return Lessons(training.id, parts[0], parts[1] or None)


@dataclass(frozen=True)
class RerankedRun:
    """What a reranker made of the candidates.

    Attributes:
        alone: the run of the reranker's scores.
        final: the run of both scores, mixed with `weight`.
        weight: the first stage's share; the mean where folds chose their own.
        systems: the systems that made it: one, or one per fold.
    """

    alone: Run
    final: Run
    weight: float
    systems: Sequence[System]


def rerank(
    choice: RerankerChoice,
    candidates: Candidates,
    qrels: Qrels | None,
    teacher: Teacher,
    interpolate: float | None,
    resources: CollectionResources,
) -> RerankedRun:
    """Fit a reranker and rank all topics with it.

    Args:
        choice: the reranker.
        candidates: the evaluated topics.
        qrels: their judgments; only cross-validation looks at them, and never at a topic's own.
        teacher: what to learn from.
        interpolate: the first stage's share, or None to choose it on validation topics.
        resources: what the harness lends.
    """
    if teacher.checkpoint is not None and choice.trainable:
        source = VectorSource(ready=_vectors_of(teacher.checkpoint))
        resources = replace(resources, source=source, _vectors={})
    with resources.timed("train"):
        assignments = _assign(choice, candidates, qrels, teacher, resources)
    alone, final = {}, {}
    for system, topics in assignments:
        with resources.timed("rerank"):
            scores = _score(system, topics, candidates, resources)
        weight = system.weight if interpolate is None else interpolate
        for topic in topics:
            held = candidates.per_topic[topic.id]
            both = Reranked.of(
                candidates.first.final.rankings[topic.id], held, scores[topic.id].tolist()
            )
            alone[topic.id], final[topic.id] = both.mixed(0.0), both.mixed(weight)
    weights = [s.weight if interpolate is None else interpolate for s, _ in assignments]
    order = [topic.id for topic in candidates.topics]
    return RerankedRun(
        Run(f"{choice.name}-alone", {t: alone[t] for t in order}),
        Run(choice.name, {t: final[t] for t in order}),
        sum(weights) / len(weights),
        [system for system, _ in assignments],
    )


def _vectors_of(checkpoint: Path) -> Path | None:
    folder = checkpoint / "vectors"
    return folder if folder.is_dir() else None


def _assign(
    choice: RerankerChoice,
    candidates: Candidates,
    qrels: Qrels | None,
    teacher: Teacher,
    resources: CollectionResources,
) -> list[tuple[System, Sequence[Topic]]]:
    """Which system scores which topics."""
    if teacher.checkpoint is not None and choice.trainable:
        system = open_checkpoint(choice, teacher.checkpoint, resources)
        if learned := learned_topics(system, candidates.topics):
            notice(
                f"WARNING: {choice.name} was trained on {len(learned):,} of these "
                f"{len(candidates.topics):,} topics ({', '.join(learned[:5])}, …): its scores "
                "show what it remembers."
            )
        return [(system, candidates.topics)]
    if teacher.lessons is not None:
        return [(fit_system(choice, teacher.lessons, resources), candidates.topics)]
    judged = candidates.examples(qrels or {})
    if not teacher.folds or not judged:
        member = choice.create(resources)
        mark = fingerprint(choice.describe())
        return [(System(choice, [member], 0.0, mark, {}), candidates.topics)]
    assigned: list[tuple[System, Sequence[Topic]]] = []
    unjudged = [t for t in candidates.topics if t.id not in (qrels or {})]
    for number, split in enumerate(fold_topics(judged, FOLDS, resources.seed)):
        lessons = Lessons(f"fold {number + 1} of {FOLDS}", split.training)
        topics = [e.topic for e in split.validation] + (unjudged if number == 0 else [])
        assigned.append((fit_system(choice, lessons, resources), topics))
    return assigned


def _score(
    system: System,
    topics: Sequence[Topic],
    candidates: Candidates,
    resources: CollectionResources,
) -> dict[str, Values]:
    """Score topics, with a journal in the cache that an interrupted run goes on from."""
    depends_on = {
        "system": system.fingerprint,
        "first": candidates.first.fingerprint,
        "corpus": resources.corpus.fingerprint,
        "candidates": [[t.id, t.query, candidates.per_topic[t.id]] for t in topics],
        "vectors": resources.source.describe(),
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
    journal = home() / "journal" / f"{system.choice.name}-{fingerprint(depends_on)}.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    if not resources.resume:
        journal.unlink(missing_ok=True)
    scores = score_topics(
        system.choice.registration,
        system.members,
        topics,
        candidates.per_topic,
        resources,
        journal,
    )
    journal.unlink(missing_ok=True)
    return scores


def apply_checkpoint(
    checkpoint: Path | None, rerankers: Sequence[RerankerChoice]
) -> list[RerankerChoice]:
    """The rerankers, the one that a checkpoint belongs to with the options it was trained with.

    Raises:
        InputError: it is no checkpoint, or of another reranker, or several rerankers learn.
    """
    if checkpoint is None:
        return list(rerankers)
    trainable = [choice for choice in rerankers if choice.trainable]
    if len(trainable) != 1:
        raise InputError("--checkpoint needs exactly one reranker that learns.")
    description = read_description(checkpoint, trainable[0])
    return [
        choice.as_trained(description["options"]) if choice.trainable else choice
        for choice in rerankers
    ]


def check_teacher(
    collection: Collection, rerankers: Sequence[RerankerChoice], qrels: Qrels | None
) -> bool:
    """Whether rerankers can be cross-validated on a collection without a training partner.

    Raises:
        InputError: they cannot, and one of them has to learn.
    """
    judged = sum(any(g > 0 for g in grades.values()) for grades in (qrels or {}).values())
    possible = judged >= FEWEST_TOPICS
    learning = [choice.name for choice in rerankers if choice.trainable]
    if learning and not possible:
        raise InputError(
            f"'{collection.id}' names no training collection for {', '.join(learning)}, and "
            f"its own {judged} judged topics are too few to cross-validate (at least "
            f"{FEWEST_TOPICS}). "
            "Give --train-on COLLECTION or --checkpoint FOLDER."
        )
    if rerankers and possible:
        what = "model" if learning else "choice of the first stage's share"
        notice(
            f"{collection.id} names no training collection: cross-validating over its own {judged} "
            f"judged topics in {FOLDS} folds, so that no topic is scored by a {what} that saw its "
            "judgments. Or give --train-on COLLECTION or --checkpoint FOLDER."
        )
    return possible


__all__ = [
    "Candidates",
    "RerankedRun",
    "Teacher",
    "apply_checkpoint",
    "check_teacher",
    "find_training",
    "learn_from",
    "rerank",
    "search",
]
