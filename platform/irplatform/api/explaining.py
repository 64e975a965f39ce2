"""`explain`: why a reranker puts documents of a topic where it does.

It finds or trains the very system that `run` would rank the topic with (a fold's own, where
rerankers are cross-validated), and asks one of its members. A system's score is the mean of its
members' scores; explained is the member whose scores of these documents are nearest to that mean.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from irplatform.errors import InputError, PluginError, unknown
from irplatform.plugin import Reranker
from irplatform.registry import registry
from irplatform.reranking.evaluated_topics import warning_of_learned, warning_of_scores_read
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.scoring import score_topics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.api.settings import RunSettings
    from irplatform.pipeline import Candidates
    from irplatform.plugin import Topic
    from irplatform.registry import Registry
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.systems import System
    from irplatform.resources import CollectionResources
    from irplatform.runs import Ranking


def explain(
    settings: RunSettings,
    topic: str,
    documents: Sequence[str],
    *,
    member: int | None = None,
    plugins: Registry | None = None,
) -> dict[str, Any]:
    """Explain a reranker's scores of some documents.

    Args:
        settings: what `run` would be told; `rerankers` names one.
        topic: the id of a topic of the collection.
        documents: ids of documents; they need not have been retrieved.
        member: which member of the system to ask, counted from 1; None takes the one nearest to
            the mean.
        plugins: where names are looked up.

    Returns:
        `topic`, the system, and for each document its title, grade, ranks and scores, and the
        `explanation` of the reranker, as JSON.

    Raises:
        InputError: a wrong name or option, or a reranker that does not explain its scores.
    """
    plugins = plugins or registry()
    _refuse_unexplained(settings, plugins)
    resolved = resolve(settings, plugins)
    (choice,) = resolved.rerankers
    doc_ids = list(dict.fromkeys(documents))
    topics = {held.id: held for held in resolved.collection.load_topics()}
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
    assigned = pipeline.assign(choice, candidates, resolved.qrels, training_source, resources)
    system = next(a for a in assigned if any(held.id == topic for held in a.topics)).fit()
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
    among = candidates.per_topic[topic.id]
    scored = list(dict.fromkeys([*among, *doc_ids]))
    numbers = range(len(system.members))
    per_member = [_scores(system, number, topic, scored, resources) for number in numbers]
    mean = np.mean(per_member, axis=0)
    place = {doc_id: number for number, doc_id in enumerate(scored)}
    held = [place[doc_id] for doc_id in doc_ids]
    number = _member(system, member, [scores[held] for scores in per_member], mean[held])
    first = candidates.first.final.rankings[topic.id]
    chosen = resolved.settings.interpolate
    weight = system.weight if chosen is None else chosen
    both = Reranked.of(first, among, mean[: len(among)].tolist())
    ranks = {
        "first_stage": _ranks(first),
        "reranker": _ranks(both.mixed(0.0), among),
        "final": _ranks(both.mixed(weight)),
    }
    told = _ask_member(system, number, topic, doc_ids, resources)
    grades = (resolved.qrels or {}).get(topic.id, {})
    first_scores = dict(first)
    documents = [
        {
            "id": doc_id,
            "title": document.title,
            "grade": grades.get(doc_id),
            "first_stage": {
                "rank": ranks["first_stage"].get(doc_id),
                "score": first_scores.get(doc_id),
            },
            "reranker": {
                "rank": ranks["reranker"].get(doc_id),
                "score": float(mean[place[doc_id]]),
                "members": [float(scores[place[doc_id]]) for scores in per_member],
            },
            "final": {"rank": ranks["final"].get(doc_id)},
            "explanation": explanation,
        }
        for doc_id, document, explanation in zip(
            doc_ids, resources.documents(doc_ids), told, strict=True
        )
    ]
    return {
        "trained_on": system.description.get("trained_on"),
        "members": len(system.members),
        "explained_member": number + 1,
        "interpolation": weight,
        "candidates": len(among),
        "documents": documents,
    }


def _scores(
    system: System,
    number: int,
    topic: Topic,
    doc_ids: Sequence[str],
    resources: CollectionResources,
) -> Values:
    member = [system.members[number]]
    registration = system.choice.registration
    return score_topics(registration, member, [topic], {topic.id: doc_ids}, resources)[topic.id]


def _member(system: System, asked: int | None, scores: Sequence[Values], mean: Values) -> int:
    """The member to ask, counted from 0."""
    if asked is None:
        return int(np.argmin([np.abs(own - mean).sum() for own in scores]))
    if not 1 <= asked <= len(system.members):
        raise InputError(
            f"there is no member {asked} of '{system.choice.name}'; the last is "
            f"{len(system.members)}."
        )
    return asked - 1


def _ask_member(
    system: System,
    number: int,
    topic: Topic,
    doc_ids: Sequence[str],
    resources: CollectionResources,
) -> list[Mapping[str, Any]]:
    """A member's explanations, one for each document.

    Raises:
        PluginError: they are too few, are not JSON, or one has no score.
    """
    registration = system.choice.registration
    who = registration.who
    with registration.at_work(f"explaining topic {topic.id}"):
        told = system.members[number].explain(topic, resources.documents(doc_ids))
    if not isinstance(told, Sequence):
        raise PluginError(
            f"{who} explained {len(doc_ids)} documents with {type(told).__name__}; a list with a "
            "mapping for each is needed."
        )
    if len(told) != len(doc_ids):
        raise PluginError(f"{who} explained {len(told)} documents, not {len(doc_ids)}.")
    for doc_id, each in zip(doc_ids, told, strict=True):
        try:
            json.dumps(each, allow_nan=False)
            if isinstance(each["score"], str):
                raise TypeError(f"the score {each['score']!r} is no number")
            float(each["score"])  # type: ignore[arg-type]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise PluginError(
                f"{who} explained document {doc_id} with something that is not JSON with a score: "
                f"{type(error).__name__}: {error}."
            ) from error
    return [dict(each) for each in told]


def _refuse_unexplained(settings: RunSettings, plugins: Registry) -> None:
    """Refuse a reranker that has nothing to tell, before anything is trained."""
    (name,) = settings.rerankers
    if plugins.reranker(name).system.explain is Reranker.explain:
        known = sorted(
            each.name
            for each in plugins.rerankers.values()
            if each.system.explain is not Reranker.explain
        )
        raise InputError(
            f"reranker '{name}' does not explain its scores. Those that do: {', '.join(known)}."
        )


def _refuse_unknown(doc_ids: Sequence[str], topic: str, resolved: ResolvedRun) -> None:
    contains = resolved.resources.index().contains
    for doc_id in doc_ids:
        if not contains(doc_id):
            raise InputError(
                f"'{resolved.collection.id}' has no document '{doc_id}'. Ids are shown by "
                f"`platform search --collection {resolved.settings.collection} --topic {topic}`."
            )


def _ranks(ranking: Ranking, among: Sequence[str] | None = None) -> dict[str, int]:
    """Rank of each document, from 1; of those that were reranked, where they are given."""
    ranks = {doc_id: rank for rank, doc_id in enumerate(ranking.doc_ids, start=1)}
    return ranks if among is None else {doc_id: ranks[doc_id] for doc_id in among}


def _plain(value: str | tuple[str, ...]) -> str | list[str]:
    return value if isinstance(value, str) else list(value)
