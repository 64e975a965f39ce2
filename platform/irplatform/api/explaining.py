"""`explain`: why a reranker puts documents of a topic where it does.

It finds or trains the very system that `run` would rank the topic with (a fold's own, where
rerankers are cross-validated), and asks one of its members. A system's score is the mean of its
members' scores; explained is the member whose scores of these documents are nearest to that mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform import pipeline
from irplatform.api.resolving import (
    ResolvedRun,
    candidates_of,
    resolve,
    search_training_topics,
    training_source_of,
)
from irplatform.errors import InputError, unknown
from irplatform.plugin import Reranker
from irplatform.registry import registry
from irplatform.reranking.evaluated_topics import warning_of_learned, warning_of_scores_read
from irplatform.reranking.explanations import explanations
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.scoring import score_topics
from irplatform.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.api.settings import RunSettings
    from irplatform.pipeline import Candidates
    from irplatform.plugin import Topic
    from irplatform.registry import Registry
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.systems import RerankerChoice, System
    from irplatform.resources import CollectionResources
    from irplatform.runs import Ranking


def explain(
    settings: RunSettings,
    topic: str,
    documents: Sequence[str],
    *,
    member: int | None = None,
) -> dict[str, Any]:
    """Explain a reranker's scores of some documents.

    Args:
        settings: what `run` would be told; `rerankers` names one.
        topic: the id of a topic of the collection.
        documents: ids of documents; they need not have been retrieved.
        member: which member of the system to ask, counted from 1; None takes the one nearest to
            the mean.

    Returns:
        `topic`, the system, and for each document its title, grade, ranks and scores, and the
        `explanation` of the reranker, as JSON.

    Raises:
        InputError: a wrong name or option, or a reranker that does not explain its scores.
    """
    plugins = registry()
    _refuse_unexplained(settings, plugins)
    resolved = resolve(settings, plugins)
    (choice,) = resolved.rerankers
    if member is not None:
        _refuse_member(member, choice, _most_members(choice, settings))
    doc_ids = list(dict.fromkeys(documents))
    topics = {each.id: each for each in resolved.collection.load_topics()}
    if topic not in topics:
        raise unknown("topic", topic, topics, of=f"'{resolved.collection.id}'")
    pipeline.refuse_broken_corpus(resolved.collection, resolved.qrels, resolved.resources)
    _refuse_unknown(doc_ids, topic, resolved)
    candidates = candidates_of(resolved)
    training, fusion = search_training_topics(resolved)
    candidates = candidates.fused(fusion)
    training_source = training_source_of(resolved, training, fusion)
    resources = pipeline.resources_with(training_source, choice, resolved.resources)
    interpolate = settings.interpolate
    for warning in (
        warning_of_learned(choice, candidates.topics, training_source, interpolate),
        warning_of_scores_read(choice, candidates.topics),
    ):
        if warning:
            resources.notice(warning)
    task = pipeline.RerankingTask(candidates, training_source, resolved.qrels, interpolate)
    assignments = pipeline.assign(choice, task, resources)
    system = next(a for a in assignments if any(each.id == topic for each in a.topics)).fit()
    return {
        "collection": resolved.collection.id,
        "reranker": choice.name,
        "topic": {
            "id": topic,
            "query": topics[topic].query,
            "fields": {name: _plain(value) for name, value in topics[topic].fields.items()},
        },
        **_explained(system, topics[topic], doc_ids, candidates, resolved, resources, member),
    }


def _explained(
    system: System,
    topic: Topic,
    doc_ids: Sequence[str],
    candidates: Candidates,
    resolved: ResolvedRun,
    resources: CollectionResources,
    member: int | None,
) -> dict[str, Any]:
    first = candidates.first.final.rankings[topic.id]
    reranked = candidates.per_topic[topic.id]
    scored_ids = list(dict.fromkeys([*reranked, *doc_ids]))
    per_member = _scores(system, topic, scored_ids, resources)
    mean = np.mean(per_member, axis=0)
    number = _member(
        system, member, per_member[:, [scored_ids.index(doc_id) for doc_id in doc_ids]]
    )
    interpolate = resolved.settings.interpolate
    weight = system.weight if interpolate is None else interpolate
    ranks = _ranks(first, reranked, mean[: len(reranked)], weight)
    documents = resources.documents(doc_ids)
    document_explanations = explanations(
        system.choice.registration, system.members[number], topic, documents
    )
    grades = (resolved.qrels or {}).get(topic.id, {})
    first_scores, scores = dict(first), dict(zip(scored_ids, mean.tolist(), strict=True))
    member_scores = dict(zip(scored_ids, per_member.T.tolist(), strict=True))
    return {
        "trained_on": system.description.get("trained_on"),
        "members": len(system.members),
        "explained_member": number + 1,
        "interpolation": weight,
        "candidates": len(reranked),
        "documents": [
            {
                "id": document.id,
                "title": document.title,
                "grade": grades.get(document.id),
                "first_stage": {
                    "rank": ranks["first_stage"].get(document.id),
                    "score": first_scores.get(document.id),
                },
                "reranker": {
                    "rank": ranks["reranker"].get(document.id),
                    "score": scores[document.id],
                    "members": member_scores[document.id],
                },
                "final": {"rank": ranks["final"].get(document.id)},
                "explanation": explanation,
            }
            for document, explanation in zip(documents, document_explanations, strict=True)
        ],
    }


def _scores(
    system: System, topic: Topic, doc_ids: Sequence[str], resources: CollectionResources
) -> Values:
    """Each member's scores of documents, [members, documents]."""
    registration = system.choice.registration
    per_member = [
        score_topics(registration, [member], [topic], {topic.id: doc_ids}, resources)[topic.id]
        for member in system.members
    ]
    return np.stack(per_member)


