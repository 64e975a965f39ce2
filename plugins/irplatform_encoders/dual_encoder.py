"""The dual encoder: a weighted mean of word vectors and a projection for either side.

    m(text) = Σ idf(w)·exp(a(w))·e(w)
    q = P m(query)      d = R [ g·m(title)/|m(title)| + (1 − g)·m(abstract)/|m(abstract)| ]
    s = cos(q, d)

At first a(w) = 0, g = ½ and P = R (orthogonal). The two towers and their softmax over a batch are
those of Karpukhin et al. (EMNLP 2020, section 3); averages of learned word vectors as encoders are
those of Wieting et al. (ICLR 2016, section 3).
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from irplatform.kit import (
    Float32,
    ForwardIndex,
    Int64,
    TextPairs,
    WeightFile,
    stored_documents,
    tokenize,
)
from irplatform.plugin import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Literal

    from irplatform.kit import Float32, WordVectors
    from irplatform.plugin import Resources, Topic
    from irplatform_encoders.options import EncoderOptions

FIRST_SCALE = 20.0  # the factor of cosines before the softmax, when training begins
UNKNOWN = -1
FORMAT = 2
_FILE = "learned.npy"


class Encoder:
    """Vectors of queries and documents; their inner products are the scores."""

    def __init__(self, resources: Resources, options: EncoderOptions, seed: int) -> None:
        self._resources = resources
        self._vectors = resources.vectors(options.vectors)
        self.index = resources.forward_index()
        self.reader = Reader(self.index, self._vectors)
        sizes = Sizes(
            words=len(self._vectors.matrix),
            dimensions=self._vectors.dimensions,
            projection=options.projection or self._vectors.dimensions,
            learned_words=options.words == "learned",
            learned_weights=options.word_weights == "learned",
            shared=options.shared,
        )
        # The default; torch warns where it is not set.
        torch.sparse.check_sparse_tensor_invariants.disable()  # type: ignore[no-untyped-call]
        torch.manual_seed(seed)
        network = DualNetwork(
            sizes,
            torch.from_numpy(np.array(self._vectors.matrix)),
            torch.from_numpy(inverse_frequencies(self.index, self._vectors)),
        )
        self.network = network.to(resources.device).eval()

    @property
    def width(self) -> int:
        return self.network.sizes.projection

    def queries(self, texts: Iterable[str]) -> Float32:
        """Vectors of queries: float32 [n, width], of length 1, or 0 where no word is known."""
        with torch.inference_mode():
            return _array(self.network.queries(self.reader.texts(texts)))

    def documents(self, rows: Int64) -> Float32:
        with torch.inference_mode():
            return _array(self.encode(rows))

    def encode(self, rows: Int64) -> Tensor:
        titles = self.reader.documents(rows, "title")
        return self.network.documents(titles, self.reader.documents(rows, "abstract"))

    def stored(self) -> Float32:
        return stored_documents(
            self._resources, "dual-encoder", self.describe_model(), self.documents, self.width
        )

    def sizes(self) -> dict[str, Any]:
        return {"model": "dual-encoder", **asdict(self.network.sizes)}

    def describe_model(self) -> dict[str, Any]:
        learned = self.network.sizes.learned_words
        return {
            "format": FORMAT,
            **self.sizes(),
            "weights": WeightFile.digest(self.network.state_dict()),
            "vectors": None if learned else self._vectors.digest(),
            "device": self._resources.device,
            "model_threads": self._resources.model_threads,
        }


def _array(vectors: Tensor) -> Float32:
    array: Float32 = vectors.cpu().numpy()
    return array


@dataclass(frozen=True)
class Sizes:
    """The shapes of the network, which weights must fit."""

    words: int  # rows of the word vectors, that of UNK included
    dimensions: int  # their length
    projection: int  # length of an encoded text
    learned_words: bool  # learn word vectors
    learned_weights: bool  # learn weights of words
    shared: bool  # one projection for queries and documents


class DualNetwork(nn.Module):
    """Encodes queries and documents, from word vectors [words, dimensions] and IDF [words]."""

    vectors: Tensor
    idf: Tensor
    log_weights: nn.Parameter | None
    document_projection: nn.Parameter | None

    def __init__(self, sizes: Sizes, vectors: Tensor, idf: Tensor) -> None:
        super().__init__()
        self.sizes = sizes
        unit = functional.normalize(vectors, dim=1)
        if sizes.learned_words:
            self.vectors = nn.Parameter(unit)
        else:
            self.register_buffer("vectors", unit, persistent=False)
        self.register_buffer("idf", idf, persistent=False)
        weights = nn.Parameter(torch.zeros(sizes.words)) if sizes.learned_weights else None
        self.register_parameter("log_weights", weights)
        first = nn.init.orthogonal_(torch.empty(sizes.projection, sizes.dimensions))
        if sizes.projection == sizes.dimensions:
            first = torch.eye(sizes.projection)
        self.query_projection = nn.Parameter(first)
        second = None if sizes.shared else nn.Parameter(first.clone())
        self.register_parameter("document_projection", second)
        self.title_share = nn.Parameter(torch.zeros(()))
        self.log_scale = nn.Parameter(torch.tensor(FIRST_SCALE).log())

    @property
    def device(self) -> str:
        return str(self.idf.device)

    def queries(self, texts: Bags) -> Tensor:
        """Encode queries: float32 [n, projection], each of length 1, or 0 without a known word."""
        return functional.normalize(self._means(texts) @ self.query_projection.T, dim=1)

    def documents(self, titles: Bags, abstracts: Bags) -> Tensor:
        share = torch.sigmoid(self.title_share)
        mixed = share * self._means(titles) + (1 - share) * self._means(abstracts)
        return self._document(mixed)

    def titles(self, titles: Bags) -> Tensor:
        return self._document(self._means(titles))

    def logits(self, queries: Tensor, documents: Tensor) -> Tensor:
        """Cosines of all queries and documents, scaled for the softmax of training."""
        return self.log_scale.exp() * (queries @ documents.T)

    def _document(self, means: Tensor) -> Tensor:
        projection = self.document_projection
        if projection is None:
            projection = self.query_projection
        return functional.normalize(means @ projection.T, dim=1)

    def _means(self, texts: Bags) -> Tensor:
        words, places, offsets = texts.distinct(self.device)
        weights = self.idf[words]
        if self.log_weights is not None:
            weights = weights * self.log_weights[words].exp()
        sparse = self.sizes.learned_words and self.training  # faster: rows of a batch's words
        weighted = functional.embedding(words, self.vectors, sparse=sparse) * weights[:, None]
        sums = functional.embedding_bag(places, weighted, offsets, mode="sum")
        return functional.normalize(sums, dim=1)


class Reader:
    """Makes bags of texts and of a collection's documents."""

    def __init__(self, index: ForwardIndex, vectors: WordVectors) -> None:
        self.index = index
        self._row_of_word = vectors.align_known(index.vocabulary)

        @lru_cache(maxsize=1 << 16)
        def row_of_word(word: str) -> int:
            (row,) = vectors.rows([word])
            return UNKNOWN if row == vectors.unk else int(row)

        self._row_of_word_read = row_of_word

    def texts(self, texts: Iterable[str]) -> Bags:
        words: list[int] = []
        ends = [0]
        for text in texts:
            rows = map(self._row_of_word_read, tokenize(text))
            words += [row for row in rows if row != UNKNOWN]
            ends.append(len(words))
        return Bags(np.array(words, dtype=np.int64), np.array(ends, dtype=np.int64))

    def documents(self, rows: Int64, field: Literal["title", "abstract"]) -> Bags:
        ids, offsets = self.index.tokens(rows, field)
        words = self._row_of_word[ids]
        return Bags(*self.index.without(words, offsets, words == UNKNOWN))


