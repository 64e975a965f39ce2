"""Lucene's score for each part of the expanded query on its own.

The query plan of the first stage sums disease, genes, variants, proximity, headings and words of
treatment with weights that were set by hand; here every part is a feature, and the weights are
learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from irplatform.features.lucene import DocumentQueries, best_scores, relative, scores_of
from irplatform.plugin import Documents, Field, Topic
from irplatform.retrieval import BM25
from irplatform_ltr.expansion import ExpansionOptions, KnowledgeFeatures

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.retrieval.querying import Expander

PARTS = (
    "disease.weight", "disease.title", "disease.heading",
    "gene.weight", "gene.title", "gene.variant", "gene.alteration", "gene.altered", "gene.mutated",
    "gene.words", "gene.words_title", "gene.phrase",
    "near.both", "near.weight",
    "context.treatment_weight", "context.treatment_title", "context.prognosis_weight",
    "context.prognosis_title", "context.people_weight", "context.headings_weight",
    "context.humans", "context.drugs",
    "text.weight", "text.phrase",
)  # fmt: skip
"""Parts of the plan, by their settings; a topic that lacks one has 0 there."""


class QueryPartsOptions(ExpansionOptions):
    """Options of the parts of the query."""

    k1: float = Field(0.9, ge=0, description="of BM25")
    b: float = Field(0.4, ge=0, le=1, description="of BM25")


class ScoresOfParts(KnowledgeFeatures):
    """The base of groups whose features are Lucene's scores of queries, as shares of the best, too.

    Attributes:
        parts: settings of the plan; the score of each one's part of the query is a feature.
    """

    Options = QueryPartsOptions
    options: QueryPartsOptions
    parts: ClassVar[tuple[str, ...]]

    def names(self) -> tuple[str, ...]:
        """Each query's score, then each one's share."""
        names = self._query_names()
        return (*names, *(f"{name}_share" for name in names))

    def compute_batch(
        self, batch: Sequence[tuple[Topic, Documents]]
    ) -> list[npt.NDArray[np.float32]]:
        """The scores, for all topics in one search."""
        index, threads = self._resources.index(), self._resources.threads
        similarity = BM25(self.options.k1, self.options.b)
        expander = self.options.expander(self._resources)
        queries = []
        with self._resources.progress("expanding", len(batch), "topics") as advance:
            for topic, _ in batch:
                queries.append(self._queries(topic, expander))
                advance(1)
        requests = [
            DocumentQueries(docs.ids, topic_queries)
            for (_, docs), topic_queries in zip(batch, queries, strict=True)
        ]
        everything = [query for topic_queries in queries for query in topic_queries]
        best = best_scores(index, everything, similarity, threads).reshape(len(batch), -1)
        scores = scores_of(index, requests, similarity, threads)
        return [
            np.hstack([values, relative(values, top)])
            for values, top in zip(scores, best, strict=True)
        ]

    def _query_names(self) -> tuple[str, ...]:
        return self.parts

    def _queries(self, topic: Topic, expander: Expander) -> list[Any]:
        expressions = {part.setting: part.expression for part in expander.components(topic)}
        return [
            expander.compiled(expressions[name]) if name in expressions else None
            for name in self.parts
        ]


class QueryParts(ScoresOfParts):
    """Scores of the expanded query and its parts."""

    holds_first_stage = True
    parts = PARTS

    def _query_names(self) -> tuple[str, ...]:
        return ("query", *self.parts)

    def _queries(self, topic: Topic, expander: Expander) -> list[Any]:
        return [expander.query(topic), *super()._queries(topic, expander)]
