"""The parts of a run that are more than a call: planning, fitting, reranking one system.

`api.run` tells the story; this module holds its chapters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irplatform.collections.checks import refuse_broken
from irplatform.console import notice
from irplatform.errors import InputError, unknown
from irplatform.reranking.fitting import (
    Example,
    Lessons,
    examples,
    fit_system,
    open_checkpoint,
)
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.scoring import Values, score_topics
from irplatform.reranking.splits import FOLDS, fold_topics
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
    from irplatform.registry import Registration, Registry

FEWEST_TOPICS = 10
"""Fewer judged topics than this are not cross-validated."""


def choose_systems(
    registry: Registry,
    retrievers: Sequence[str],
    rerankers: Sequence[str],
    settings: Mapping[str, object],
) -> tuple[list[RetrieverChoice], list[RerankerChoice]]:
    """Resolve names, and give every option to the systems that have it.

    Args:
        registry: the installed plugins.
        retrievers: names.
        rerankers: names.
        settings: option to value; "delta.filters" sets an option of `delta` alone, and
            "loop.epochs" a part of the option `loop`.

    Raises:
        InputError: an unknown name, an option that none of the systems has, a wrong value.
    """
    for kind, names in (("retriever", retrievers), ("reranker", rerankers)):
        if twice := next((n for n in names if list(names).count(n) > 1), None):
            raise InputError(f"{kind} '{twice}' is named twice.")
    chosen: list[Registration[Any]] = [
        *(registry.retriever(name) for name in retrievers),
        *(registry.reranker(name) for name in rerankers),
    ]
    given = {registration.name: _settings_of(registration, settings) for registration in chosen}
    for key in settings:
        if not any(key in used for used, _ in given.values()):
            known = {name for registration in chosen for name in registration.setting_names()}
            raise unknown(f"option of {', '.join(given)}", key, known)
    made = [
        (registration, registration.options(given[registration.name][1])) for registration in chosen
    ]
    count = len(retrievers)
    return (
        [RetrieverChoice(registration, options) for registration, options in made[:count]],
        [RerankerChoice(registration, options) for registration, options in made[count:]],
    )


def _settings_of(
    registration: Registration[Any], settings: Mapping[str, object]
) -> tuple[set[str], dict[str, object]]:
    """The settings that a system takes: which keys were used, and the nested values."""
    used: set[str] = set()
    values: dict[str, Any] = {}
    names = set(registration.option_names())
    for key, value in settings.items():
        path = key.split(".")
        if path[0] == registration.name and path[0] not in names:
            path = path[1:]
        if path and (path[0] in names or key.startswith(f"{registration.name}.")):
            used.add(key)
            place = values
            for part in path[:-1]:
                inner = place.setdefault(part, _base(registration, part))
                if not isinstance(inner, dict):
                    raise InputError(f"'{part}' cannot be set both as a whole and by '{key}'.")
                place = inner
            place[path[-1]] = value
    return used, values


def _base(registration: Registration[Any], option: str) -> dict[str, Any]:
    """The present values of an option that has parts, to change some of them."""
    if option not in registration.system.Options.model_fields:
        return {}
    held = getattr(registration.options({}), option)
    return dict(held.model_dump()) if hasattr(held, "model_dump") else {}


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
    with resources.timed("retrieve"):
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
        with resources.timed("train"):
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
        seconds: per stage, what this reranker took beyond those before it.
    """

    alone: Run
    final: Run
    weight: float
    systems: Sequence[System]
    seconds: Mapping[str, float]


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
    before = dict(resources.seconds)
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
        {
            stage: spent - before.get(stage, 0.0)
            for stage, spent in resources.seconds.items()
            if spent > before.get(stage, 0.0)
        },
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
        return [(open_checkpoint(choice, teacher.checkpoint, resources), candidates.topics)]
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
        notice(
            f"{collection.id} names no training collection: cross-validating over its own {judged} "
            f"judged topics in {FOLDS} folds, so that no topic is scored by a model that saw its "
            "judgments. Or give --train-on COLLECTION or --checkpoint FOLDER."
        )
    return possible


__all__ = [
    "Candidates",
    "RerankedRun",
    "Teacher",
    "apply_checkpoint",
    "check_teacher",
    "choose_systems",
    "find_training",
    "learn_from",
    "rerank",
    "search",
]