def inverse_frequencies(index: ForwardIndex, vectors: WordVectors) -> Float32:
    """The IDF of every word with a vector: 0 for UNK, the highest where the collection lacks it."""
    idf = index.idf("text").astype(np.float32)
    ids = index.vocabulary.ids(list(vectors.words))
    row_idf = np.full(len(vectors.matrix), idf.max(initial=0.0), dtype=np.float32)
    row_idf[:-1][ids >= 0] = idf[ids[ids >= 0]]
    row_idf[-1] = 0
    return row_idf


@dataclass(frozen=True)
class Bags:
    """Texts as bags of words with vectors, one text behind the other."""

    words: Int64  # int64, rows of the word vectors
    offsets: Int64  # int64 [texts + 1], where each text begins

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, numbers: Int64) -> Bags:
        starts, lengths = self.offsets[numbers], np.diff(self.offsets)[numbers]
        places, offsets = ForwardIndex.ragged(starts, lengths)
        return Bags(self.words[places], offsets)

    def distinct(self, device: str) -> tuple[Tensor, Tensor, Tensor]:
        """The distinct words, the place of every word among them, and where each text begins."""
        words, places = np.unique(self.words, return_inverse=True)
        arrays = (words, places.astype(np.int64), self.offsets[:-1])
        first, second, third = (torch.from_numpy(array).to(device) for array in arrays)
        return first, second, third


def joined(first: Bags, second: Bags) -> Bags:
    """Concatenate two sets of texts."""
    offsets = np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]])
    return Bags(np.concatenate([first.words, second.words]), offsets)


class Learned(frozenset[int]):
    """Marks (64 bits of a SHA-256) of the texts that a model learned from.

    They keep a model from scoring its training topics for a first stage or a stack.
    """

    @classmethod
    def of(cls, pairs: TextPairs.OfTopics) -> Learned:
        """Marks of queries, and of sources all of whose pairs were learned from."""
        queries = {mark("query", query) for query in pairs.queries}
        return cls(queries | {mark("source", source) for source in pairs.sources})

    def knows(self, topic: Topic, group: str) -> bool:
        """Return whether it learned from a topic's query, or its source in the field `group`."""
        return not self.isdisjoint(Learned.of(TextPairs.OfTopics.of([topic], group)))

    def save(self, folder: Path) -> None:
        np.save(folder / _FILE, np.array(sorted(self), dtype=np.uint64), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Learned:
        try:
            return cls(np.load(folder / _FILE, allow_pickle=False).tolist())
        except (OSError, ValueError) as error:
            raise InputError("cannot be read as marks of texts.", path=folder / _FILE) from error


def mark(kind: str, text: str) -> int:
    """The mark of a query or a source, whatever its white space."""
    content = f"{kind} {' '.join(text.split())}"
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "little")
