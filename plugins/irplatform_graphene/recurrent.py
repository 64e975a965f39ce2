"""A bidirectional LSTM (Hochreiter & Schmidhuber, 1997) over texts of different lengths.

Both directions run from left to right over padded texts; the backward one reads each text's words
in reverse. That gives what torch's packed sequences give, without packing, whose gradient takes
ten times as long on a CPU.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class BiLSTM(nn.Module):
    """Layers of LSTMs, one per direction."""

    def __init__(self, inputs: int, hidden: int, layers: int) -> None:
        super().__init__()
        widths = [inputs] + [2 * hidden] * (layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(w, hidden, batch_first=True) for w in widths)
        self.backwards = nn.ModuleList(nn.LSTM(w, hidden, batch_first=True) for w in widths)

    def forward(self, words: Tensor, present: Tensor) -> Tensor:
        """Hidden states: [n, N, inputs] → [n, N, 2·hidden]; what stands at padding is undefined.

        Args:
            words: float32, padded on the right.
            present: bool [n, N].
        """
        mirror = _mirror(present)[:, :, None]
        for ahead, back in zip(self.forwards, self.backwards, strict=True):
            onwards, _ = ahead(words)
            reverse, _ = back(words.gather(1, mirror.expand_as(words)))
            words = torch.cat([onwards, reverse.gather(1, mirror.expand_as(reverse))], dim=2)
        return words


def _mirror(present: Tensor) -> Tensor:
    """For each place the place it has when the words are read in reverse; padding stays."""
    places = torch.arange(present.shape[1], device=present.device).expand_as(present)
    return torch.where(present, present.sum(dim=1, keepdim=True) - 1 - places, places)
