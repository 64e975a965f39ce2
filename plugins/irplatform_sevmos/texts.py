"""From queries and documents to their vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.text.distinct import distinct_words
from irplatform.text.tokenizer import tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.plugin import Topic
    from irplatform.text import ForwardIndex, WordVectors
    from irplatform.training.full_convolution import FullConvolutions
    from irplatform_sevmos.options import SevMosOptions

    Ids = npt.NDArray[np.int32]


class Texts:
    """Reads texts as word ids, and makes vectors of them with a convolution stage.

    Every word without a vector of its own is UNK, as in the papers. A word of a query that the
    collection lacks may have one that was trained elsewhere.
    """

    def __init__(
        self, index: ForwardIndex, vectors: WordVectors, options: SevMosOptions, device: str
    ) -> None:
        self._index = index
        self._options = options
        self._device = device
        self._words = len(index.vocabulary)
        # Behind the words of the collection come the rows themselves, for words that it lacks.
        vector_rows = np.arange(len(vectors.matrix))
        self._rows = np.concatenate([vectors.align(index.vocabulary), vector_rows]).astype(np.int64)
        self._word_vectors = vectors
        self._vectors = torch.from_numpy(np.array(vectors.matrix)).to(device)

    def documents(self, rows: npt.NDArray[np.int64]) -> Ids:
        """Word ids of documents, [n, N], padded with -1."""
        return self._index.matrix(rows, self._options.document_words)

    def queries(self, topics: Sequence[Topic]) -> Ids:
        """Word ids of queries, [n, length of the longest, at least 1], padded with -1."""
        word_ids = [self._ids(tokenize(t.query)[: self._options.query_words]) for t in topics]
        padded = np.full((len(word_ids), max([1, *map(len, word_ids)])), -1, dtype=np.int32)
        for place, ids in enumerate(word_ids):
            padded[place, : len(ids)] = ids
        return padded

    def _ids(self, words: Sequence[str]) -> Ids:
        ids = self._index.vocabulary.ids(words)
        return np.where(ids < 0, self._words + self._word_vectors.rows(words), ids)

    def vectors(self, stage: FullConvolutions, texts: Ids) -> Tensor:
        """What a stage makes of texts: float32 [n, filters]."""
        distinct, places = distinct_words(texts, len(self._rows))
        rows = torch.from_numpy(self._rows[distinct]).to(self._device)
        form = stage.plain if self._options.form == "plain" else stage
        encoded: Tensor = form(
            functional.embedding(rows, self._vectors), torch.from_numpy(places).to(self._device)
        )
        return encoded
