"""What Lucene makes of a topic's words, field by field: BM25 and query likelihood over stems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.features.lucene import (
    DocumentQueries,
    best_scores,
    relative,
    scores_of,
    words_query,
)
from irplatform.plugin import Documents, FeatureGroup, Field, Options, Resources, Topic
from irplatform.retrieval import BM25, QLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_FIELDS = ("contents", "title", "abstract")


class FieldsOptions(Options):
    """Options of the scores by field."""

    k1: float = Field(1.6, ge=0, description="of a second BM25, beside 0.9")
    b: float = Field(0.75, ge=0, le=1, description="of a second BM25, beside 0.4")


class LuceneFields(FeatureGroup):
    """Lucene's scores of title, abstract and both: two settings of BM25, query likelihood.

    BM25 is also given as a share of the best document's score in the collection, which makes
    topics comparable.
    """

    Options = FieldsOptions
    options: FieldsOptions
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        """Keep the resources."""
        self._resources = resources

    def names(self) -> tuple[str, ...]:
        """One per field and formula."""
        kinds = ("bm25", "bm25_share", "bm25_tuned", "bm25_tuned_share", "qld")
        return tuple(f"{kind}_{field}" for kind in kinds for field in _FIELDS)

    def compute_batch(
        self, batch: Sequence[tuple[Topic, Documents]]
    ) -> list[npt.NDArray[np.float32]]:
        """The scores, for all topics in one search."""
        index, threads = self._resources.index(), self._resources.threads
        topic_queries = [
            [words_query(index, topic.query, field) for field in _FIELDS] for topic, _ in batch
        ]
        requests = [
            DocumentQueries(documents.ids, queries)
            for (_, documents), queries in zip(batch, topic_queries, strict=True)
        ]
        everything = [query for queries in topic_queries for query in queries]
        parts: list[list[npt.NDArray[np.float32]]] = [[] for _ in batch]
        for similarity in (BM25(), BM25(self.options.k1, self.options.b)):
            best = best_scores(index, everything, similarity, threads).reshape(-1, len(_FIELDS))
            for number, values in enumerate(scores_of(index, requests, similarity, threads)):
                parts[number] += [values, relative(values, best[number])]
        for number, values in enumerate(scores_of(index, requests, QLD(), threads)):
            parts[number].append(values)
        return [np.hstack(columns) for columns in parts]
