"""Delta as a reader of the paper would write it in torch: the peer of `delta_rerank`.

Every document word's vector is looked up, its distances to all query words are computed, the
closest one is gathered, and the Delta matrix [documents, words, V + 3] goes through `nn.Conv1d`
(Mohan et al., WWW 2018, sections 3.2 and 3.3). Nothing is shared with the plugin but the weights.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class DirectDelta(nn.Module):
    """The model in one forward pass.

    Args:
        vectors: float32 [rows, V], fixed.
        unknown: the row of words without a vector; they have no closest word, and are closest to
            none.
        padding: the row that fills short documents; its vector is not looked at.
        filters: of each convolution.
        convolutions: how many.
        hidden: width of the hidden feed-forward layer.
        lexical: how many lexical features there are.
        slope: of the Leaky ReLU below zero.
    """

    def __init__(
        self,
        vectors: Tensor,
        unknown: int,
        padding: int,
        *,
        filters: int,
        convolutions: int,
        hidden: int,
        lexical: int,
        slope: float,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors)
        self.unknown = unknown
        self.padding = padding
        inputs = [vectors.shape[1] + 3] + [filters] * (convolutions - 1)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(size, filters, kernel_size=3, padding="same") for size in inputs
        )
        self.activation = nn.LeakyReLU(slope)
        self.feed_forward = nn.Sequential(
            nn.Linear(filters + lexical, hidden), self.activation, nn.Linear(hidden, 1)
        )

    def forward(self, documents: Tensor, query: Tensor, lexical: Tensor) -> Tensor:
        """Score documents.

        Args:
            documents: int64 [n, N], rows of the vectors.
            query: int64 [M], rows of the vectors.
            lexical: float32 [n, L], standardized.

        Returns:
            float32 [n].
        """
        present = documents != self.padding
        matrix = self.delta_matrix(documents, query) * present[:, :, None]
        maps = matrix.transpose(1, 2)
        for convolution in self.convolutions:
            maps = self.activation(convolution(maps)) * present[:, None, :]
        pooled = maps.masked_fill(~present[:, None, :], -torch.inf).amax(dim=2)
        pooled = torch.where(present.any(dim=1, keepdim=True), pooled, 0)
        scores: Tensor = self.feed_forward(torch.cat([pooled, lexical], dim=1)).squeeze(1)
        return scores

    def delta_matrix(self, documents: Tensor, query: Tensor) -> Tensor:
        """δ of every document word: [n, N, V + 3], zero for words without a vector."""
        words = self.embedding(documents)
        query = query[query != self.unknown]
        if not len(query):
            return words.new_zeros(*documents.shape, words.shape[2] + 3)
        query_words = self.embedding(query)
        # The mode that multiplies matrices is no faster here, and a word's distance to itself
        # comes out as large as 1e-2 there.
        distances = torch.cdist(
            words, query_words, compute_mode="donot_use_mm_for_euclid_dist"
        )  # [n, N, M]
        distance, positions = distances.min(dim=2)
        closest = query_words[positions]
        lengths = words.norm(dim=2) + closest.norm(dim=2)
        delta = torch.cat(
            [
                words - closest,
                functional.cosine_similarity(words, closest, dim=2)[:, :, None],
                distance[:, :, None],
                (1 - distance / lengths)[:, :, None],
            ],
            dim=2,
        )
        return delta * (documents != self.unknown)[:, :, None]
