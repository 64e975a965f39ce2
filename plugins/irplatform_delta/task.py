"""Delta's training task: pools encoded once, batches of pairs, hinge loss with two L2 costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from irplatform.training import Pairs, PairSampler, Validator, pool_starts
from irplatform.training.closest_pools import ClosestPools
from irplatform.training.losses import pairwise_hinge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.plugin import LabelledTopic
    from irplatform.text.closest_words import Encoded, Encoder
    from irplatform_delta.network import DeltaNetwork
    from irplatform_delta.options import DeltaOptions


class DeltaTask:
    """What the training loop needs.

    Args:
        network: to train.
        encoder: of topics and documents.
        options: the model's options.
        training: topics to learn from.
        validation: topics to stop early on.
        seed: of sampling.
        advance: told of each topic encoded.
    """

    def __init__(
        self,
        network: DeltaNetwork,
        encoder: Encoder,
        options: DeltaOptions,
        training: Sequence[LabelledTopic],
        validation: Sequence[LabelledTopic],
        seed: int,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self._encoder = encoder
        self._options = options
        self._sampler = PairSampler(training, options.pairs, seed)
        self._validator = Validator(validation)
        self._validation: list[Encoded] = []
        self._starts = pool_starts(self._sampler.pools)
        self._pools = ClosestPools()
        for labelled, pool in zip(self._sampler.topics, self._sampler.pools, strict=True):
            self._pools.add(encoder.encode(labelled.topic, pool.doc_ids))
            advance(1)
        self._pools.finish()
        for labelled in self._validator.topics:
            self._validation.append(encoder.encode(labelled.topic, labelled.candidates))
            advance(1)

    def standardize_lexical(self) -> None:
        """Take mean and deviation of the lexical features from the training pools."""
        if self.module.sizes.lexical and len(self._pools.lexical) > 1:
            self.module.lexical_mean.copy_(self._pools.lexical.mean(dim=0))
            self.module.lexical_scale.copy_(self._pools.lexical.std(dim=0).clamp(min=1e-6))

    def batches(self, epoch: int) -> Iterator[Pairs]:
        """The epoch's pairs."""
        return self._sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: Pairs) -> Tensor:
        """Weighted hinge loss and the two L2 costs."""
        rows = torch.from_numpy(batch.rows(self._starts)).to(self._encoder.device)
        documents, lexical = self._pools.documents[rows], self._pools.lexical[rows]
        form = self.module.plain if self._options.form == "plain" else self.module.trained
        scores = form(self._encoder.vectors, self._pools.words, documents.long(), lexical)
        higher, lower = scores[: len(batch)], scores[len(batch) :]
        weight = torch.from_numpy(batch.weight).to(scores.device)
        penalty = self.module.penalty(self._options.l2_convolution, self._options.l2_feed_forward)
        return pairwise_hinge(higher, lower, weight) + penalty

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics."""
        table = self.module.tabulate(self._encoder.vectors)
        return self._validator(lambda number: score(self.module, table, self._validation[number]))


def score(network: DeltaNetwork, table: Tensor, encoded: Encoded) -> Sequence[float]:
    """Scores of a topic's documents."""
    scores = network.tabulated(table, encoded.words, encoded.documents, encoded.lexical)
    values: list[float] = scores.tolist()
    return values
