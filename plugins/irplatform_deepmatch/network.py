"""The network of DeepMatch: convolutions over the interaction matrix, and a feed-forward stage.

Zhao et al. (CIKM 2019, baselines) say no more than that it "convolves on object-object interaction
matrix and predicts if two objects are related". The rest is chosen, after the closest published
models (ARC-II, Hu et al., NIPS 2014; MatchPyramid, Pang et al., AAAI 2016): two stages of
convolution and pooling, the second pooling a dynamic one, which brings queries of any length to the
same number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

KERNEL = 3
STRIDE = 4
"""Neighbouring words of a document that the first pooling joins."""


@dataclass(frozen=True)
class Sizes:
    """What fixes the shapes of the network, and so which weights fit it.

    Attributes:
        first_maps: feature maps of the first convolution.
        second_maps: feature maps of the second.
        grid_query: rows that the second pooling makes of the query's words.
        grid_document: columns that it makes of the document's.
        hidden: width of the feed-forward stage.
    """

    first_maps: int
    second_maps: int
    grid_query: int
    grid_document: int
    hidden: int


class DeepMatchNetwork(nn.Module):
    """Two stages of convolution and pooling, and a feed-forward stage."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.dropout = dropout
        self.first = nn.Conv2d(1, sizes.first_maps, KERNEL, padding=KERNEL // 2)
        self.second = nn.Conv2d(sizes.first_maps, sizes.second_maps, KERNEL, padding=KERNEL // 2)
        grid = sizes.grid_query * sizes.grid_document
        self.hidden = nn.Linear(sizes.second_maps * grid, sizes.hidden)
        self.output = nn.Linear(sizes.hidden, 1)

    def forward(self, matrices: Tensor, present: Tensor) -> Tensor:
        """Score documents.

        Args:
            matrices: float32 [n, m, N], similarities of query and document words.
            present: bool [n, N], False behind a document's last word.

        Returns:
            float32 [n].
        """
        mask = present[:, None, None].to(matrices.dtype)
        maps = torch.relu(self.first(matrices[:, None])) * mask
        maps = functional.max_pool2d(maps, (1, STRIDE), ceil_mode=True)
        mask = functional.max_pool2d(mask, (1, STRIDE), ceil_mode=True)
        maps = torch.relu(self.second(maps)) * mask
        grid = self.sizes.grid_query, self.sizes.grid_document
        pooled = functional.adaptive_max_pool2d(maps, grid).flatten(1)
        pooled = functional.dropout(pooled, self.dropout, self.training)
        scores: Tensor = self.output(torch.relu(self.hidden(pooled)))[:, 0]
        return scores

    def penalty(self) -> Tensor:
        """The sum of the squares of all weights."""
        layers = (self.first, self.second, self.hidden, self.output)
        return torch.stack([(layer.weight**2).sum() for layer in layers]).sum()
