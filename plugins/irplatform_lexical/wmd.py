"""Word Mover's Distance between query and document (Kusner et al., ICML 2015).

As in Mohan et al. (WWW 2018, section 4.3.2): Euclidean distances, stop words kept; the score is
minus the distance. Words without a vector are left out. A document without other words comes last;
a query without other words gives every document 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from irplatform.kit import (
    Float32,
    ForwardIndex,
    VectorOptions,
    content_words,
    tokenize,
)
from irplatform.plugin import Documents, Field, Options, Reranker, Resources, Topic, Traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.kit import Int64, WordVectors
    from irplatform_lexical.wmd_on_device import DeviceSpace

_MOST_STEPS = 10_000_000  # of the solver; real texts need some thousands
_CHUNK = 128  # words whose distances are computed at once, in the processor's cache


class WMDOptions(Options):
    """Options of the Word Mover's Distance; `[paper]` marks a choice of Mohan et al., WWW 2018."""

    field: Literal["title", "abstract", "text"] = Field(
        "text", description="text: title and abstract"
    )
    form: Literal["exact", "relaxed"] = Field("exact", description="the distance or a faster bound")
    stop_words: bool = Field(True, description="keep stop words [paper]")
    unit_vectors: bool = Field(False, description="bring word vectors to length 1 first")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors")


class WMD(Reranker):
    """Word Mover's Distance, exact or relaxed, of title, abstract or both."""

    Options = WMDOptions
    citation: ClassVar[str] = (
        "Matt Kusner, Yu Sun, Nicholas Kolkin, Kilian Weinberger. From Word Embeddings To Document "
        "Distances. ICML 2015, as in Mohan et al., WWW 2018, section 4.3.2."
    )
    options: WMDOptions
    _device_space: DeviceSpace | None = None

    def traits(self) -> Traits:
        exact = ("ot",) if self.options.form == "exact" else ()
        return Traits(packages=(*exact, "gensim"))

    def prepare(self, resources: Resources) -> None:
        self._device = resources.device
        self._index = resources.forward_index()
        self._vectors = resources.vectors(self.options.vectors)
        self._space = WordSpace(self._vectors, unit=self.options.unit_vectors)
        self._words = self._vectors.align_known(self._index.vocabulary)
        if not self.options.stop_words:
            stop_ids = self._index.stop_words()
            self._words[stop_ids[stop_ids >= 0]] = -1

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        if self.options.form == "exact" or not self._device.startswith("cuda"):
            return super().score_batch(batch)
        from irplatform.kit import Reading, on_device

        if self._device_space is None:
            self._device_space = self.space_on(self._device)
        space, field = self._device_space, self.options.field
        documents = on_device(self._index, self._device)
        return documents.score(
            batch, Reading(self.query), lambda candidates: space.scores(candidates, field)
        )

    def query(self, topic: Topic) -> Int64:
        """Rows of the words of a query: int64 [words]."""
        words = tokenize(topic.query) if self.options.stop_words else content_words(topic.query)
        return self._vectors.known_rows(words)

    def space_on(self, device: str) -> DeviceSpace:
        """The words on a device, for the relaxed form."""
        import torch

        from irplatform_lexical.wmd_on_device import DeviceSpace

        arrays = np.append(self._words, -1), np.array(self._vectors.matrix), self._space.scale
        return DeviceSpace(*(torch.from_numpy(array).to(device) for array in arrays))

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        rows = self.query(topic)
        query = make_bags(rows, np.array([0, len(rows)]))
        if not len(query.words):
            return [0.0] * len(documents)
        tokens, offsets = self._index.tokens(self._index.rows(documents.ids), self.options.field)
        words = self._words[tokens]
        words, offsets = self._index.without(words, offsets, words < 0)
        distances = np.full(len(documents), self._space.farthest(query.words))
        filled = np.flatnonzero(np.diff(offsets))
        if len(filled):
            texts = np.append(offsets[filled], offsets[-1])
            distances[filled] = self._distances(query, words, texts)
        scores: list[float] = (-distances).tolist()
        return scores

    def _distances(self, query: Bags, words: Int64, offsets: Int64) -> npt.NDArray[np.float64]:
        distinct, places = ForwardIndex.distinct_words(words, len(self._vectors.matrix))
        costs = self._space.costs(query.words, distinct)
        if self.options.form == "relaxed":
            return relaxed(query.weights, costs, places, offsets)
        shared = np.searchsorted(query.words, distinct)
        shared[query.words[np.minimum(shared, len(query.words) - 1)] != distinct] = -1
        return exact(query.weights, costs, shared, make_bags(places, offsets))


