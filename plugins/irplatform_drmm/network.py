"""DRMM, network and training (Guo et al., CIKM 2016, section 4): 162 parameters with IDF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor, nn

from irplatform.training import Pairs, PairSampler, Validator, pool_starts
from irplatform.training.losses import pairwise_hinge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from irplatform.plugin import TrainingData
    from irplatform.text.arrays import Float32
    from irplatform_drmm.matching import Matcher, Matches
    from irplatform_drmm.options import DrmmOptions


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


class DrmmTask:
    """Training on pairs: histograms counted once, Delta's loss (Mohan et al., WWW 2018, 4.3.4)."""

    def __init__(
        self,
        network: DrmmNetwork,
        matcher: Matcher,
        score: Callable[[Matches], Sequence[float]],
        gate_inputs: Callable[[Matches], Float32],
        options: DrmmOptions,
        data: TrainingData,
        seed: int,
        device: str,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self._score = score
        self._options = options
        self._device = device
        self._sampler = PairSampler(data.training, options.pairs, seed)
        self._starts = pool_starts(self._sampler.pools)
        histograms, sizes = [], []
        self._gate_inputs: list[Float32] = []
        for pool in self._sampler.pools:
            matches = matcher.match(pool.labelled.topic.query, pool.doc_ids)
            histograms.append(matches.counts.reshape(-1, options.bins))
            sizes += [len(matches.terms)] * len(pool.doc_ids)
            self._gate_inputs.append(gate_inputs(matches))
            advance(1)
        # Of all documents' terms, one by one; the last row is for where none has any.
        nothing = np.zeros((1, options.bins), dtype=histograms[0].dtype)
        self._histograms = np.concatenate([*histograms, nothing])
        self._sizes = np.array(sizes)
        self._first = self._sizes.cumsum() - self._sizes
        self._measure = Validator(data.validation).reading(
            lambda topic, doc_ids: matcher.match(topic.query, doc_ids), advance
        )

    def batches(self, epoch: int) -> list[Pairs]:
        """The epoch's pairs."""
        return self._sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: Pairs) -> Tensor:
        """Weighted hinge loss."""
        rows = batch.rows(self._starts)
        width = max(1, int(self._sizes[rows].max()))
        present = np.arange(width) < self._sizes[rows][:, None]
        which = np.where(present, self._first[rows][:, None] + np.arange(width), -1)
        counts = self._histograms[which].astype(np.float32)
        terms = self._padded(np.concatenate([batch.topic, batch.topic]), width)
        scores = self.module(*(self._tensor(array) for array in (counts, terms, present)))
        higher, lower = scores[: len(batch)], scores[len(batch) :]
        return pairwise_hinge(higher, lower, self._tensor(batch.weight))

    def _padded(self, topics: npt.NDArray[np.int64], width: int) -> Float32:
        padded = np.zeros((len(topics), width, len(self.module.gate)), dtype=np.float32)
        for place, topic in enumerate(topics.tolist()):
            inputs = self._gate_inputs[topic]
            padded[place, : len(inputs)] = inputs
        return padded

    def _tensor(self, array: npt.NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics."""
        return self._measure(self._score)
