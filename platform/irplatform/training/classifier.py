"""The relevance classifier of Mohan et al. (BioNLP 2017, section 4.5), which two models share."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class RelevanceClassifier(nn.Module):
    """Dropout, two ReLU layers as wide as the input, dropout, and one output.

    The output is the logit of the probability of relevance: its order is that of the probability,
    and it does not round to 1 where the model is sure.
    """

    def __init__(self, inputs: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = nn.Linear(inputs, inputs)
        self.second = nn.Linear(inputs, inputs)
        self.output = nn.Linear(inputs, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        """From [n, inputs] to logits [n]."""
        hidden = functional.dropout(inputs, self.dropout, self.training)
        hidden = torch.relu(self.first(hidden))
        hidden = torch.relu(self.second(hidden))
        hidden = functional.dropout(hidden, self.dropout, self.training)
        logits: Tensor = self.output(hidden)[:, 0]
        return logits

    def penalty(self) -> Tensor:
        """The sum of the squares of the weights."""
        layers = (self.first, self.second, self.output)
        return torch.stack([(layer.weight**2).sum() for layer in layers]).sum()
