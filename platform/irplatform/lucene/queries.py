"""From words and options to Lucene's queries and similarities."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from irplatform.lucene.java import java_class
from irplatform.lucene.records import CONTENTS
from irplatform.lucene.results import best_first
from irplatform.lucene.similarity import BM25, Similarity

if TYPE_CHECKING:
    from irplatform.lucene.similarity import RM3


def bag_of_words(analyzer: Any, words: str) -> Any:
    """A Lucene query for any of the words, each counted as often as it occurs."""
    return _generator().buildQuery(CONTENTS, analyzer, words)


def weighted_terms(terms: Any) -> Any:
    """A Lucene query for any of some analyzed terms, by weight."""
    return _generator().buildQuery(CONTENTS, terms)


def lucene_similarity(similarity: Similarity) -> Any:
    """Lucene's object for a similarity."""
    package = "org.apache.lucene.search.similarities"
    if isinstance(similarity, BM25):
        return java_class(f"{package}.BM25Similarity")(similarity.k1, similarity.b)
    return java_class(f"{package}.LMDirichletSimilarity")(similarity.mu)


@cache
def _generator() -> Any:
    return java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()


# Pseudo-relevance feedback with RM3, in Anserini's implementation.
#
# The words of the documents that a query finds first make a relevance model, which is mixed with
# the query (Abdul-Jaleel et al., TREC 2004). The documents' words come from their stored records:
# our indexes have no term vectors.


class RM3Expansion:
    """Expands queries; one object serves many threads.

    Anserini's reranker would also search with the expanded query and decompress every document
    that it finds. It is told to find one, and the query that it leaves behind is returned.
    """

    def __init__(self, searcher: Any, analyzer: Any, options: RM3) -> None:
        self._searcher = searcher
        self._analyzer = analyzer
        self._documents = options.documents
        self._arguments = java_class("io.anserini.search.SearchCollection$Args")()
        self._arguments.hits = 1
        self._reranker = java_class("io.anserini.rerank.lib.Rm3Reranker")(
            analyzer,
            java_class("java.lang.Class").forName("io.anserini.collection.JsonCollection"),
            CONTENTS,
            options.terms,
            options.documents,
            options.original_weight,
            False,  # do not log the query
            True,  # add words of a-z and 0-9 only
        )

    def __call__(self, query: Any, words: str) -> Any:
        """Expand a query."""
        first = self._searcher.search(query, self._documents, best_first(), True)
        scored = java_class("io.anserini.search.ScoredDocs").fromTopDocs(first, self._searcher)
        tokens = java_class("io.anserini.analysis.AnalyzerUtils").analyze(self._analyzer, words)
        context = java_class("io.anserini.rerank.RerankerContext")(
            self._searcher, None, query, None, words, tokens, None, self._arguments
        )
        self._reranker.rerank(scored, context)
        return weighted_terms(context.feedbackTerms)
