"""Scores that Lucene gives to given documents, for many queries at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.lucene.java import java_class, java_text
from irplatform.lucene.results import byte_references

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.lucene import LuceneIndex, QueryBuilder, Similarity
    from irplatform.text.arrays import Float32


@dataclass(frozen=True)
class DocumentQueries:
    """A topic's documents, and the Lucene queries to score them by.

    Attributes:
        doc_ids: the documents.
        queries: Lucene queries; None scores 0.
    """

    doc_ids: Sequence[str]
    queries: Sequence[Any]


def scores_of(
    index: LuceneIndex, asked: Sequence[DocumentQueries], similarity: Similarity, threads: int
) -> list[Float32]:
    """Scores of documents; 0 for those that a query does not match.

    Returns:
        float32 [documents, queries] for each of `asked`.
    """
    prepared: dict[str, QueryBuilder] = {}
    for number, request in enumerate(asked):
        if request.doc_ids:
            among = _among(request.doc_ids)
            for column, query in enumerate(request.queries):
                if query is not None:
                    prepared[f"{number} {column}"] = _always(_filtered(query, among))
    depth = max((len(request.doc_ids) for request in asked), default=0)
    rankings = (
        index.search(prepared, depth, similarity=similarity, threads=threads) if prepared else {}
    )
    results = []
    for number, request in enumerate(asked):
        places = {doc_id: place for place, doc_id in enumerate(request.doc_ids)}
        values = np.zeros((len(request.doc_ids), len(request.queries)), dtype=np.float32)
        for column in range(len(request.queries)):
            if (ranking := rankings.get(f"{number} {column}")) is not None and len(ranking):
                values[[places[doc_id] for doc_id in ranking.doc_ids], column] = ranking.scores
        results.append(values)
    return results


def best_scores(
    index: LuceneIndex, queries: Sequence[Any], similarity: Similarity, threads: int
) -> Float32:
    """The score of the best document of the collection for each query; 0 where none matches."""
    prepared = {str(n): _always(query) for n, query in enumerate(queries) if query is not None}
    rankings = index.search(prepared, 1, similarity=similarity, threads=threads) if prepared else {}
    best = np.zeros(len(queries), dtype=np.float32)
    for number, ranking in rankings.items():
        if len(ranking):
            best[int(number)] = ranking.scores[0]
    return best


def relative(values: Float32, best: Float32) -> Float32:
    """Scores as shares of the collection's best, 0 to 1: comparable between topics."""
    return np.asarray(values / np.where(best > 0, best, 1), dtype=np.float32)


def words_query(index: LuceneIndex, text: str, field: str) -> Any | None:
    """Any of some words in a field, as the index analyzes them; None where no word is left."""
    builder = java_class("org.apache.lucene.util.QueryBuilder")(index.analyzer)
    return builder.createBooleanQuery(field, java_text(text))


def heading_queries(index: LuceneIndex, field: str, headings: Sequence[str]) -> list[Any]:
    """Queries for documents with each of some headings; all score 1."""
    builder = java_class("org.apache.lucene.util.QueryBuilder")(index.analyzer)
    constant = java_class("org.apache.lucene.search.ConstantScoreQuery")
    phrases = [builder.createPhraseQuery(field, heading) for heading in headings]
    return [constant(phrase) if phrase is not None else None for phrase in phrases]


def _always(query: Any) -> QueryBuilder:
    return lambda _: query


def _among(doc_ids: Sequence[str]) -> Any:
    term_set_query = java_class("org.apache.lucene.search.TermInSetQuery")
    return term_set_query("id", byte_references(doc_ids))


def _filtered(query: Any, among: Any) -> Any:
    occur = java_class("org.apache.lucene.search.BooleanClause$Occur")
    builder = java_class("org.apache.lucene.search.BooleanQuery$Builder")()
    builder.add(query, occur.MUST)
    builder.add(among, occur.FILTER)
    return builder.build()
