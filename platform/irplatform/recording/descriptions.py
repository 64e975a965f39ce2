"""What the metadata of a run say of the data and of how a reranker came to its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.recording.folder import FIRST_STAGE
from irplatform.storage import file_digest, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.collections import Collection, Qrels
    from irplatform.pipeline import RerankedRun
    from irplatform.resources import CollectionResources


def describe_data(collection: Collection, qrels: Qrels | None) -> dict[str, Any]:
    """What was searched and judged, by name and fingerprints.

    Args:
        collection: what was searched.
        qrels: its judgments, if it has any.
    """
    topics = [topic.describe() for topic in collection.load_topics()]
    judged = {q: dict(grades) for q, grades in (qrels or {}).items()}
    sampled = collection.sampled_qrels
    return {
        "test collection": {
            "name": collection.id,
            "documents": collection.corpus.fingerprint,
            "topics": fingerprint({"topics": topics}),
            "qrels": fingerprint(judged) if judged else None,
            **({"sampled qrels": file_digest(sampled)} if sampled is not None else {}),
        }
    }


def describe_reranking(
    reranked: RerankedRun,
    retrieval: Sequence[Mapping[str, Any]],
    baseline: str,
    resources: CollectionResources,
    first_stage: str,
) -> dict[str, Any]:
    """How a reranker's scores were made, but for the first stage's share in them.

    Args:
        reranked: its runs, and the systems that scored them.
        retrieval: the retrievers, as they describe themselves.
        baseline: the name of the first stage's run.
        resources: what it was made with.
        first_stage: a fingerprint of all that the first stage's run depends on.
    """
    return {
        "retrieval": [
            *retrieval,
            {**reranked.systems[0].choice.describe(), "reranks": baseline},
        ],
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
        "training": [dict(system.description) for system in reranked.systems],
        "weights": [system.fingerprint for system in reranked.systems],
        FIRST_STAGE: first_stage,
        "warnings": list(reranked.warnings),
    }
