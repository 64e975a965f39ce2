"""From words and options to Lucene's queries and similarities."""

from __future__ import annotations

from functools import cache
from typing import Any

from irplatform.retrieval.java import java_class
from irplatform.retrieval.options import BM25, Similarity
from irplatform.retrieval.records import CONTENTS


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
