"""The training task of pairs: each text must find its own among all texts of its batch.

The other texts of a batch are negatives (in-batch negatives: Karpukhin et al., EMNLP 2020, section
3.2), both for the texts that ask and for those that are to be found; but not where they are a pair,
too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from irplatform.text.arrays import Int64
    from irplatform_dual.network import DualNetwork
    from irplatform_dual.options import PairsOptions
    from irplatform_dual.pairs import Pairs


HELD_OUT = 50
"""Of so many sources, one validates."""
MOST_HELD_OUT = 5_000
_BLOCK = 512
"""Texts that are ranked at once for validation."""


class PairsTask:
    """What the training loop needs."""

    def __init__(self, network: DualNetwork, pairs: Pairs, options: PairsOptions) -> None:
        self.module = network
        self._pairs = pairs
        self._options = options
        self.advance: Callable[[int], None] = lambda _steps: None
        held_out = pairs.group % HELD_OUT == 0
        self._validation = np.flatnonzero(held_out)[:MOST_HELD_OUT]
        self._training = np.flatnonzero(~held_out)
        # Which texts that ask and which that are to be found are a pair, by their numbers.
        self._paired = csr_matrix((np.ones(len(pairs), np.bool_), (pairs.asking, pairs.found)))

    @property
    def steps(self) -> int:
        """Batches of an epoch."""
        return -(-len(self._training) // self._options.loop.batch_size)

    def batches(self, epoch: int) -> Iterator[Int64]:
        """The epoch's pairs."""
        random = np.random.default_rng([self._options.seed, 1_000_003, epoch])
        order = random.permutation(self._training)
        size = self._options.loop.batch_size
        for start in range(0, len(order), size):
            yield order[start : start + size]

    def loss(self, batch: Int64) -> Tensor:
        """Mean cross-entropy of each text's own among all of the batch, and the other way round.

        Two texts that are a pair wherever it may be are no negatives of each other.
        """
        self.advance(1)
        queries, texts = self._encode(batch)
        logits = self.module.logits(queries, texts)
        rows, columns = self._pairs.asking[batch], self._pairs.found[batch]
        paired = self._paired[rows][:, columns].toarray()
        np.fill_diagonal(paired, val=False)
        logits = logits.masked_fill(
            torch.from_numpy(paired).to(logits.device), torch.finfo(logits.dtype).min
        )
        targets = torch.arange(len(batch), device=logits.device)
        forth, back = (
            functional.cross_entropy(logits, targets),
            functional.cross_entropy(logits.T, targets),
        )
        return (forth + back) / 2

    def validate(self) -> float:
        """Mean reciprocal rank of the own text among all that are held out, 0 to 1."""
        queries, texts = self._encode(self._validation)
        ranks: list[Tensor] = []
        for start in range(0, len(queries), _BLOCK):
            scores = queries[start : start + _BLOCK] @ texts.T
            rows = torch.arange(len(scores), device=scores.device)
            own_scores = scores[rows, rows + start]
            ranks.append(1 + (scores > own_scores[:, None]).sum(dim=1))
        return float((1 / torch.cat(ranks).cpu().double()).mean()) if ranks else 0.0

    def _encode(self, numbers: Int64) -> tuple[Tensor, Tensor]:
        queries, texts = self._pairs.queries.take(numbers), self._pairs.texts.take(numbers)
        return self.module.queries(queries), self.module.titles(texts)
