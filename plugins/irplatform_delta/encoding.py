"""From topics and document ids to the rows of word vectors that the network reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from irplatform.text import ForwardIndex, WordVectors, lexical_features
from irplatform_delta.network import Words, relate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Topic
    from irplatform_delta.options import DeltaOptions


@dataclass(frozen=True)
class Encoded:
    """A topic's candidates as the network takes them.

    Attributes:
        words: the u distinct words of the documents, in relation to the query.
        documents: int64 [n, N], indexes into `words`; u marks padding.
        lexical: float32 [n, L].
    """

    words: Words
    documents: Tensor
    lexical: Tensor


class Encoder:
    """Turns topics and candidates into tensors, on one device.

    Args:
        index: the collection's forward index.
        vectors: word vectors.
        options: the model's options.
        device: where the tensors go.

    Attributes:
        vectors: float32 [rows, V].
        norms: float32 [rows], their lengths.
    """

    def __init__(
        self, index: ForwardIndex, vectors: WordVectors, options: DeltaOptions, device: str
    ) -> None:
        self._index = index
        self._options = options
        self.device = device
        self._unknown = vectors.unk
        # The last entry serves padding (-1), which is never looked at.
        self._rows = np.append(vectors.align(index.vocabulary), vectors.unk).astype(np.int64)
        self.vectors = torch.from_numpy(np.array(vectors.matrix)).to(device)
        self.norms = self.vectors.norm(dim=1)

    def encode(self, topic: Topic, doc_ids: Sequence[str]) -> Encoded:
        """Encode the documents of a topic."""
        query = self._index.query_ids(topic.query)
        rows = self._index.rows(doc_ids)
        tokens = self._index.matrix(rows, self._options.document_words)
        distinct, positions = _distinct(tokens, len(self._rows) - 1)
        words = relate(
            self.vectors,
            self.norms,
            self._to_device(self._rows[distinct]),
            self._to_device(self._rows[query[: self._options.query_words]]),
            self._unknown,
        )
        lexical = lexical_features(self._index, query, rows, self._options.lexical)
        return Encoded(words, self._to_device(positions), self._to_device(lexical))

    def _to_device(self, array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)


def _distinct(
    tokens: npt.NDArray[np.int32], vocabulary: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Distinct token ids, and each token's position among them (their number for padding).

    Marking the vocabulary beats sorting the tokens while it is not much larger than they are.
    """
    if vocabulary > 64 * tokens.size:
        flat, inverse = np.unique(tokens, return_inverse=True)
        padded = int(flat[:1].tolist() == [-1])
        positions = inverse.reshape(tokens.shape) - padded
        return flat[padded:].astype(np.int64), np.where(
            positions < 0, len(flat) - padded, positions
        )
    seen = np.zeros(vocabulary + 1, dtype=np.bool_)
    seen[tokens] = True  # padding, -1, marks the last entry
    seen[vocabulary] = False
    distinct = np.flatnonzero(seen)
    place = np.full(vocabulary + 1, len(distinct), dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[tokens]
