"""Why documents of a topic stand where they do: their ranks, scores, and a member's explanation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError, PluginError, counted, in_a_line, quoted
from irplatform.reranking.interpolation import Reranked
from irplatform.reranking.scoring import rescore_topics, score_topics
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Documents, Topic
    from irplatform.plugin.rerankers import Reranker
    from irplatform.registry.registration import Registration
    from irplatform.reranking.scoring import Values
    from irplatform.reranking.systems import ChosenReranker, FittedReranker
    from irplatform.retrieval.candidates import Candidates
    from irplatform.runs import Ranking


def explanations(
    registration: Registration[Reranker], reranker: Reranker, topic: Topic, documents: Documents
) -> list[Mapping[str, Any]]:
    """Return a reranker's explanations of documents, one for each.

    Raises:
        PluginError: there are too few, they are not JSON, or one has no score.
    """
    label = registration.full_title
    with registration.plugin_call(f"explaining topic {topic.id}"):
        explained = reranker.explain(topic, documents)
    if not isinstance(explained, Sequence):
        raise PluginError(
            f"{label} explained {counted(len(documents), 'document')} with "
            f"{type(explained).__name__}; a list with a mapping for each is needed."
        )
    if len(explained) != len(documents):
        raise PluginError(
            f"{label} explained {counted(len(explained), 'document')}, not {len(documents)}."
        )
    for doc_id, explanation in zip(documents.ids, explained, strict=True):
        try:
            json.dumps(explanation, allow_nan=False)
            if isinstance(explanation["score"], str):
                raise TypeError(f"the score {quoted(explanation['score'])} is not a number")
            float(explanation["score"])  # type: ignore[arg-type]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise PluginError(
                f"{label} explained document {doc_id} with something that is not JSON with a "
                f"score: {in_a_line(error)}."
            ) from error
    return [dict(explanation) for explanation in explained]


def explain_documents(
    system: FittedReranker,
    topic: Topic,
    doc_ids: Sequence[str],
    candidates: Candidates,
    interpolate: float | None,
    resources: CollectionResources,
    member: int | None = None,
) -> dict[str, Any]:
    """Explain why a system puts documents of a topic where it does, as JSON.

    A system's score is the mean of its members' scores. The member whose scores of these documents
    are nearest to the mean is explained, unless the user chose a `member`, counted from 1. The
    documents need not be candidates. `interpolate` is the first stage's share, or None for the
    chosen one. InputError if the system has no such member.
    """
    first = candidates.first.rankings[topic.id]
    reranked = candidates.per_topic[topic.id]
    scored_ids = list(dict.fromkeys([*reranked, *doc_ids]))
    registration = system.choice.registration
    per_member = np.stack(
        [
            score_topics(
                registration, [member_reranker], [topic], {topic.id: scored_ids}, resources
            )[topic.id]
            for member_reranker in system.members
        ]
    )
    mean = np.mean(per_member, axis=0)
    if member is None:
        values = per_member[:, [scored_ids.index(doc_id) for doc_id in doc_ids]]
        number = int(np.argmin(np.abs(values - values.mean(axis=0)).sum(axis=1)))
    else:
        refuse_member(member, system.choice, len(system.members))  # few topics make fewer members
        number = member - 1
    weight = system.weight if interpolate is None else interpolate
    per_topic, own_scores = {topic.id: reranked}, {topic.id: mean[: len(reranked)]}
    final = rescore_topics(
        registration, system.members[0], [topic], per_topic, own_scores, resources
    )[topic.id]
    ranks = _ranks(first, reranked, final, weight)
    documents = resources.documents(doc_ids)
    document_explanations = explanations(registration, system.members[number], topic, documents)
    final_scores = dict(zip(reranked, final.tolist(), strict=True))
    grades = candidates.qrels.get(topic.id, {})
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
                    "among_candidates": final_scores.get(document.id),
                    "members": member_scores[document.id],
                },
                "final": {"rank": ranks["final"].get(document.id)},
                "explanation": explanation,
            }
            for document, explanation in zip(documents, document_explanations, strict=True)
        ],
    }


def refuse_member(member: int, choice: ChosenReranker, members: int) -> None:
    """Refuse a member, counted from 1, that a system with so many members lacks."""
    if not 1 <= member <= members:
        raise InputError(
            f"{option('member', member)}: '{choice.name}' has "
            + (f"the members 1 to {members}." if members > 1 else "one member alone.")
        )


def _ranks(
    first: Ranking, reranked: Sequence[str], scores: Values, weight: float
) -> dict[str, dict[str, int]]:
    """Ranks of documents, from 1, in the first stage, by the reranker, and in the final run."""
    mixture = Reranked.of(first, reranked, scores.tolist())
    rankings = {
        "first_stage": first,
        "reranker": mixture.mixed(0.0),
        "final": mixture.mixed(weight),
    }
    ranks = {
        name: {doc_id: rank for rank, doc_id in enumerate(ranking.doc_ids, start=1)}
        for name, ranking in rankings.items()
    }
    return {**ranks, "reranker": {doc_id: ranks["reranker"][doc_id] for doc_id in reranked}}
