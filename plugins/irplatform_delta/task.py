"""Delta's training task: pools encoded once, batches of pairs, hinge loss with two L2 costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from irplatform.training import Pairs, PairSampler, Validator, pool_starts
from irplatform.training.losses import learn_standardization, pairwise_hinge
from irplatform_delta.closest_words import ClosestPools

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.features import SideFeatures
    from irplatform.plugin import TrainingData
    from irplatform_delta.closest_words import Encoded, Encoder
    from irplatform_delta.network import DeltaNetwork
    from irplatform_delta.options import DeltaOptions


class DeltaTask:
    """What the training loop needs."""

    def __init__(
        self,
        network: DeltaNetwork,
        encoder: Encoder,
        options: DeltaOptions,
        data: TrainingData,
        side: SideFeatures,
        seed: int,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self._encoder = encoder
        self._options = options
        self._sampler = PairSampler(data.training, options.pairs, seed)
        self._starts = pool_starts(self._sampler.pools)
        self._pools = ClosestPools()
        features = side.fit(data, self._sampler.pools)
        for pool, values in zip(self._sampler.pools, features, strict=True):
            encoded = encoder.encode(pool.labelled.topic, pool.doc_ids)
            self._pools.add(encoded.with_features(values))
            advance(1)
        self._pools.finish()
        self._measure = Validator(data.validation).reading(
            lambda topic, doc_ids: encoder.encode(topic, doc_ids).with_features(
                side.matrix(topic, doc_ids)
            ),
            advance,
        )

    def standardize_lexical(self) -> None:
        """Take mean and deviation of the lexical features from the training pools.

        Those that come behind them are standardized already.
        """
        count = len(self._options.lexical)
        lexical = self._pools.lexical[:, :count]
        mean, scale = self.module.lexical_mean, self.module.lexical_scale
        learn_standardization(lexical, mean[:count], scale[:count])

    def batches(self, epoch: int) -> list[Pairs]:
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

        def score(encoded: Encoded) -> Sequence[float]:
            scores: list[float] = self.module.tabulated(
                table, encoded.words, encoded.documents, encoded.lexical
            ).tolist()
            return scores

        return self._measure(score)
