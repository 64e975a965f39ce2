"""Candidates that the retrievers find: the usual protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.retrieval.candidates.source import CandidateSource, Found, Provenance, Request
from irplatform.retrieval.first_stage import retrieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections import Collection
    from irplatform.retrieval.first_stage import FirstStage

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
