"""Topics, documents and concepts as GRAPHENE reads them (Zhao et al., CIKM 2019).

Each field of a topic is a text, followed by other names of the concepts in it (section 4.1). A
concept starts as the mean of its name's word vectors. Its first layer reads the sum over its
neighbours, D^-½ (A + λI) D^-½ X (Kipf and Welling, ICLR 2017, equation 2), which depends on no
weight and is cached. A document's links weigh (1 + ln count) · IDF and add up to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor

from irplatform.kit import Float32, ForwardIndex, Int64, new_matrix, tokenize
from irplatform.plugin import InputError
from irplatform_graphene.network import PADDING, Words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.kit import ConceptGraph, WordVectors
    from irplatform.plugin import Resources, Topic
    from irplatform_graphene.options import GrapheneOptions

    TextField = Literal["title", "abstract", "text"]

_FORMAT = 1
_FILE = "concepts.npy"
_AT_ONCE = 64  # numbers of a vector that are summed over neighbours at once, to bound memory
_SAMPLE = 16
GAP = -1  # separates names, so that no convolution reads across, and pads
_REMEMBERED = 1 << 12  # fields of topics
_MOST_FIELDS = 24  # of a topic; further headings of an article are ignored


class TopicReader:
    """Reads topics, and keeps what it found for a field."""

    def __init__(
        self, vectors: WordVectors, graph: ConceptGraph | None, options: GrapheneOptions
    ) -> None:
        self._vectors = vectors
        self.graph = graph
        self._options = options
        self.concepts = lru_cache(_REMEMBERED)(self._concepts)
        self._field = lru_cache(_REMEMBERED)(self._encoded)

    def read(self, topic: Topic) -> EncodedTopic:
        texts = self.fields(topic)
        fields = [self._field(text) for text in texts]
        width = self._options.query_words
        words = np.full((len(fields), width), GAP, np.int64)
        weights = np.zeros((len(fields), width), np.float32)
        for number, (row, share) in enumerate(fields):
            words[number, : len(row)] = row
            weights[number, : len(row)] = share
        matching = [self.concepts(text) for text in texts]
        return EncodedTopic(words, weights, np.unique(np.concatenate(matching)))

    def fields(self, topic: Topic) -> list[str]:
        values = (text for name in self._options.query_fields for text in topic.values(name))
        texts = [text for text in values if text.strip()][:_MOST_FIELDS]
        return texts or [topic.query]

    def _concepts(self, text: str) -> Int64:
        if self.graph is None:
            return np.empty(0, np.int64)
        return np.asarray(self.graph.find(text, expand=self._options.narrower), np.int64)

    def _encoded(self, text: str) -> tuple[Int64, Float32]:
        """Words of a field and their shares, before IDF: half for its own, half for other names."""
        own_words = known_words(text, self._vectors)
        rows, shares = [own_words], [_shares(own_words)]
        if others := self._other_names(text):
            other_words = np.concatenate(others)
            rows, shares = (
                [own_words, other_words],
                [_shares(own_words) / 2, _shares(other_words) / 2],
            )
        width = self._options.query_words
        words, share = np.concatenate(rows)[:width], np.concatenate(shares)[:width]
        return words, share / max(float(share.sum()), 1e-12)

    def _other_names(self, text: str) -> list[Int64]:
        if self.graph is None or not self._options.expansion:
            return []
        forms = {tuple(known_words(text, self._vectors).tolist())}
        names: list[Int64] = []
        for concept in self.graph.find(text).tolist():
            count = 0
            for name in self.graph.names_of(concept):
                words = tuple(known_words(name, self._vectors).tolist())
                if count == self._options.expansion_names:
                    break
                if words and words not in forms:
                    forms.add(words)
                    names.append(np.array([GAP, *words], np.int64))
                    count += 1
        return names


@dataclass(frozen=True)
class EncodedTopic:
    """A topic."""

    words: Int64  # int64 [fields, words of a field], rows of word vectors; GAP is none
    weights: Float32  # float32, alike: each word's share in its field, before IDF; 0 at gaps
    matching: Int64  # int64, distinct concepts that it speaks of, in order of their number


def _shares(words: Int64) -> Float32:
    present = (words != GAP).astype(np.float32)
    shares: Float32 = present / max(float(present.sum()), 1.0)
    return shares


def known_words(text: str, vectors: WordVectors) -> Int64:
    """Rows of the words of a text that have a vector, in their order."""
    return vectors.known_rows(tokenize(text))


class Reader:
    """Turns documents and topics into tensors, on one device."""

    def __init__(self, index: ForwardIndex, vectors: WordVectors, length: int, device: str) -> None:
        self.index = index
        self.device = device
        self._length = length
        # The last entry stands for padding (-1) and is never read.
        self._rows = np.append(vectors.align(index.vocabulary), vectors.unk).astype(np.int64)
        self.vectors = torch.from_numpy(np.array(vectors.matrix)).to(device)
        self.unknown = vectors.unk
        self._idf = np.append(index.idf("text"), 0).astype(np.float32)
        # A word that the collection lacks is as rare as any.
        rarest = index.idf("text").max(initial=1)
        self._idf_of_rows = np.full(len(vectors.matrix), rarest, np.float32)
        self._idf_of_rows[self._rows[:-1]] = self._idf[:-1]

    def texts(self, rows: Int64) -> Words:
        """The first words of documents, title first, weighted by IDF."""
        return self._padded(self.index.matrix(rows, self._length).astype(np.int64))

    def abstracts(self, rows: Int64) -> Words:
        return self._padded(self._field(rows, "abstract", self._length))

    def titles(self, rows: Int64, length: int) -> Int64:
        """The first words of titles as ids of the index, padded with -1: int64 [n, length]."""
        return self._field(rows, "title", length)

    def word_vectors(self, words: Int64) -> Tensor:
        return self.vectors[torch.from_numpy(self._rows[words]).to(self.device)]

    def topics(self, topics: Sequence[EncodedTopic]) -> tuple[Words, Tensor]:
        """The words of distinct fields, and each topic's fields; see `GrapheneNetwork.query`."""
        words = np.concatenate([topic.words for topic in topics])
        weights = np.concatenate([topic.weights for topic in topics])
        # Fields that were cut may have the same words and other weights.
        keys = np.concatenate([words, weights.view(np.int32)], axis=1)
        _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        words = words[first]
        ends = np.cumsum([len(topic.words) for topic in topics])
        by_topic = np.split(number.ravel(), ends[:-1])
        fields = np.full((len(topics), max(map(len, by_topic))), len(words), np.int64)
        for place, of_topic in enumerate(by_topic):
            fields[place, : len(of_topic)] = of_topic
        # Columns that no field fills would only cost time.
        width = 1 + int(np.flatnonzero((words != GAP).any(axis=0)).max(initial=0))
        rows = np.where(words == GAP, self.unknown, words)[:, :width]
        weighted = weights[first, :width] * self._idf_of_rows[rows]
        weighted /= weighted.sum(axis=1, keepdims=True).clip(1e-9)
        return self._words(rows, weighted), torch.from_numpy(fields).to(self.device)

    def _padded(self, words: Int64) -> Words:
        present = words != PADDING
        width = max(1, int(present.sum(axis=1).max(initial=0)))
        weights = self._idf[words[:, :width]] * present[:, :width]
        return self._words(self._rows[words[:, :width]], weights)

    def _words(self, rows: Int64, weights: Float32) -> Words:
        distinct, places = np.unique(rows, return_inverse=True)
        return Words(
            self.vectors[torch.from_numpy(distinct).to(self.device)],
            torch.from_numpy(places.reshape(rows.shape)).to(self.device),
            torch.from_numpy(weights).to(self.device),
        )

    def _field(self, rows: Int64, field: TextField, length: int) -> Int64:
        tokens, offsets = self.index.tokens(rows, field)
        padded = np.full((len(rows), length), PADDING, np.int64)
        lengths = np.minimum(np.diff(offsets), length)
        places = np.arange(length) < lengths[:, None]
        padded[places] = tokens[(offsets[:-1, None] + np.arange(length))[places]]
        return padded


