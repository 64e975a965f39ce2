"""The graph as constants of the collection: inputs of concepts, and links of documents.

A concept starts as the mean of its name's word vectors. Its first layer reads the normalized sum
over itself and its neighbours, D^-½ (A + λI) D^-½ X (Kipf and Welling, ICLR 2017, equation 2, with
λ = 1), which depends on no weight: it is computed once and cached. A document's links weigh
(1 + ln count) · IDF and add up to 1; without weights, as in the paper, long articles and concepts
such as "Patients" drown the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.errors import InputError
from irplatform.text import tokenize
from irplatform.text.arrays import Float32, Int64, new_matrix, ragged
from irplatform.training.neural import vectors_digest

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.concepts.graph import ConceptGraph
    from irplatform.plugin import Resources
    from irplatform.text import ForwardIndex, WordVectors


_FORMAT = 1
_FILE = "concepts.npy"
_AT_ONCE = 64
"""Numbers of a vector that are summed over neighbours at once, to bound memory."""
_SAMPLE = 16


@dataclass(frozen=True)
class DocumentLinks:
    """Concepts of some documents, one document behind the other.

    Attributes:
        concepts: int64 [links].
        weights: float32 [links], those of a document add up to 1.
        offsets: int64 [documents + 1].
    """

    concepts: Int64
    weights: Float32
    offsets: Int64

    def of(self, documents: Int64) -> tuple[Int64, Int64]:
        """Places of the links of some of the documents, and the offsets of these among them."""
        lengths = self.offsets[documents + 1] - self.offsets[documents]
        return ragged(self.offsets[documents], lengths)


class ConceptInputs:
    """The graph as the network reads it.

    Args:
        graph: the collection's.
        vectors: word vectors.
        self_loop: λ, the weight of a concept among its neighbours.
        resources: the harness's resources.
    """

    def __init__(
        self, graph: ConceptGraph, vectors: WordVectors, self_loop: float, resources: Resources
    ) -> None:
        refuse_another(graph, resources.forward_index())
        self.graph = graph
        frequency = np.asarray(graph.document_frequency, dtype=np.float64)
        self._idf = np.log1p(graph.document_count / np.maximum(frequency, 1)).astype(np.float32)
        depends_on = {
            "format": _FORMAT,
            "graph": graph.fingerprint,
            "vectors": vectors_digest(vectors),
            "self_loop": self_loop,
        }

        def build(folder: Path) -> None:
            _write(folder / _FILE, graph, name_vectors(graph, vectors, resources), self_loop)

        folder = resources.artifact("graphene-concepts", depends_on, build)
        self._sums: Float32 = np.load(folder / _FILE, mmap_mode="r", allow_pickle=False)

    def sums(self, concepts: Int64) -> Float32:
        """Normalized sums over neighbours: float32 [concepts, V]."""
        sums: Float32 = np.asarray(self._sums[concepts])
        return sums

    def links(self, rows: Int64) -> DocumentLinks:
        """The weighted concepts of documents in some rows of the forward index."""
        concepts, counts, offsets = self.graph.concepts_of(rows)
        weights = (1 + np.log(counts)).astype(np.float32) * self._idf[concepts]
        lengths = np.diff(offsets)
        owner = np.repeat(np.arange(len(rows)), lengths)
        totals = np.bincount(owner, weights, minlength=len(rows)).astype(np.float32)
        return DocumentLinks(concepts.astype(np.int64), weights / totals[owner], offsets)


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
    """g_c⁽⁰⁾: the mean of the vectors of a concept's name, float32 [concepts, V].

    Where no word of the preferred name has a vector, another name stands in; 0 if none has one.
    """
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


def known_words(text: str, vectors: WordVectors) -> Int64:
    """Rows of the words of a text that have a vector, in their order."""
    return vectors.known_rows(tokenize(text))


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
