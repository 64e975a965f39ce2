"""Retrievers over the title and abstract of the collection's Lucene index.

Each searches for the words of `topic.query`; how they score is described in
`irplatform.retrieval.options`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from pydantic import Field

from irplatform.plugin import Options, Resources, Retriever, Topic
from irplatform.retrieval import BM25, QLD, RM3, Similarity
from irplatform.runs import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

Given = TypeVar("Given", bound=Options)


class BM25Options(Options):
    """The options of `bm25`."""

    k1: float = Field(0.9, ge=0, description="how slowly repeated words saturate")
    b: float = Field(0.4, ge=0, le=1, description="how much long documents are discounted")


class QLDOptions(Options):
    """The options of `qld`."""

    mu: float = Field(1000, gt=0, description="Dirichlet smoothing, in words")


class RM3Options(BM25Options):
    """The options of `rm3`."""

    fb_terms: int = Field(10, gt=0, description="how many words the feedback adds")
    fb_docs: int = Field(10, gt=0, description="how many documents it takes them from")
    original_query_weight: float = Field(
        0.5, ge=0, le=1, description="share of the topic's own words in the expanded query"
    )


def _given(options: Options, kind: type[Given]) -> Given:
    if not isinstance(options, kind):
        raise TypeError(f"expected {kind.__name__}, not {type(options).__name__}")
    return options


class LuceneRetriever(Retriever):
    """Searches the collection's index; subclasses say how to score."""

    def similarity(self) -> Similarity:
        """How documents are scored."""
        raise NotImplementedError(f"{type(self).__name__} does not define similarity()")

    def feedback(self) -> RM3 | None:
        """How queries are expanded, if they are."""
        return None

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """Rank at most `depth` documents for every topic."""
        rankings = resources.index().search(
            {topic.id: topic.query for topic in topics},
            depth,
            similarity=self.similarity(),
            feedback=self.feedback(),
            threads=resources.threads,
        )
        return Run(type(self).__name__, rankings)


class BM25Retriever(LuceneRetriever):
    """BM25 over title and abstract."""

    Options: ClassVar[type[Options]] = BM25Options
    citation = "Robertson and Zaragoza, The Probabilistic Relevance Framework (FnTIR 2009)"

    def similarity(self) -> Similarity:
        """BM25 with the options' k1 and b."""
        options = _given(self.options, BM25Options)
        return BM25(options.k1, options.b)


class QLDRetriever(LuceneRetriever):
    """Query likelihood with Dirichlet smoothing over title and abstract."""

    Options: ClassVar[type[Options]] = QLDOptions
    citation = "Zhai and Lafferty, A Study of Smoothing Methods for Language Models (SIGIR 2001)"

    def similarity(self) -> Similarity:
        """Query likelihood with the options' mu."""
        return QLD(_given(self.options, QLDOptions).mu)


class RM3Retriever(BM25Retriever):
    """BM25 whose query is expanded with words of the first documents that it finds."""

    Options: ClassVar[type[Options]] = RM3Options
    citation = "Abdul-Jaleel et al., UMass at TREC 2004: Novelty and HARD (TREC 2004)"

    def feedback(self) -> RM3:
        """RM3 with the options' numbers of words and documents."""
        options = _given(self.options, RM3Options)
        return RM3(options.fb_terms, options.fb_docs, options.original_query_weight)
