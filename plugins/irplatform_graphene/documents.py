"""Documents as GRAPHENE reads them: word vectors for the encoder, concepts for the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from irplatform.text.forward_index import PADDING
from irplatform_graphene.network import Words
from irplatform_graphene.topics import GAP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.text import ForwardIndex, WordVectors
    from irplatform.text.arrays import Int64
    from irplatform.text.forward_index import Field
    from irplatform_graphene.topics import EncodedTopic


class Reader:
    """Turns documents and topics into tensors, on one device."""

    def __init__(self, index: ForwardIndex, vectors: WordVectors, length: int, device: str) -> None:
        self.index = index
        self.device = device
        self._length = length
        # The last entry serves padding (-1), which is never looked at.
        self._rows = np.append(vectors.align(index.vocabulary), vectors.unk).astype(np.int64)
        self.vectors = torch.from_numpy(np.array(vectors.matrix)).to(device)
        self.unknown = vectors.unk
        self._idf = np.append(index.idf("text"), 0).astype(np.float32)
        # Of rows of the vectors: a word that the collection lacks is as rare as any.
        rarest = index.idf("text").max(initial=1)
        self._idf_of_rows = np.full(len(vectors.matrix), rarest, np.float32)
        self._idf_of_rows[self._rows[:-1]] = self._idf[:-1]

    def texts(self, rows: Int64) -> Words:
        """The first words of documents, title first, weighted by IDF."""
        return self._padded(self.index.matrix(rows, self._length).astype(np.int64))

    def abstracts(self, rows: Int64) -> Words:
        """The first words of documents' abstracts, likewise."""
        return self._padded(self._field(rows, "abstract", self._length))

    def titles(self, rows: Int64, length: int) -> Int64:
        """The first words of titles as ids of the index, padded with -1: int64 [n, length]."""
        return self._field(rows, "title", length)

    def word_vectors(self, words: Int64) -> Tensor:
        """The vectors of words of the index: float32 [words, V]."""
        return self.vectors[torch.from_numpy(self._rows[words]).to(self.device)]

    def topics(self, topics: Sequence[EncodedTopic]) -> tuple[Words, Tensor]:
        """What `GrapheneNetwork.query` reads of topics: words of distinct fields, and fields."""
        words = np.concatenate([topic.words for topic in topics])
        weights = np.concatenate([topic.weights for topic in topics])
        # Fields that were cut may have the same words and other weights.
        both = np.concatenate([words, weights.view(np.int32)], axis=1)
        _, first, number = np.unique(both, axis=0, return_index=True, return_inverse=True)
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

    def _words(self, rows: Int64, weights: npt.NDArray[np.float32]) -> Words:
        distinct, places = np.unique(rows, return_inverse=True)
        return Words(
            self.vectors[torch.from_numpy(distinct).to(self.device)],
            torch.from_numpy(places.reshape(rows.shape)).to(self.device),
            torch.from_numpy(weights).to(self.device),
        )

    def _field(self, rows: Int64, field: Field, length: int) -> Int64:
        tokens, offsets = self.index.tokens(rows, field)
        padded = np.full((len(rows), length), PADDING, np.int64)
        lengths = np.minimum(np.diff(offsets), length)
        places = np.arange(length) < lengths[:, None]
        padded[places] = tokens[(offsets[:-1, None] + np.arange(length))[places]]
        return padded
