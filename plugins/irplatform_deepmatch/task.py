"""DeepMatch's training task: pairs of documents, pairwise hinge loss, an L2 cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from irplatform.training import Pairs, PairSampler, Validator, pool_starts
from irplatform.training.losses import pairwise_hinge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.plugin import TrainingData
    from irplatform_deepmatch.interactions import Ids, Interactions
    from irplatform_deepmatch.network import DeepMatchNetwork
    from irplatform_deepmatch.options import DeepMatchOptions


class DeepMatchTask:
    """What the training loop needs."""

    def __init__(
        self,
        network: DeepMatchNetwork,
        interactions: Interactions,
        options: DeepMatchOptions,
        data: TrainingData,
        seed: int,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self._interactions = interactions
        self._options = options
        self._sampler = PairSampler(data.training, options.pairs, seed)
        self._starts = pool_starts(self._sampler.pools)
        self._queries, documents = [], []
        for pool in self._sampler.pools:
            self._queries.append(interactions.query(pool.labelled.topic.query))
            documents.append(interactions.documents(pool.doc_ids))
            advance(1)
        self._lengths = np.array([len(query) for query in self._queries])
        self._documents = np.concatenate(documents)
        self._measure = Validator(data.validation).reading(
            lambda topic, doc_ids: (
                interactions.query(topic.query),
                interactions.documents(doc_ids),
            ),
            advance,
        )

    def batches(self, epoch: int) -> list[Pairs]:
        """The epoch's pairs."""
        return self._sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: Pairs) -> Tensor:
        """Weighted hinge loss and the L2 cost."""
        rows = batch.rows(self._starts)
        topics = np.concatenate([batch.topic, batch.topic])
        parts, order = [], []
        for length in np.unique(self._lengths[topics]).tolist():
            which = np.flatnonzero(self._lengths[topics] == length)
            queries = np.stack([self._queries[topic] for topic in topics[which].tolist()])
            inputs = self._interactions.of_pairs(queries, self._documents[rows[which]])
            parts.append(self.module(*inputs))
            order.append(which)
        place = torch.from_numpy(np.argsort(np.concatenate(order))).to(self._interactions.device)
        scores = torch.cat(parts)[place]
        higher, lower = scores[: len(batch)], scores[len(batch) :]
        weight = torch.from_numpy(batch.weight).to(scores.device)
        return pairwise_hinge(higher, lower, weight) + self._options.l2 * self.module.penalty()

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics."""

        def score(words: tuple[Ids, Ids]) -> Sequence[float]:
            scores: list[float] = self.module(*self._interactions.of_topic(*words)).tolist()
            return scores

        return self._measure(score)
