"""What words bring to the network, and how they attend to one another (equations 1 to 6)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

SIGNALS = 4
"""Of a word: cosine to its counterparts (mean and largest), IDF, and IDF times the largest."""
IDF_SCALE = 0.1
"""Brings IDF into the range of cosines."""


@dataclass(frozen=True)
class Tables:
    """What is known of words whatever stands beside them; the last row is that of padding, zero.

    Attributes:
        projected: float32 [w + 1, f], F of each word.
        own: float32 [w + 1, g], what the word itself adds to G, bias included.
        other: float32 [w + 1, g], what it adds as somebody's counterpart.
        compared: float32 [w + 1, c], what is compared: the vector, or F of it.
        unit: float32 [w + 1, V], the vector at length 1.
        idf: float32 [w + 1], scaled IDF.
    """

    projected: Tensor
    own: Tensor
    other: Tensor
    compared: Tensor
    unit: Tensor
    idf: Tensor

    @property
    def padding(self) -> int:
        """The row that stands for no word."""
        return len(self.idf) - 1

    def rows(self, words: Tensor) -> Tables:
        """The tables of some words only, with padding again at the end."""
        words = functional.pad(words, (0, 1), value=self.padding)
        return Tables(
            projected=self.projected[words],
            own=self.own[words],
            other=self.other[words],
            compared=self.compared[words],
            unit=self.unit[words],
            idf=self.idf[words],
        )


def rows_of(table: Tensor, words: Tensor) -> Tensor:
    """Rows of a table that learns: [w, v] and int64 [n, x] → [n, x, v].

    Looked up as an embedding: the gradient of indexing adds up the many places of padding one after
    another on a GPU.
    """
    return functional.embedding(words, table)


def masked_softmax(weights: Tensor, present: Tensor) -> Tensor:
    """Softmax over the last dimension, over what is present; 0 where nothing is."""
    lowest = torch.finfo(weights.dtype).min
    return weights.masked_fill(~present, lowest).softmax(dim=-1) * present


def signals(idf: Tensor, attention: Tensor, cosine: Tensor, present: Tensor) -> Tensor:
    """What G reads beside vectors: float32 [n, x, SIGNALS].

    Args:
        idf: float32 [n, x], of the words.
        attention: float32 [n, x, y], see `DeepSenSeNetwork.compare_words`.
        cosine: float32 [n, x, y].
        present: bool [n, y].
    """
    if not cosine.shape[2]:
        nothing = torch.zeros_like(idf)
        return torch.stack([nothing, nothing, idf, nothing], dim=2)
    largest = cosine.masked_fill(~present[:, None, :], -1).amax(dim=2)
    largest = largest * present.any(dim=1, keepdim=True)
    return torch.stack([(attention * cosine).sum(dim=2), largest, idf, idf * largest], dim=2)