def _member(system: System, member: int | None, scores: Values) -> int:
    """The member to ask, counted from 0: by default the one nearest to the mean.

    Args:
        system: whose members they are.
        member: the user's choice, counted from 1.
        scores: the members' of the documents to explain, [members, documents].
    """
    if member is None:
        return int(np.argmin(np.abs(scores - scores.mean(axis=0)).sum(axis=1)))
    _refuse_member(member, system.choice, len(system.members))  # few topics make fewer members
    return member - 1


def _most_members(choice: RerankerChoice, settings: RunSettings) -> int:
    """How many members the system will have at most, before anything is trained or read."""
    if not choice.trainable:
        return 1
    if settings.checkpoint is None:
        return choice.members
    return Checkpoint.read(settings.checkpoint, of=choice.name).members


def _refuse_member(member: int, choice: RerankerChoice, members: int) -> None:
    if not 1 <= member <= members:
        raise InputError(
            f"--member {member}: '{choice.name}' has "
            + (f"the members 1 to {members}." if members > 1 else "one member alone.")
        )


def _ranks(
    first: Ranking, reranked: Sequence[str], scores: Values, weight: float
) -> dict[str, dict[str, int]]:
    """Ranks of documents, from 1, in the first stage, by the reranker alone, and in the final run.

    Args:
        first: the first stage's ranking.
        reranked: its documents that the reranker scored; the others have no rank there.
        scores: theirs.
        weight: the first stage's share in the final run.
    """
    both = Reranked.of(first, reranked, scores.tolist())
    rankings = {"first_stage": first, "reranker": both.mixed(0.0), "final": both.mixed(weight)}
    ranks = {
        name: {doc_id: rank for rank, doc_id in enumerate(ranking.doc_ids, start=1)}
        for name, ranking in rankings.items()
    }
    return {**ranks, "reranker": {doc_id: ranks["reranker"][doc_id] for doc_id in reranked}}


def _refuse_unexplained(settings: RunSettings, plugins: Registry) -> None:
    """Refuse a reranker that has nothing to tell, before anything is trained."""
    (name,) = settings.rerankers
    if plugins.reranker(name).system.explain is Reranker.explain:
        names = sorted(
            each.name
            for each in plugins.rerankers.values()
            if each.system.explain is not Reranker.explain
        )
        raise InputError(
            f"reranker '{name}' does not explain its scores. Those that do: {', '.join(names)}."
        )


def _refuse_unknown(doc_ids: Sequence[str], topic: str, resolved: ResolvedRun) -> None:
    contains = resolved.resources.index().contains
    for doc_id in doc_ids:
        if not contains(doc_id):
            raise InputError(
                f"'{resolved.collection.id}' has no document '{doc_id}'. Ids are shown by "
                f"`platform search --collection {resolved.settings.collection} --topic {topic}`."
            )


def _plain(value: str | tuple[str, ...]) -> str | list[str]:
    return value if isinstance(value, str) else list(value)
