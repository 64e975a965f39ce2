"""Interaction matrices: how similar each word of a query is to each word of a document.

The similarity is the cosine of their vectors, and 1 for the same word. A word without a vector is
similar to itself only; words of a query that the collection lacks are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.text.forward_index import distinct_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.text import ForwardIndex, WordVectors
    from irplatform_deepmatch.options import DeepMatchOptions

    Ids = npt.NDArray[np.int32]

PADDING = -1
NOTHING = -2
"""The word of a query without any: similar to nothing."""


class Interactions:
    """Makes interaction matrices, on one device."""

    def __init__(
        self, index: ForwardIndex, vectors: WordVectors, options: DeepMatchOptions, device: str
    ) -> None:
        self._index = index
        self._options = options
        self.device = device
        unit = torch.from_numpy(np.array(vectors.matrix)).to(device)
        unit[vectors.unk] = 0
        self._unit = functional.normalize(unit)
        aligned = vectors.align(index.vocabulary).astype(np.int64)
        # The last two entries serve PADDING and NOTHING, negative ids.
        self._rows = torch.from_numpy(np.append(aligned, [vectors.unk] * 2)).to(device)

    def query(self, text: str) -> Ids:
        """The words of a query: int32 [m], m at least 1."""
        ids = self._index.query_ids(text)
        known = ids[ids >= 0][: self._options.query_words]
        return known if len(known) else np.array([NOTHING], dtype=np.int32)

    def documents(self, doc_ids: Sequence[str]) -> Ids:
        """The first words of documents: int32 [n, N]."""
        return self._index.matrix(self._index.rows(doc_ids), self._options.document_words)

    def of_topic(self, query: Ids, documents: Ids) -> tuple[Tensor, Tensor]:
        """The matrices of a topic's documents, from the similarities of their distinct words.

        Returns:
            float32 [n, m, N] similarities, and bool [n, N], which places hold a word.
        """
        distinct, places = distinct_words(documents, len(self._rows) - 2)
        words, query_words = self._tensor(distinct), self._tensor(query).long()
        table = self._vectors(query_words) @ self._vectors(words).T
        table = table.masked_fill(query_words[:, None] == words, 1)
        table = functional.pad(table, (0, 1))  # the last column is that of padding
        matrices = table[:, self._tensor(places)].transpose(0, 1)
        return matrices, self._tensor(documents) != PADDING

    def of_pairs(self, queries: Ids, documents: Ids) -> tuple[Tensor, Tensor]:
        """The matrices of documents that each have a query of their own, all of m words.

        Args:
            queries: int32 [n, m].
            documents: int32 [n, N].

        Returns:
            As `of_topic`.
        """
        query_words, words = self._tensor(queries).long(), self._tensor(documents).long()
        matrices = self._vectors(query_words) @ self._vectors(words).transpose(1, 2)
        matrices = matrices.masked_fill(query_words[:, :, None] == words[:, None, :], 1)
        return matrices, words != PADDING

    def _vectors(self, words: Tensor) -> Tensor:
        return functional.embedding(self._rows[words], self._unit)

    def _tensor(self, array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)