class ConceptInputs:
    """The graph as the network reads it.

    `self_loop` is λ; without `weighted`, each link of a document weighs 1 (equation 2).
    """

    def __init__(
        self,
        graph: ConceptGraph,
        vectors: WordVectors,
        self_loop: float,
        resources: Resources,
        *,
        weighted: bool = True,
    ) -> None:
        self._weighted = weighted
        refuse_another(graph, resources.forward_index())
        self.graph = graph
        frequency = np.asarray(graph.document_frequency, dtype=np.float64)
        self._idf = np.log1p(graph.document_count / np.maximum(frequency, 1)).astype(np.float32)
        depends_on = {
            "format": _FORMAT,
            "graph": graph.fingerprint,
            "vectors": vectors.digest(),
            "self_loop": self_loop,
        }

        def build(folder: Path) -> None:
            _write(folder / _FILE, graph, name_vectors(graph, vectors, resources), self_loop)

        folder = resources.artifact("graphene-concepts", depends_on, build)
        self._sums: Float32 = np.load(folder / _FILE, mmap_mode="r", allow_pickle=False)

    def sums(self, concepts: Int64) -> Float32:
        sums: Float32 = np.asarray(self._sums[concepts])
        return sums

    def links(self, rows: Int64) -> DocumentLinks:
        concepts, counts, offsets = self.graph.concepts_of(rows)
        if not self._weighted:
            ones = np.ones(len(concepts), np.float32)
            return DocumentLinks(concepts.astype(np.int64), ones, offsets)
        weights = (1 + np.log(counts)).astype(np.float32) * self._idf[concepts]
        lengths = np.diff(offsets)
        owner = np.repeat(np.arange(len(rows)), lengths)
        totals = np.bincount(owner, weights, minlength=len(rows)).astype(np.float32)
        return DocumentLinks(concepts.astype(np.int64), weights / totals[owner], offsets)


