"""DRMM as public toolkits build it in torch: the peer of `drmm_rerank`.

The cosines of the query's with a document's word vectors are one product per document; a histogram
of each row is counted with `torch.histc`, exact matches apart; documents are scored in one batch
(the preprocessing of MatchZoo's and OpenNIR's DRMM, which make a histogram per document and term).
Nothing is shared with the plugin but the weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence


class DirectDrmm(nn.Module):
    """The model in one forward pass per topic.

    Args:
        vectors: float32 [stems, V], fixed; 0 for those without one.
        bins: of a histogram.
        hidden: width of the hidden layer.
    """

    def __init__(self, vectors: Tensor, bins: int, hidden: int) -> None:
        super().__init__()
        self.vectors = vectors
        self.bins = bins
        self.hidden = nn.Linear(bins, hidden)
        self.output = nn.Linear(hidden, 1)
        self.gate = nn.Parameter(torch.zeros(1))

    def histogram(self, query: Tensor, document: Tensor) -> Tensor:
        """Counts of one document: float32 [m, bins]."""
        query_vectors = functional.normalize(self.vectors[query])
        document_vectors = functional.normalize(self.vectors[document])
        cosines = query_vectors @ document_vectors.T
        exact = query[:, None] == document
        counted = query_vectors.any(dim=1)[:, None] & document_vectors.any(dim=1) & ~exact
        rows = [
            torch.histc(row[mask].clamp(-1, 1 - 1e-6), self.bins - 1, -1, 1)
            for row, mask in zip(cosines, counted, strict=True)
        ]
        return torch.cat([torch.stack(rows), exact.sum(dim=1, keepdim=True)], dim=1)

    def forward(self, query: Tensor, documents: Sequence[Tensor], idf: Tensor) -> Tensor:
        """Score documents, each a row of stems: float32 [n]."""
        counts = torch.stack([self.histogram(query, document) for document in documents])
        matched = self.output(torch.tanh(self.hidden(torch.log1p(counts)))).tanh()[:, :, 0]
        scores: Tensor = matched @ torch.softmax(self.gate * idf, dim=0)
        return scores