class WordSpace:
    """Euclidean distances between words."""

    def __init__(self, vectors: WordVectors, *, unit: bool = False) -> None:
        self._matrix: Float32 = vectors.matrix
        squares = np.einsum("ij,ij->i", self._matrix, self._matrix, dtype=np.float64)
        lengths = np.sqrt(squares)
        self.scale = np.divide(1, lengths, out=np.ones_like(lengths), where=unit & (lengths > 0))
        self._squares: npt.NDArray[np.float64] = squares * self.scale**2
        self._longest = float(np.sqrt(self._squares.max()))

    def costs(self, words: Int64, others: Int64) -> npt.NDArray[np.float64]:
        """Distances of words, given as rows of vectors, in 64 bits: [words, others]."""
        left = -2 * self.scale[words][:, None] * self._matrix[words]
        squares = np.empty((len(words), len(others)))
        for start in range(0, len(others), _CHUNK):
            part = slice(start, start + _CHUNK)
            right = self._matrix[others[part]].astype(np.float64)
            np.matmul(left, right.T, out=squares[:, part])
        squares *= self.scale[others]
        squares += self._squares[words][:, None]
        squares += self._squares[others]
        squares[words[:, None] == others] = 0
        distances: npt.NDArray[np.float64] = np.sqrt(
            np.maximum(squares, 0, out=squares), out=squares
        )
        return distances

    def farthest(self, words: Int64) -> float:
        """No word is farther than this from any of these, and no text from one made of them."""
        return float(np.sqrt(self._squares[words].max())) + self._longest


def exact(
    weights: npt.NDArray[np.float64], costs: npt.NDArray[np.float64], shared: Int64, texts: Bags
) -> npt.NDArray[np.float64]:
    """The Word Mover's Distance of a query to texts, none of which is empty (equation 1): [texts].

    Weight that both texts have on a word stays there, since the cost is a metric (Kantorovich and
    Rubinstein); a solver for optimal transport moves the rest, text by text.

    Args:
        weights: [q], the shares of the query's distinct words, adding up to 1.
        costs: [q, w], the distance of each to every word that a text may have.
        shared: [w], which word of the query a word is, or -1.
        texts: the texts, with numbers of words below w.
    """
    sources = np.tile(weights, (len(texts), 1))
    targets = texts.weights.copy()
    query_words = shared[texts.words]
    overlap = np.flatnonzero(query_words >= 0)
    cells = texts.owners[overlap], query_words[overlap]
    common = np.minimum(sources[cells], targets[overlap])
    sources[cells] -= common
    targets[overlap] -= common
    distances = np.zeros(len(texts))
    for number in range(len(texts)):
        part = slice(texts.offsets[number], texts.offsets[number + 1])
        remainder = np.flatnonzero(targets[part])
        moved = np.flatnonzero(sources[number])
        if len(remainder):
            distances[number] = _least_cost(
                sources[number, moved],
                targets[part][remainder],
                costs[moved[:, None], texts.words[part][remainder]],
            )
    return distances


def _least_cost(
    sources: npt.NDArray[np.float64],
    targets: npt.NDArray[np.float64],
    costs: npt.NDArray[np.float64],
) -> float:
    if 1 in costs.shape:
        return float(sources @ costs @ targets / targets.sum())
    from ot import emd2

    return float(
        emd2(
            sources,
            targets,
            costs,
            numItermax=_MOST_STEPS,
            center_dual=False,  # the duals are not asked for
            check_marginals=False,  # both add up to the same: as much was taken from either
        )
    )


def relaxed(
    weights: npt.NDArray[np.float64], costs: npt.NDArray[np.float64], words: Int64, offsets: Int64
) -> npt.NDArray[np.float64]:
    """The relaxed distance (Kusner et al., section 4), a lower bound of `exact`: [texts].

    Every word moves all of its weight to the nearest word of the other text; the dearer direction
    counts. `words` are those of all texts, none of which is empty, `offsets` [texts + 1].
    """
    begins = offsets[:-1]
    nearest = np.minimum.reduceat(np.take(costs, words, axis=1), begins, axis=1)
    from_texts = np.add.reduceat(costs.min(axis=0)[words], begins) / np.diff(offsets)
    from_query = np.add.reduce(weights[:, None] * nearest, axis=0)
    return np.asarray(np.maximum(from_query, from_texts))


@dataclass(frozen=True)
class Bags:
    """The distinct words of several texts, one text behind the other."""

    words: Int64  # int64 [m], ascending within a text
    weights: npt.NDArray[
        np.float64
    ]  # float64 [m], a word's share of its text; they add up to 1 in each
    offsets: Int64  # int64 [n + 1], where each text begins

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def owners(self) -> Int64:
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def make_bags(words: Int64, offsets: Int64) -> Bags:
    """The bags of texts: `words` of one text behind the other, without those below 0."""
    texts = len(offsets) - 1
    owners = np.repeat(np.arange(texts), np.diff(offsets))
    present = words >= 0
    span = int(words.max(initial=0)) + 1
    keys, counts = np.unique(owners[present] * span + words[present], return_counts=True)
    owners, distinct = np.divmod(keys, span)
    lengths = np.bincount(owners, weights=counts, minlength=texts)
    starts = np.searchsorted(owners, np.arange(texts + 1))
    return Bags(distinct, counts / lengths[owners], starts.astype(np.int64))
