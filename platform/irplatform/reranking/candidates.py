"""A collection's topics after the first stage, with the candidates that rerankers get."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from irplatform.errors import listing
from irplatform.reranking.training_set import Example, examples
from irplatform.retrieval.candidates import (
    CandidateSource,
    Provenance,
    Request,
    Retrieved,
    missing_documents,
)
from irplatform.system.cache import artifact
from irplatform.system.digests import fingerprint
from irplatform.system.formats import read_own_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection, Qrels, Topic
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import ChosenRetriever, FirstStage
    from irplatform.retrieval.fusion import Fusion

_MISSING = "missing.json"


@dataclass(frozen=True)
class Candidates:
    """A collection's topics after the first stage.

    Attributes:
        topics: the topics.
        first: what the first stage found.
        per_topic: topic id to the ids of its candidates, best first.
        provenance: which protocol chose them.
        collection: whose topics these are, for messages; "" takes the documents' name.
    """

    topics: Sequence[Topic]
    first: FirstStage
    per_topic: Mapping[str, tuple[str, ...]]
    provenance: Provenance = field(default_factory=Provenance)
    collection: str = ""

    @property
    def most(self) -> int | None:
        """How many a topic has at most; None where they are all that the first stage found."""
        counts = {topic: len(documents) for topic, documents in self.per_topic.items()}
        rankings = self.first.final.rankings
        if all(len(rankings[topic]) <= count for topic, count in counts.items()):
            return None
        return max(counts.values())

    def examples(self, qrels: Qrels, resources: CollectionResources) -> list[Example]:
        """The judged topics to learn from; judgments of documents that are not there are left out.

        Official judgments name documents that a copy of the corpus lacks. Measures count them, but
        nothing can be learned from what cannot be read.
        """
        judged = {topic.id: qrels[topic.id] for topic in self.topics if topic.id in qrels}
        missing = self._missing(judged, resources)
        if missing:
            judged_count = len({doc_id for grades in judged.values() for doc_id in grades})
            resources.notice(
                f"{len(missing):,} of the {judged_count:,} judged documents of "
                f"'{self.collection or resources.corpus.name}' are not among its documents "
                f"({listing(sorted(missing))}): nothing is learned from them"
            )
        return examples(self.topics, judged, self.first.final.rankings, self.per_topic, missing)

    def _missing(self, judged: Qrels, resources: CollectionResources) -> frozenset[str]:
        """The judged documents that do not exist; the index is asked once, and not for candidates.

        What is kept depends on index and judgments alone, so that a run that finds everything in
        the cache need not open the index, whatever its first stage.
        """
        if all(set(grades) <= set(self.per_topic[topic]) for topic, grades in judged.items()):
            return frozenset()
        doc_ids = sorted({doc_id for grades in judged.values() for doc_id in grades})

        def look(folder: Path) -> None:
            missing_ids = sorted(missing_documents([doc_ids], resources))
            (folder / _MISSING).write_text(json.dumps(missing_ids), encoding="utf-8")

        index = resources.index_artifact().fingerprint
        depends_on = {"format": 1, "index": index, "judged": fingerprint({"ids": doc_ids})}
        check = artifact("check", f"{resources.corpus.name}-judged", depends_on, look)
        return frozenset(read_own_json(check.path / _MISSING))

    def fused(self, fusion: Fusion) -> Candidates:
        """The same candidates, in the order of another fusion of the retrievers."""
        if len(self.first.retrievals) == 1:
            return self
        first = self.first.fused(fusion)
        per_topic = {}
        for topic, doc_ids in self.per_topic.items():
            among = set(doc_ids)
            per_topic[topic] = tuple(d for d in first.final.rankings[topic].doc_ids if d in among)
        return replace(self, first=first, per_topic=per_topic)


def search(
    collection: Collection,
    retrievers: Sequence[ChosenRetriever],
    depth: int,
    rerank_depth: int,
    resources: CollectionResources,
    *,
    source: CandidateSource | None = None,
    names: Sequence[str] = (),
) -> Candidates:
    """Find candidates for all topics of a collection.

    Args:
        collection: whose topics.
        retrievers: the first stage.
        depth: documents that each retriever finds per topic.
        rerank_depth: how many of them are candidates.
        resources: the harness's resources.
        source: where candidates come from; by default what the retrievers find.
        names: the rerankers', which a run file that is the first stage must not be called.

    Raises:
        InputError: the source does not fit the collection.
    """
    topics = list(collection.load_topics())
    request = Request(collection, topics, retrievers, depth, rerank_depth, resources, names)
    candidates = (source or Retrieved()).find(request)
    return Candidates(
        topics, candidates.first, candidates.per_topic, candidates.provenance, collection.id
    )
