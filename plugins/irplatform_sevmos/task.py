"""The training task of SevMos: samples of either class, cross-entropy, two L2 costs.

As for every model here, the ranking of the validation topics says when to stop; the paper looks at
the classification accuracy (Mohan et al., BioNLP 2017, section 4.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from irplatform.text import lexical_features
from irplatform.training import Points, PointSampler, Validator, pool_starts
from irplatform.training.losses import weighted_cross_entropy
from irplatform.training.standardization import learn_standardization

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.plugin import Topic, TrainingData
    from irplatform.text import ForwardIndex
    from irplatform_sevmos.network import SevMosNetwork
    from irplatform_sevmos.options import SevMosOptions
    from irplatform_sevmos.texts import Texts

_BLOCK = 512
"""Documents whose vectors are computed at once for validation."""


class SevMosTask:
    """What the training loop needs."""

    def __init__(
        self,
        network: SevMosNetwork,
        texts: Texts,
        index: ForwardIndex,
        options: SevMosOptions,
        data: TrainingData,
        seed: int,
        device: str,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self._texts = texts
        self._index = index
        self._options = options
        self._device = device
        weighting = options.weighting if options.weighted else "none"
        self._sampler = PointSampler(data.training, options.points, seed, weighting)
        self._starts = pool_starts(self._sampler.pools)
        self._queries = texts.queries([labelled.topic for labelled in self._sampler.topics])
        rows, lexical = [], []
        for pool in self._sampler.pools:
            rows.append(index.rows(pool.doc_ids))
            lexical.append(self._lexical(pool.labelled.topic, rows[-1]))
            advance(1)
        self._documents = texts.documents(np.concatenate(rows))
        self._features = torch.cat(lexical)
        self._validator = Validator(data.validation)
        self._candidates = self._validator.candidate_rows(index)
        self._validation_features = []
        for labelled in self._validator.topics:
            features = self._lexical(labelled.topic, index.rows(labelled.candidates))
            self._validation_features.append(features)
            advance(1)
        topics = [labelled.topic for labelled in self._validator.topics]
        self._validation_queries = texts.queries(topics)

    def _lexical(self, topic: Topic, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Tensor:
        query = self._index.query_ids(topic.query)
        features = lexical_features(self._index, query, rows, self._options.lexical)
        return torch.from_numpy(features).to(self._device)

    def standardize_lexical(self) -> None:
        """Take mean and deviation of the lexical features from the training pools."""
        learn_standardization(self._features, self.module.lexical_mean, self.module.lexical_scale)

    def batches(self, epoch: int) -> list[Points]:
        """The epoch's samples."""
        return self._sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: Points) -> Tensor:
        """Weighted cross-entropy and the two L2 costs."""
        rows = batch.rows(self._starts)
        topics, place = np.unique(batch.topic, return_inverse=True)
        queries = self._texts.vectors(self.module.query, self._queries[topics])
        documents = self._texts.vectors(self.module.document, self._documents[rows])
        logits = self.module.match(
            queries[torch.from_numpy(place).to(self._device)],
            documents,
            self._features[torch.from_numpy(rows).to(self._device)],
        )
        label = torch.from_numpy(batch.label).to(self._device)
        weight = torch.from_numpy(batch.weight).to(self._device)
        penalty = self.module.penalty(self._options.l2_convolution, self._options.l2_classifier)
        return weighted_cross_entropy(logits, label, weight) + penalty

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics; each of their documents is read once."""
        rows = self._candidates.distinct
        if not len(rows):
            return 0.0
        blocks = [
            self._texts.vectors(self.module.document, self._texts.documents(rows[i : i + _BLOCK]))
            for i in range(0, len(rows), _BLOCK)
        ]
        documents = torch.cat(blocks)
        queries = self._texts.vectors(self.module.query, self._validation_queries)

        def score(number: int) -> Sequence[float]:
            places = torch.from_numpy(self._candidates.of_topic[number]).to(self._device)
            query = queries[number].expand(len(places), -1)
            lexical = self._validation_features[number]
            scores: list[float] = self.module.match(query, documents[places], lexical).tolist()
            return scores

        return self._validator(score)