@dataclass(frozen=True)
class DocumentLinks:
    """Concepts of some documents, one document behind the other."""

    concepts: Int64  # int64 [links]
    weights: Float32  # float32 [links]: those of a document add up to 1, or each is 1
    offsets: Int64  # int64 [documents + 1]

    def of(self, documents: Int64) -> tuple[Int64, Int64]:
        lengths = self.offsets[documents + 1] - self.offsets[documents]
        return ForwardIndex.ragged(self.offsets[documents], lengths)


def refuse_another(graph: ConceptGraph, index: ForwardIndex) -> None:
    """See that the rows of the graph are those of the forward index, by a sample of their ids."""
    same = graph.document_count == index.count
    if same and index.count:
        rows = np.unique(np.linspace(0, index.count - 1, _SAMPLE).astype(np.int64))
        same = [graph.doc_ids[int(row)] for row in rows] == index.doc_ids(rows)
    if not same:
        raise InputError(
            "this concept graph was built for other documents than the collection has "
            f"({graph.document_count:,} documents, the collection has {index.count:,}). "
            "Build one with `platform concepts build --collection C`.",
            path=graph.folder,
        )


def name_vectors(graph: ConceptGraph, vectors: WordVectors, resources: Resources) -> Float32:
    """g_c⁽⁰⁾ [concepts, V]: the mean of the vectors of a concept's first name with any."""
    means = np.zeros((graph.concept_count, vectors.dimensions), np.float32)
    with resources.progress("reading names", graph.concept_count, "concepts") as advance:
        for concept in range(graph.concept_count):
            rows = known_words(graph.names[concept], vectors)
            if not len(rows):
                others = (known_words(name, vectors) for name in graph.names_of(concept)[1:])
                rows = next((candidate for candidate in others if len(candidate)), rows)
            if len(rows):
                means[concept] = vectors.matrix[rows].mean(axis=0)
            if concept % 1000 == 999:
                advance(1000)
    return means


def _write(file: Path, graph: ConceptGraph, inputs: Float32, self_loop: float) -> None:
    from scipy.sparse import diags, identity

    adjacency = graph.adjacency() + self_loop * identity(graph.concept_count, dtype=np.float32)
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = diags(1 / np.sqrt(np.maximum(degree, 1e-12)))
    normalized = (scale @ adjacency @ scale).tocsr().astype(np.float32)
    count, width = inputs.shape
    out = new_matrix(file, (count, width))
    for start in range(0, width, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        out[:, part] = normalized @ inputs[:, part]
    out.flush()
