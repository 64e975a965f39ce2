"""Retrieval by the mean word vectors of queries and documents.

A text is the mean of its words' unit vectors, weighted by IDF. Documents are ranked by cosine,
exactly; their vectors are stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from irplatform.kit import Float32, ForwardIndex, Int64, VectorOptions, WordVectors, new_matrix
from irplatform.plugin import Field, Options, Ranking, Resources, Retriever, Run, Topic, Traits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FILE = "documents.npy"
_BLOCK = 20_000  # documents at once: bounds memory while vectors are made and compared
_TOPICS = 256  # topics that are compared with a block at once


class EmbeddingOptions(Options):
    """Options of the embedding retriever."""

    idf_power: float = Field(1.0, ge=0, description="power of the IDF that weighs a word")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors")


class Embedding(Retriever):
    """Cosine of mean word vectors, weighted by inverse document frequency."""

    Options = EmbeddingOptions
    citation: ClassVar[str] = (
        "The weighted centroid of word vectors, as in: Georgios-Ioannis Brokos, Prodromos "
        "Malakasiotis, Ion Androutsopoulos. Using Centroids of Word Embeddings and Word Mover's "
        "Distance for Biomedical Document Retrieval in Question Answering. BioNLP 2016."
    )
    options: EmbeddingOptions

    def traits(self) -> Traits:
        return Traits(packages=("gensim",), seeded=False)

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        index = resources.forward_index()
        vectors = resources.vectors(self.options.vectors)
        weights = index.idf("text").astype(np.float32) ** self.options.idf_power
        # Per word of the collection its weighted unit vector; 0 without a vector.
        words: Float32 = vectors.unit()[vectors.align(index.vocabulary)] * weights[:, None]
        folder = resources.artifact(
            "embedding",
            {**self.options.model_dump(mode="json"), "format": 1},
            lambda place: _write_documents(index, words, place, resources),
        )
        documents: Float32 = np.load(folder / _FILE, mmap_mode="r")
        texts = (index.query_ids(topic.query) for topic in topics)
        sums = (words[ids[ids >= 0]].sum(axis=0, keepdims=True) for ids in texts)
        queries = np.stack([WordVectors.unit_rows(row)[0] for row in sums])
        rankings: dict[str, Ranking] = {}
        with resources.progress("searching by word vectors", len(topics), "topics") as advance:
            for start in range(0, len(topics), _TOPICS):
                part = slice(start, start + _TOPICS)
                rows, scores = _nearest(documents, queries[part], depth, index)
                for topic, near, values in zip(topics[part], rows, scores, strict=True):
                    similar = values > 0  # none where no word of the query has a vector
                    rankings[topic.id] = Ranking.of(index.doc_ids(near[similar]), values[similar])
                advance(len(queries[part]))
        return Run("embedding", rankings)


def _write_documents(
    index: ForwardIndex, words: Float32, folder: Path, resources: Resources
) -> None:
    from scipy.sparse import csr_matrix

    matrix = new_matrix(folder / _FILE, (index.count, words.shape[1]))
    with resources.progress("computing document vectors", index.count, "documents") as advance:
        for start in range(0, index.count, _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, index.count))
            tokens, offsets = index.tokens(rows)
            counts = csr_matrix(
                (np.ones(len(tokens), np.float32), np.array(tokens), np.array(offsets)),
                shape=(len(rows), len(words)),
            )
            matrix[rows[0] : rows[-1] + 1] = WordVectors.unit_rows(counts @ words)
            advance(len(rows))
    matrix.flush()


def _nearest(
    documents: Float32, queries: Float32, depth: int, index: ForwardIndex
) -> tuple[Int64, Float32]:
    rows = np.empty((len(queries), 0), dtype=np.int64)
    scores = np.empty((len(queries), 0), dtype=np.float32)
    for start in range(0, len(documents), _BLOCK):
        block = queries @ documents[start : start + _BLOCK].T
        numbers = np.broadcast_to(np.arange(start, start + block.shape[1]), block.shape)
        scores, rows = np.hstack([scores, block]), np.hstack([rows, numbers])
        if scores.shape[1] > depth:
            keep = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
            last = np.take_along_axis(scores, keep, axis=1).min(axis=1)
            tied = (scores >= last[:, None]).sum(axis=1) > depth
            for query in np.flatnonzero(tied & (last > 0)):  # what is not similar is not found
                keep[query] = _first(scores[query], rows[query], depth, last[query], index)
            scores = np.take_along_axis(scores, keep, axis=1)
            rows = np.take_along_axis(rows, keep, axis=1)
    return rows, scores


def _first(scores: Float32, rows: Int64, depth: int, last: float, index: ForwardIndex) -> Int64:
    """Places of the best scores; of those that are equal at the end, the order of runs decides."""
    above, tied = np.flatnonzero(scores > last), np.flatnonzero(scores == last)
    ids = index.doc_ids(rows[tied])
    later = sorted(range(len(tied)), key=ids.__getitem__, reverse=True)[: depth - len(above)]
    return np.concatenate([above, tied[later]])
