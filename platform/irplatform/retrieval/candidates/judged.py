"""Candidates that the assessors judged, all of them: the protocol of many papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.console import notice
from irplatform.errors import InputError, listing
from irplatform.retrieval.candidates.source import (
    CandidateSource,
    Found,
    Provenance,
    Request,
    missing_documents,
)
from irplatform.retrieval.first_stage import retrieve

if TYPE_CHECKING:
    from irplatform.collections import Collection, Qrels

JUDGED = "judged"


class Judged:
    """All judged documents of every topic, relevant or not."""

    def refuse(self, collection: Collection) -> None:
        """Raise an InputError where there are no judgments."""
        if collection.load_qrels is None:
            raise InputError(
                f"'{collection.id}' has no judgments, which --candidates {JUDGED} takes its "
                "documents from."
            )

    def find(self, request: Request) -> Found:
        """Rank the judged documents with the retrievers; those not in the index are left out."""
        collection = request.collection
        self.refuse(collection)
        qrels: Qrels = collection.load_qrels() if collection.load_qrels else {}
        judged = {  # a negative grade says that nobody judged what was pooled
            topic.id: [d for d, grade in qrels.get(topic.id, {}).items() if grade >= 0]
            for topic in request.topics
        }
        missing = missing_documents(judged.values(), request.resources)
        among = {t: sorted(d for d in grades if d not in missing) for t, grades in judged.items()}
        total = sum(map(len, judged.values()))
        left_out = total - sum(map(len, among.values()))
        if left_out:
            notice(
                f"{collection.id}: {left_out:,} of {total:,} judged documents are not in the "
                f"collection and are not ranked, {listing(sorted(missing))}"
            )
        if unjudged := [topic for topic, grades in judged.items() if not grades]:
            notice(f"{collection.id}: topics without judged documents: {listing(unjudged)}")
        first = retrieve(
            request.retrievers,
            request.topics,
            request.depth,
            request.resources,
            label=f"{collection.id}-judged",
            among=among,
        )
        return Found(
            first,
            {topic: ranking.doc_ids for topic, ranking in first.final.rankings.items()},
            Provenance(
                {"protocol": JUDGED, "documents": total - left_out, "missing": left_out},
                f"the judged documents of each topic only ({total - left_out:,} in all"
                + (f"; {left_out:,} more are not in the collection)" if left_out else ")"),
            ),
        )

    def for_training(self) -> CandidateSource:
        """The same: a model learns from what it will be given."""
        return self
