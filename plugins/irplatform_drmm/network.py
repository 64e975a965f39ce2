"""The network of DRMM (Guo et al., CIKM 2016, section 4): 162 parameters with a gate over IDF."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn


class DrmmNetwork(nn.Module):
    """A feed-forward network per query term, and a gate that weighs the terms.

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
        """Score documents.

        Args:
            counts: float32 [n, m, bins], how many words fall into each bin.
            terms: float32 [n, m, 1] or [n, m, V], what the gate reads.
            present: bool [n, m], False for terms that pad shorter queries.

        Returns:
            float32 [n], between -1 and 1; 0 without any term.
        """
        logarithms = torch.log1p(counts)
        matched = torch.tanh(self.output(torch.tanh(self.hidden(logarithms))))[:, :, 0]
        # Not −∞, of which the softmax makes NaN where a query has no term at all.
        least = torch.finfo(counts.dtype).min
        weight = (terms * self.gate).sum(dim=2).masked_fill(~present, least)
        gates = torch.softmax(weight, dim=1)
        scores: Tensor = (gates * matched).masked_fill(~present, 0).sum(dim=1)
        return scores
