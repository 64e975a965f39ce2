"""Matches of words: Delta's 18 lexical features, word vectors, Lucene's scores by field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from irplatform.kit import (
    ALL18,
    BM25,
    QLD,
    ForwardIndex,
    VectorOptions,
    WordVectors,
    lexical_features,
)
from irplatform.plugin import Documents, FeatureGroup, Field, Options, Resources, Topic, Traits
from irplatform_ltr.matching import StemmedIndex, relative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.kit import Float32, Int64

    Batch = Sequence[tuple[Topic, Documents]]


class LexicalOptions(Options):
    """Options of the lexical features."""

    features: tuple[str, ...] = Field(ALL18, description="which of the 18, by name or number")


class LexicalMatches(FeatureGroup):
    """The 18 lexical match features: overlap of query and title, abstract, text, and BM25."""

    Options = LexicalOptions
    citation: ClassVar[str] = "Mohan et al., WWW 2018, section 4.2.2"
    options: LexicalOptions
    _index: ForwardIndex | StemmedIndex
    _device_features: Callable[[Batch, Sequence[str]], list[Float32]] | None = None

    def traits(self) -> Traits:
        return Traits(packages=("gensim",))

    def prepare(self, resources: Resources) -> None:
        self._index = index = resources.forward_index()
        if resources.device.startswith("cuda"):
            from irplatform.kit import on_device

            self._device_features = on_device(index, resources.device).features

    def names(self) -> tuple[str, ...]:
        return self.options.features

    def compute_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        if self._device_features is None:
            return super().compute_batch(batch)
        return self._device_features(batch, self.options.features)

    def compute(self, topic: Topic, documents: Documents) -> Float32:
        query, rows = self._index.query_ids(topic.query), self._index.rows(documents.ids)
        return lexical_features(self._index, query, rows, self.options.features)  # type: ignore[arg-type]


class StemmedMatches(LexicalMatches):
    """The same over Porter stems, so that "mutations" is met by "mutation"."""

    def prepare(self, resources: Resources) -> None:
        self._index = StemmedIndex.of(resources)


_AT_ONCE = 1 << 24  # similarities of query words and documents' words in memory at once
_MOST_KEPT = 1 << 27  # bytes of documents' sums in memory
_CLOSE = 0.7  # a cosine from which on a word counts as matched


class EmbeddingOptions(Options):
    """Options of the embedding similarities."""

    query_words: int = Field(60, gt=0, description="most words of a query")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors")


class EmbeddingSimilarities(FeatureGroup):
    """Cosines of mean vectors with title, abstract and text; soft matches of query words.

    Texts are means of unit vectors weighted by IDF. A query's soft match is the mean over its words
    (weighted alike) of the greatest cosine to a word of the document.
    """

    Options = EmbeddingOptions
    citation: ClassVar[str] = (
        "Rada Mihalcea, Courtney Corley, Carlo Strapparava. Corpus-based and Knowledge-based "
        "Measures of Text Semantic Similarity. AAAI 2006."
    )
    options: EmbeddingOptions
    _index: ForwardIndex
    _unit: Float32
    _rows: Int64
    _mark: str
    _sums: _Sums | None

    def traits(self) -> Traits:
        return Traits(packages=("gensim",))

    def prepare(self, resources: Resources) -> None:
        self._index = resources.forward_index()
        vectors = resources.vectors(self.options.vectors)
        self._unit = vectors.unit()
        self._rows = np.asarray(vectors.align(self._index.vocabulary), dtype=np.int64)
        self._mark = vectors.digest()
        shape = (2, self._index.held, self._unit.shape[1])
        self._sums = _Sums(shape) if 4 * math.prod(shape) <= _MOST_KEPT else None

    def names(self) -> tuple[str, ...]:
        kinds = ("cosine", "soft", "matched", "weakest")
        return tuple(f"{k}_{field}" for field in ("title", "abstract", "text") for k in kinds)

    def prepared_with(self) -> Mapping[str, object]:
        """The word vectors, which a checkpoint may bring."""
        return {"vectors": self._mark}

    def compute(self, topic: Topic, documents: Documents) -> Float32:
        """The similarities; 0 where a text or the query has no word with a vector."""
        query = self._index.query_ids(topic.query)
        query = query[query >= 0][: self.options.query_words]
        idf = self._index.idf("text").astype(np.float32)
        words = self._unit[self._rows[query]]
        rows = self._index.rows(documents.ids)
        mean = WordVectors.unit_rows((words * idf[query][:, None]).sum(axis=0, keepdims=True))[0]
        distinct, first = np.unique(query, return_index=True)
        weights = idf[distinct] * (np.abs(words[first]).sum(axis=1) > 0)
        titles = self._index.tokens(rows, "title")
        abstracts = self._index.tokens(rows, "abstract")
        document_words, inverse = np.unique(
            np.concatenate([titles[0], abstracts[0]]), return_inverse=True
        )
        vectors = self._unit[self._rows[document_words]]
        # Not a matrix product, which rounds differently for different numbers of documents.
        near = np.einsum("qd,wd->qw", words[first], vectors)
        title_places, abstract_places = np.split(inverse, [len(titles[0])])
        title = _Side(title_places, titles[1])
        abstract = _Side(abstract_places, abstracts[1])
        if self._sums is None or (rows >= self._index.held).any():  # or texts that were given
            weighted = vectors * idf[document_words][:, None]
            sums = [side.sums(weighted) for side in (title, abstract)]
        else:
            sums = self._sums.of(rows, self._new_sums)
        best = [side.best(near) for side in (title, abstract)]
        columns = []
        for total, match in (
            (sums[0], best[0]),
            (sums[1], best[1]),
            (sums[0] + sums[1], np.maximum(best[0], best[1])),
        ):
            columns += [
                np.einsum("nd,d->n", WordVectors.unit_rows(total), mean),
                *_soft(match, weights),
            ]
        return np.asarray(np.stack(columns, axis=1), dtype=np.float32)

    def _new_sums(self, rows: Int64) -> list[Float32]:
        """The sums of the vectors of titles' and of abstracts' words, weighted by IDF."""
        texts = [self._index.tokens(rows, field) for field in ("title", "abstract")]
        words, places = np.unique(np.concatenate([t for t, _ in texts]), return_inverse=True)
        idf = self._index.idf("text").astype(np.float32)
        weighted = self._unit[self._rows[words]] * idf[words][:, None]
        parts = np.split(places, [len(texts[0][0])])
        sides = (_Side(p, offsets) for p, (_, offsets) in zip(parts, texts, strict=True))
        return [side.sums(weighted) for side in sides]


class _Sums:
    """Sums of word vectors of documents, which no topic changes, kept once they are computed.

    The shape is that of float32 [fields, documents, V].
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self._values = np.zeros(shape, dtype=np.float32)
        self._has_sums = np.zeros(shape[1], dtype=np.bool_)

    def of(self, rows: Int64, compute: Callable[[Int64], list[Float32]]) -> list[Float32]:
        """The sums of documents, float32 [documents, V] per field."""
        if len(new := np.unique(rows[~self._has_sums[rows]])):
            for values, computed in zip(self._values, compute(new), strict=True):
                values[new] = computed
            self._has_sums[new] = True
        return [values[rows] for values in self._values]


