"""The training task of Delta (2017): samples of either class, cross-entropy, two L2 costs.

The paper keeps the epoch of the best classification accuracy (section 4.7); here every model is
stopped on the ranking of the validation topics, as it will be judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from irplatform.training import Points, PointSampler, Validator, pool_starts
from irplatform.training.closest_pools import ClosestPools
from irplatform.training.losses import weighted_cross_entropy

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.plugin import TrainingData
    from irplatform.text.closest_words import Encoded, Encoder
    from irplatform_delta2017.network import Delta2017Network
    from irplatform_delta2017.options import Delta2017Options


class Delta2017Task:
    """What the training loop needs."""

    def __init__(
        self,
        network: Delta2017Network,
        encoder: Encoder,
        options: Delta2017Options,
        data: TrainingData,
        seed: int,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self._encoder = encoder
        self._options = options
        self._sampler = PointSampler(
            data.training, options.points, seed, "log" if options.weighted else "none"
        )
        self._starts = pool_starts(self._sampler.pools)
        self._pools = ClosestPools()
        for pool in self._sampler.pools:
            self._pools.add(encoder.encode(pool.labelled.topic, pool.doc_ids))
            advance(1)
        self._pools.finish()
        self._measure = Validator(data.validation).reading(encoder.encode, advance)

    def batches(self, epoch: int) -> list[Points]:
        """The epoch's samples."""
        return self._sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: Points) -> Tensor:
        """Weighted cross-entropy and the two L2 costs."""
        rows = torch.from_numpy(batch.rows(self._starts)).to(self._encoder.device)
        documents, lexical = self._pools.documents[rows], self._pools.lexical[rows]
        form = self.module.plain if self._options.form == "plain" else self.module
        logits = form(self._encoder.vectors, self._pools.words, documents.long(), lexical)
        label = torch.from_numpy(batch.label).to(logits.device)
        weight = torch.from_numpy(batch.weight).to(logits.device)
        penalty = self.module.penalty(self._options.l2_convolution, self._options.l2_classifier)
        return weighted_cross_entropy(logits, label, weight) + penalty

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics."""

        def score(encoded: Encoded) -> list[float]:
            vectors, words = self._encoder.vectors, encoded.words
            logits = self.module(vectors, words, encoded.documents, encoded.lexical)
            values: list[float] = logits.tolist()
            return values

        return self._measure(score)
