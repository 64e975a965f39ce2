"""What a source of candidates is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from irplatform.errors import InputError, listing
from irplatform.retrieval.first_stage import retrieve
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.data import Collection, Qrels, Topic
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import ChosenRetriever, FirstStage


@dataclass(frozen=True)
class Request:
    """What a source of candidates is asked for.

    Attributes:
        collection: whose topics and judgments these are.
        topics: the topics.
        retrievers: the first stage.
        depth: documents that each retriever finds per topic.
        rerank_depth: how many of them are reranked.
        resources: the harness's resources.
        names: of the rerankers, which the first stage's run must not share.
    """

    collection: Collection
    topics: Sequence[Topic]
    retrievers: Sequence[ChosenRetriever]
    depth: int
    rerank_depth: int
    resources: CollectionResources
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Provenance:
    """Which protocol chose the candidates.

    Attributes:
        facts: for metadata and JSON; "protocol" is "retrieved", "judged" or "run".
        sentence: for people.
        usual: whether retrievers found them, so that a first stage alone needs no remark.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    sentence: str = ""
    usual: bool = False


@dataclass(frozen=True)
class Found:
    """The candidates of some topics, best first, and the first stage to compare them with."""

    first: FirstStage
    per_topic: Mapping[str, tuple[str, ...]]
    provenance: Provenance


class CandidateSource(Protocol):
    """A way of choosing candidates."""

    def refuse(self, collection: Collection) -> None:
        """Raise an InputError if it cannot work for a collection, before anything is done."""

    def find(self, request: Request) -> Found:
        """Choose candidates."""

    def for_training(self) -> CandidateSource:
        """The source for the topics of another collection that rerankers learn from."""


def missing_documents(groups: Iterable[Iterable[str]], resources: CollectionResources) -> set[str]:
    """Those of some topics' documents that the index has not."""
    contains = resources.index().contains
    return {d for d in {d for group in groups for d in group} if not contains(d)}


# Candidates that the assessors judged, all of them: the protocol of many papers.

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


# Candidates that the retrievers find: the usual protocol.

RETRIEVED = "retrieved"


class Retrieved:
    """The first documents of every retriever."""

    def refuse(self, collection: Collection) -> None:
        """Any collection can be searched."""

    def find(self, request: Request) -> Found:
        """Search, and take the union of the first documents."""
        first = retrieve(
            request.retrievers,
            request.topics,
            request.depth,
            request.resources,
            label=request.collection.id,
        )
        first = _apart(first, request.names)
        names = ", ".join(choice.name for choice in request.retrievers)
        reranked = min(request.rerank_depth, request.depth)
        return Found(
            first,
            first.candidates(request.rerank_depth),
            Provenance(
                {"protocol": RETRIEVED, "rerank_depth": reranked},
                f"the first {reranked:,} of {names}",
                usual=True,
            ),
        )

    def for_training(self) -> CandidateSource:
        """The same."""
        return self


def _apart(first: FirstStage, taken: Sequence[str]) -> FirstStage:
    """The first stage under names that no reranker has: "x" finds as "x-retriever"."""
    apart = [
        replace(each, run=each.run.renamed(f"{each.run.name}-retriever"))
        if each.run.name in taken
        else each
        for each in first.retrievals
    ]
    return replace(first, retrievals=apart, final=apart[0].run if len(apart) == 1 else first.final)