@dataclass(frozen=True)
class _Side:
    """The words of one field of documents, as places in a list of distinct words."""

    places: Int64
    offsets: Int64

    def sums(self, vectors: Float32) -> Float32:
        from scipy.sparse import csr_matrix

        shape = (len(self.offsets) - 1, len(vectors))
        counts = csr_matrix(
            (np.ones(len(self.places), np.float32), self.places, self.offsets), shape=shape
        )
        return np.asarray(counts @ vectors, dtype=np.float32)

    def best(self, near: Float32) -> Float32:
        greatest = np.zeros((len(near), len(self.offsets) - 1), dtype=np.float32)
        filled = np.flatnonzero(np.diff(self.offsets))
        if not len(near):
            return greatest
        for part in _of_size(filled, np.diff(self.offsets)[filled], _AT_ONCE // len(near)):
            start, end = self.offsets[part[0]], self.offsets[part[-1] + 1]
            values = np.take(near, self.places[start:end], axis=1)
            starts = self.offsets[part] - start
            greatest[:, part] = np.maximum.reduceat(values, starts, axis=1)
        return np.maximum(greatest, 0)


def _of_size(documents: Int64, lengths: Int64, most: int) -> Iterator[Int64]:
    part = np.cumsum(lengths) // max(most, 1)
    yield from np.split(documents, np.flatnonzero(np.diff(part)) + 1) if len(documents) else ()


def _soft(best: Float32, weights: Float32) -> list[Float32]:
    total = float(weights.sum())
    if total <= 0:
        return [np.zeros(best.shape[1], np.float32)] * 3
    share = weights / total
    # Documents first: sums over query words do not depend on the number of documents.
    near = np.ascontiguousarray(best.T)
    close = (near >= _CLOSE).astype(np.float32)
    mean, matched = (np.einsum("nq,q->n", values, share) for values in (near, close))
    return [mean, matched, best[weights > 0].min(axis=0)]


_FIELDS = ("contents", "title", "abstract")


class FieldsOptions(Options):
    """Options of the scores by field."""

    k1: float = Field(1.6, ge=0, description="of a second BM25, beside 0.9")
    b: float = Field(0.75, ge=0, le=1, description="of a second BM25, beside 0.4")


class LuceneFields(FeatureGroup):
    """Lucene's scores of title, abstract and both: two settings of BM25, query likelihood.

    BM25 comes as a share of the collection's best score, too, which makes topics comparable.
    """

    Options = FieldsOptions
    options: FieldsOptions
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        self._resources = resources

    def names(self) -> tuple[str, ...]:
        kinds = ("bm25", "bm25_share", "bm25_tuned", "bm25_tuned_share", "qld")
        return tuple(f"{kind}_{field}" for kind in kinds for field in _FIELDS)

    def compute_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        ForwardIndex.refuse_texts("scores of Lucene (features 'fields')")
        index, threads = self._resources.index(), self._resources.threads
        topic_queries = [
            [index.words_query(topic.query, field) for field in _FIELDS] for topic, _ in batch
        ]
        requests = [
            (documents.ids, queries)
            for (_, documents), queries in zip(batch, topic_queries, strict=True)
        ]
        everything = [query for queries in topic_queries for query in queries]
        parts: list[list[Float32]] = [[] for _ in batch]
        for similarity in (BM25(), BM25(self.options.k1, self.options.b)):
            best = index.best_scores(everything, similarity, threads).reshape(-1, len(_FIELDS))
            for number, values in enumerate(index.scores(requests, similarity, threads)):
                parts[number] += [values, relative(values, best[number])]
        for number, values in enumerate(index.scores(requests, QLD(), threads)):
            parts[number].append(values)
        return [np.hstack(columns) for columns in parts]
