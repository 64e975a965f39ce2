"""DRMM: matching histograms, network and training (Guo et al., CIKM 2016, section 4).

Cosines of a query term and all words of a document fall into bins of equal width over [-1, 1), and
exact matches into a bin of their own. Where the paper is silent: a stem's vector is the mean of its
words' vectors by frequency; a word without a vector matches exactly or not at all; query words that
the collection lacks are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from irplatform.kit import PairSampler, Validator, WordVectors, krovetz_stems, pairwise_hinge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from irplatform.kit import Float32, ForwardIndex, Int64
    from irplatform.plugin import Resources, TrainingData
    from irplatform_drmm.options import DrmmOptions

_NEAR = 1e-4
"""Cosines this near to a bin's border (in bins) are computed again with more digits: a matrix
product rounds differently for different numbers of words."""
_FORMAT = 1
_BLOCK = 20_000  # words at once
_STEMS = 1 << 17  # whose vectors are in 64 bits at once


class DrmmNetwork(nn.Module):
    """A feed-forward network per query term, and a gate: 162 parameters with a gate over IDF.

    Both layers are tanh (section 4.2): z_i = tanh(w₂ · tanh(W₁ h_i + b₁) + b₂). The score is the
    sum of g_i z_i with g = softmax(w_g x_i) over the query's terms, x_i a term's IDF or vector
    (section 4.3).
    """

    def __init__(
        self, bins: int, hidden: int, gate: Literal["idf", "vectors"], dimensions: int
    ) -> None:
        super().__init__()
        self.hidden = nn.Linear(bins, hidden)
        self.output = nn.Linear(hidden, 1)
        # All terms weigh the same at first.
        self.gate = nn.Parameter(torch.zeros(1 if gate == "idf" else dimensions))

    def forward(self, counts: Tensor, terms: Tensor, present: Tensor) -> Tensor:
        """Score documents, between -1 and 1: [n]; 0 without any term.

        Args:
            counts: [n, m, bins], how many words fall into each bin.
            terms: [n, m, 1] or [n, m, V], inputs of the gate.
            present: bool [n, m], False for terms that pad shorter queries.
        """
        logarithms = torch.log1p(counts)
        matched = torch.tanh(self.output(torch.tanh(self.hidden(logarithms))))[:, :, 0]
        # Not −∞, of which the softmax makes NaN where a query has no term at all.
        least = torch.finfo(counts.dtype).min
        weight = (terms * self.gate).sum(dim=2).masked_fill(~present, least)
        gates = torch.softmax(weight, dim=1)
        scores: Tensor = (gates * matched).masked_fill(~present, 0).sum(dim=1)
        return scores


class DrmmTask:
    """Training on pairs: histograms counted once, Delta's loss (Mohan et al., WWW 2018, 4.3.4)."""

    def __init__(
        self,
        network: DrmmNetwork,
        matcher: Matcher,
        score: Callable[[Matches], Sequence[float]],
        gate_inputs: Callable[[Matches], Float32],
        options: DrmmOptions,
        data: TrainingData,
        seed: int,
        device: str,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self._score = score
        self._options = options
        self._device = device
        self.sampler = PairSampler(data.training, options.pairs, seed)
        histograms, sizes = [], []
        self._gate_inputs: list[Float32] = []
        for pool in self.sampler.pools:
            matches = matcher.match(pool.labelled.topic.query, pool.doc_ids)
            histograms.append(matches.counts.reshape(-1, options.bins))
            sizes += [len(matches.terms)] * len(pool.doc_ids)
            self._gate_inputs.append(gate_inputs(matches))
            advance(1)
        # Of all documents' terms, one by one; the last row is for where none has any.
        nothing = np.zeros((1, options.bins), dtype=histograms[0].dtype)
        self._histograms = np.concatenate([*histograms, nothing])
        self._sizes = np.array(sizes)
        self._first = self._sizes.cumsum() - self._sizes
        self._measure = Validator(data.validation, on=self._options.loop.validate_on).reading(
            lambda topic, doc_ids: matcher.match(topic.query, doc_ids), advance
        )

    def batches(self, epoch: int) -> list[PairSampler.Batch]:
        return self.sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: PairSampler.Batch) -> Tensor:
        rows = batch.rows(self.sampler.starts)
        width = max(1, int(self._sizes[rows].max()))
        present = np.arange(width) < self._sizes[rows][:, None]
        places = np.where(present, self._first[rows][:, None] + np.arange(width), -1)
        counts = self._histograms[places].astype(np.float32)
        terms = self._padded(np.concatenate([batch.topic, batch.topic]), width)
        scores = self.module(*(self._tensor(array) for array in (counts, terms, present)))
        higher, lower = scores[: len(batch)], scores[len(batch) :]
        return pairwise_hinge(higher, lower, self._tensor(batch.weight))

    def _padded(self, topics: Int64, width: int) -> Float32:
        padded = np.zeros((len(topics), width, len(self.module.gate)), dtype=np.float32)
        for place, topic in enumerate(topics.tolist()):
            inputs = self._gate_inputs[topic]
            padded[place, : len(inputs)] = inputs
        return padded

    def _tensor(self, array: npt.NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    def validate(self) -> float:
        return self._measure(self._score)


class Matcher:
    """Makes histograms of topics and documents."""

    def __init__(
        self, index: ForwardIndex, stems: Stems, vectors: Float32, options: DrmmOptions
    ) -> None:
        self._index = index
        self._options = options
        self._stems = np.append(stems.of_word, -1)  # the last entry serves padding, -1
        self._idf = index.idf_of(stems.document_frequency)
        self._vectors = vectors
        self._size = len(stems)
        self._dtype = np.uint8 if options.document_words < 2**8 else np.uint16
        self._stop: set[int] = set()
        if not options.keep_stop_words:
            self._stop = set(index.stop_words().tolist())

    def terms(self, query: str) -> Int64:
        """The stems of a query's words, without stop words unless there is nothing else."""
        words = [word for word in self._index.query_ids(query).tolist() if word >= 0]
        content = [word for word in words if word not in self._stop]
        return self._stems[np.array(content or words, dtype=np.int64)].astype(np.int64)

    def match(self, query: str, doc_ids: Sequence[str]) -> Matches:
        rows = self._index.rows(doc_ids)
        documents = self._index.matrix(rows, self._options.document_words)
        return self.compare(self.terms(query), documents)

    def compare(self, terms: Int64, documents: npt.NDArray[np.int32]) -> Matches:
        """Match the stems of a query with the word ids of documents, padded with -1."""
        distinct, places = self._index.distinct_words(self._stems[documents], self._size)
        bins = self._options.bins
        table = np.full((len(terms), len(distinct) + 1), bins, dtype=np.uint8)
        table[:, :-1] = self._bins(terms, distinct)
        # The last bin, which is cut off, is for padding and words without a vector.
        starts = np.arange(len(documents))[:, None] * (bins + 1)
        counts = np.empty((len(documents), len(terms), bins), dtype=self._dtype)
        size = len(documents) * (bins + 1)
        for number, row in enumerate(table):
            counted = np.bincount((row[places] + starts).ravel(), minlength=size)
            counts[:, number] = counted.reshape(len(documents), bins + 1)[:, :bins]
        return Matches(counts, self._idf[terms].astype(np.float32), terms)

    def on_device(self, device: str) -> DeviceMatcher:
        """The same for many topics at once, on a GPU."""
        stems, idf, vectors = (
            torch.from_numpy(np.array(array)).to(device)
            for array in (self._stems, self._idf.astype(np.float32), self._vectors)
        )
        return DeviceMatcher(stems, idf, vectors, self._options.bins)

    def _bins(self, terms: Int64, words: Int64) -> npt.NDArray[np.uint8]:
        term_vectors, word_vectors = self._vectors[terms], self._vectors[words]
        inner = self._options.bins - 1
        place = (term_vectors @ word_vectors.T + 1) * np.float32(inner / 2)
        near = np.abs(place - np.rint(place)) < _NEAR
        bins: npt.NDArray[np.uint8] = np.clip(np.floor(place), 0, inner - 1).astype(np.uint8)
        term, word = np.nonzero(near)
        exact = (term_vectors[term].astype(np.float64) * word_vectors[word]).sum(axis=1)
        bins[term, word] = np.clip(np.floor((exact + 1) * (inner / 2)), 0, inner - 1)
        without = ~term_vectors.any(axis=1)[:, None] | ~word_vectors.any(axis=1)
        bins[without] = self._options.bins
        bins[terms[:, None] == words] = inner
        return bins


@dataclass(frozen=True)
class DeviceMatcher:
    """Makes histograms on a device, with the cosines of query terms and all stems in 64 bits."""

    stems: Tensor  # int32 [words + 1], of words; the last entry serves padding, -1
    idf: Tensor  # float32 [stems]
    vectors: Tensor  # float32 [stems, V]
    bins: int

    def counts(self, terms: Tensor, topic: Tensor, documents: Tensor) -> Tensor:
        """Histograms float32 [n, m, bins] of documents [n, N] and terms [topics, m] of topics [n].

        Those of padding, -1, are not looked at.
        """
        count, width = len(topic), terms.shape[1]
        words = self.stems[documents].long()
        words = words.where(words >= 0, len(self.vectors))
        numbers = torch.arange(width, device=topic.device)
        rows = topic[:, None] * width + numbers  # [n, m], of the table
        cells = rows[:, :, None] * (len(self.vectors) + 1) + words[:, None]
        bins = self._table(terms.flatten().clamp(min=0)).view(-1)[cells].long()
        places = torch.arange(count, device=topic.device)[:, None] * width + numbers
        bins += places[:, :, None] * (self.bins + 1)
        counts = self.idf.new_zeros(count * width * (self.bins + 1))
        counts.index_add_(0, bins.flatten(), counts.new_ones(1).expand(bins.numel()))
        return counts.view(count, width, self.bins + 1)[:, :, : self.bins]

    def _table(self, terms: Tensor) -> Tensor:
        """The bin of each term and stem, uint8 [terms, stems + 1]; the last stem is padding."""
        inner = self.bins - 1
        size = len(self.vectors)
        table = torch.full(
            (len(terms), size + 1), self.bins, dtype=torch.uint8, device=terms.device
        )
        term_vectors = self.vectors[terms].double()
        for start in range(0, size, _STEMS):
            part = slice(start, min(start + _STEMS, size))
            stems = self.vectors[part].double()
            place = ((term_vectors @ stems.T + 1) * (inner / 2)).floor().clamp(0, inner - 1)
            mask = term_vectors.any(dim=1)[:, None] & stems.any(dim=1)
            table[:, part] = place.where(mask, self.bins).to(torch.uint8)
        return table.scatter_(1, terms[:, None], inner)


@dataclass(frozen=True)
class Matches:
    """A topic's candidates as the network reads them.

    Attributes:
        counts: uint8 or uint16 [n, m, bins], histograms of documents and query terms.
        idf: float32 [m], of the query terms.
        terms: int64 [m], their stems.
    """

    counts: npt.NDArray[Any]
    idf: Float32
    terms: Int64


@dataclass(frozen=True)
class Stems:
    """The stems of a vocabulary by Krovetz's algorithm (SIGIR 1993), Lucene's KStem."""

    of_word: npt.NDArray[np.int32]  # int32, the stem of each word
    document_frequency: npt.NDArray[np.int32]  # int32, in how many documents each stem occurs

    @classmethod
    def of(cls, resources: Resources, stemmer: str) -> Stems:
        """The stems of the collection's words, from the cache or made now; "none" keeps words."""
        index = resources.forward_index()
        if stemmer == "none":
            words = np.arange(len(index.vocabulary), dtype=np.int32)
            return cls(words, index.document_frequency("text"))

        def build(folder: Path) -> None:
            of_word = number_stems(krovetz_stems(list(index.vocabulary)))
            with resources.progress("counting stems", index.count, "documents") as advance:
                frequency = document_frequency(index, of_word, advance)
            np.save(folder / "of-word.npy", of_word)
            np.save(folder / "document-frequency.npy", frequency)

        folder = resources.artifact(
            "krovetz-stems", {"format": _FORMAT}, build, of_vectors=False, of_words=True
        )
        return cls(
            np.load(folder / "of-word.npy", allow_pickle=False),
            np.load(folder / "document-frequency.npy", allow_pickle=False),
        )

    def __len__(self) -> int:
        return len(self.document_frequency)


def stem_vectors(index: ForwardIndex, stems: Stems, vectors: WordVectors) -> Float32:
    """Unit vectors of stems, [stems, V]; all 0 where none of a stem's words has a vector."""
    rows = vectors.align(index.vocabulary)
    words = np.flatnonzero(rows != vectors.unk)
    weight = index.collection_frequency("text")[words].astype(np.float32)
    sums = np.zeros((len(stems), vectors.dimensions), dtype=np.float32)
    for start in range(0, len(words), 50_000):
        part = slice(start, start + 50_000)
        values = vectors.matrix[rows[words[part]]] * weight[part, None]
        np.add.at(sums, stems.of_word[words[part]], values)
    return WordVectors.unit_rows(sums)


def number_stems(stems: Sequence[str]) -> npt.NDArray[np.int32]:
    """Per word the number of its stem, in order of first appearance."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(stem, len(numbers)) for stem in stems], dtype=np.int32)


def document_frequency(
    index: ForwardIndex, of_word: npt.NDArray[np.int32], advance: Callable[[int], None]
) -> npt.NDArray[np.int32]:
    """In how many documents each stem occurs."""
    frequency = np.zeros(int(of_word.max(initial=-1)) + 1, dtype=np.int32)
    for rows, _, stems in index.distinct_numbers(of_word):
        frequency += np.bincount(stems, minlength=len(frequency)).astype(np.int32)
        advance(len(rows))
    return frequency
