"""The sparse encoder as a reranker: inner products of a query's and documents' weighted words.

The user brings the model (SPLADE: Formal, Piwowarski and Clinchant, SIGIR 2021).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from irplatform.plugin import Documents, Reads, Reranker, Resources, Topic, Traits
from irplatform_encoders.pretrained import PACKAGES
from irplatform_encoders.sparse.options import SparseEncoderOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scipy.sparse import csr_matrix

    from irplatform_encoders.sparse.model import SparseTextEncoder
    from irplatform_encoders.sparse.store import DocumentVectors, SparseVectorStore

_ADDED = 10  # added words of an explanation; the others are summed up


class SparseEncoder(Reranker):
    """A model of sparse vectors of the user's, used as it is.

    Document vectors do not depend on the query: they are computed once and stored.
    """

    Options = SparseEncoderOptions
    citation: ClassVar[str] = (
        "Thibault Formal, Benjamin Piwowarski, Stéphane Clinchant. SPLADE: Sparse Lexical and "
        "Expansion Model for First Stage Ranking. SIGIR 2021."
    )
    options: SparseEncoderOptions

    _encoder: SparseTextEncoder
    _store: SparseVectorStore

    def prepare(self, resources: Resources) -> None:
        from irplatform_encoders.on_cpu import passes_at_a_time
        from irplatform_encoders.sparse.model import SparseTextEncoder
        from irplatform_encoders.sparse.store import SparseVectorStore

        threads = passes_at_a_time(resources)
        self._encoder = SparseTextEncoder(self.options, resources.device, threads)
        self._store = SparseVectorStore(resources, self._encoder)

    def traits(self) -> Traits:
        return Traits(packages=PACKAGES)

    def reads(self) -> Reads:
        from irplatform_encoders.sparse.model import depends_on

        return Reads(more=depends_on(self.options))

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """Inner products, of the best part of a long document; 0 for a text without words."""
        queries = self._encoder.queries([topic.query for topic, _ in batch])
        distinct = list(dict.fromkeys(i for _, documents in batch for i in documents.ids))
        place = {doc_id: number for number, doc_id in enumerate(distinct)}
        vectors = self._store.of(distinct)
        scores = []
        for (_, documents), query in zip(batch, queries, strict=True):
            best = _best(_products(vectors.vectors, query), vectors)
            scores.append(best[[place[i] for i in documents.ids]].tolist())
        return scores

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        (query,) = self._encoder.queries([topic.query])
        query_words = self._encoder.read_words(topic.query)
        document_vectors = self._store.of(documents.ids)
        products = _products(document_vectors.vectors, query)
        explanations = []
        for first, last in pairwise(document_vectors.offsets):
            best = first + int(np.argmax(products[first:last]))
            part = {"part": f"{best - first + 1} of {last - first}"} if last - first > 1 else {}
            adding = self._adding(query, document_vectors.vectors[best], query_words)
            explanations.append({"score": float(products[best]), **part, **adding})
        return explanations

    def _adding(
        self, query: csr_matrix, document: csr_matrix, query_words: Mapping[int, str]
    ) -> dict[str, object]:
        """What each word adds: all of the query's own, and those it was given that add most."""
        weights = document.toarray()[0][query.indices]
        adds = query.data.astype(np.float64) * weights
        is_own = np.isin(query.indices, [*query_words])
        order = np.argsort(-adds, kind="stable")

        def table(places: npt.NDArray[np.intp]) -> list[Mapping[str, object]]:
            words = [self._encoder.words[query.indices[place]] for place in places]
            origins = [query_words.get(int(query.indices[place]), "") for place in places]
            # Pieces of words, such as "##2" in ERBB2, say what they are in.
            pairs = zip(words, origins, strict=True)
            pieces = any(origin and word != origin.casefold() for word, origin in pairs)
            return [
                {
                    "word": word,
                    **({"in": origin or None} if pieces else {}),
                    "query_weight": float(query.data[place]),
                    "document_weight": float(weights[place]),
                    "adds": float(adds[place]),
                }
                for place, word, origin in zip(places, words, origins, strict=True)
            ]

        added = order[~is_own[order] & (adds[order] > 0)]
        rows, others = table(added[:_ADDED]), added[_ADDED:]
        if len(others):
            rows.append({"word": f"{len(others):,} others", "adds": float(adds[others].sum())})
        return {
            "of_query_words": float(adds[is_own].sum()),
            "of_added_words": float(adds[~is_own].sum()),
            "query_words": table(order[is_own[order]]),
            "added_words": rows,
        }


def _products(vectors: csr_matrix, query: csr_matrix) -> npt.NDArray[np.float64]:
    """Inner products with a query [vectors], each summed by itself, in the order of columns."""
    products: npt.NDArray[np.float64] = vectors.astype(np.float64) @ query.toarray()[0].astype(
        np.float64
    )
    return products


def _best(products: npt.NDArray[np.float64], documents: DocumentVectors) -> npt.NDArray[np.float64]:
    """The best product of each document's parts."""
    if not len(products):
        return products
    best: npt.NDArray[np.float64] = np.maximum.reduceat(products, documents.offsets[:-1])
    return best
