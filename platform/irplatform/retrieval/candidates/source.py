"""What a source of candidates is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.collections import Collection
    from irplatform.plugin import Topic
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import FirstStage, RetrieverChoice


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
    retrievers: Sequence[RetrieverChoice]
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
