"""DeepSenSe's training task: groups of documents, scored as they are served, and their loss."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.training import Groups, GroupSampler, Validator, pool_starts
from irplatform.training.losses import pairwise_hinge
from irplatform.training.standardization import learn_standardization
from irplatform_deepsense.scoring import aggregate, score

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from irplatform.plugin import TrainingData
    from irplatform.text import ForwardIndex
    from irplatform_deepsense.encoding import Encoder
    from irplatform_deepsense.network import DeepSenSeNetwork
    from irplatform_deepsense.options import DeepSenSeOptions


class DeepSenSeTask:
    """What the training loop needs."""

    def __init__(
        self,
        network: DeepSenSeNetwork,
        encoder: Encoder,
        options: DeepSenSeOptions,
        index: ForwardIndex,
        data: TrainingData,
        seed: int,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self._encoder = encoder
        self._options = options
        self._sampler = GroupSampler(data.training, options.groups, index, seed)
        self._queries: list[npt.NDArray[np.int64]] = []
        rows, features = [], []
        for labelled, pool in zip(self._sampler.topics, self._sampler.pools, strict=True):
            self._queries.append(encoder.query(labelled.topic.query))
            rows.append(encoder.rows(pool.doc_ids))
            features.append(encoder.features(labelled.topic, pool.doc_ids))
            advance(1)
        self._rows = np.concatenate(rows)
        self._features = np.concatenate(features)
        self._starts = pool_starts(self._sampler.pools)
        validator = Validator(data.validation, options.validation_topics, options.validation_depth)
        self._measure = validator.reading(encoder.encode, advance)

    def standardize_features(self) -> None:
        """Take mean and deviation of the side features from the training pools."""
        features = torch.from_numpy(self._features)
        learn_standardization(features, self.module.feature_mean, self.module.feature_scale)

    def batches(self, epoch: int) -> list[Groups]:
        """The epoch's groups."""
        return self._sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: Groups) -> Tensor:
        """The loss that the options name, over the batch's groups."""
        scores = self._scores(batch)
        if self._options.loss == "softmax":
            return -scores.log_softmax(dim=1)[:, 0].mean()
        if self._options.loss == "bce":
            labels = torch.zeros_like(scores)
            labels[:, 0] = 1
            return functional.binary_cross_entropy_with_logits(scores, labels)
        lower = scores[:, 1:]
        return pairwise_hinge(scores[:, :1].expand_as(lower), lower, torch.ones_like(lower))

    def _scores(self, batch: Groups) -> Tensor:
        places = self._starts[batch.topic][:, None] + batch.documents
        encoded = [
            self._encoder.encode_rows(
                self._queries[topic], self._rows[documents], self._features[documents]
            )
            for topic, documents in zip(batch.topic, places, strict=True)
        ]
        vectors, idf = self._encoder.vectors, self._encoder.idf
        words = torch.cat([part for group in encoded for part in (group.query, group.words)])
        distinct, where = torch.unique(words, return_inverse=True)
        tables = self.module.tabulate(vectors[distinct], idf[distinct])
        parts = where.split([len(p) for group in encoded for p in (group.query, group.words)])
        aggregated = [
            aggregate(self.module, tables, replace(group, query=query, words=words))
            for group, query, words in zip(encoded, parts[::2], parts[1::2], strict=True)
        ]
        # All groups at once, since batch normalization looks at them together.
        features = torch.cat([group.features for group in encoded])
        scores = self.module.classify(torch.cat(aggregated), features)
        return scores.view(batch.documents.shape)

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics."""
        tables = self.module.tabulate(self._encoder.vectors, self._encoder.idf)
        return self._measure(lambda encoded: score(self.module, tables, encoded).cpu().numpy())
