"""Scoring that goes on where an interrupted call stopped, by a journal in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.arithmetic import arithmetic
from irplatform.artifacts import home, lock
from irplatform.reranking.scoring import Values, score_topics
from irplatform.storage import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Topic
    from irplatform.reranking.systems import System
    from irplatform.resources import CollectionResources


def scores_depend_on(
    system: System,
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    resources: CollectionResources,
) -> dict[str, Any]:
    """All that the scores of a system for some topics depend on."""
    return {
        "system": system.fingerprint,
        "corpus": resources.corpus.fingerprint,
        "candidates": [[*topic.describe(), candidates[topic.id]] for topic in topics],
        "vectors": resources.source.describe(),
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
        **arithmetic(),
    }


def score_resumably(
    system: System,
    topics: Sequence[Topic],
    candidates: Mapping[str, Sequence[str]],
    resources: CollectionResources,
) -> tuple[dict[str, Values], Path]:
    """Score the candidates of topics.

    Args:
        system: what scores.
        topics: the topics.
        candidates: topic id to the ids of its candidates.
        resources: the harness's resources.

    Returns:
        Topic id to float64 scores, in the order of the candidates; and the journal, to be removed
        when nothing can go wrong any more that would ask for these scores again.
    """
    mark = fingerprint(scores_depend_on(system, topics, candidates, resources))
    journal = home() / "journal" / f"{system.choice.name}-{mark}.jsonl"
    with lock(journal, wait=True):  # of two that write to it one would cut off the other's lines
        if not resources.resume:
            journal.unlink(missing_ok=True)
        scores = score_topics(
            system.choice.registration, system.members, topics, candidates, resources, journal
        )
    return scores, journal
