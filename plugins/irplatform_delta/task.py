"""Delta's training task: pools encoded once, batches of pairs, hinge loss with two L2 costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from irplatform.errors import InputError
from irplatform.training import Pairs, PairSampler, Validator
from irplatform.training.losses import pairwise_hinge
from irplatform_delta.network import DeltaNetwork, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.plugin import LabelledTopic
    from irplatform_delta.encoding import Encoded, Encoder
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
        self._pools = _Pools(encoder.device)
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
        rows = self._pools.rows(batch)
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


class _Pools:
    """The encoded pools of all training topics, one after the other.

    Attributes:
        words: all topics' words in relation to their query.
        documents: int32 [documents, N], indexes into `words`.
        lexical: float32 [documents, L].
    """

    words: Words
    documents: Tensor
    lexical: Tensor

    def __init__(self, device: str) -> None:
        self._device = device
        self._encoded: list[Encoded] = []

    def add(self, encoded: Encoded) -> None:
        """Append a topic's documents; 32 bits hold any index and halve the memory."""
        words = encoded.words
        words = replace(words, word=words.word.int(), closest=words.closest.int())
        self._encoded.append(replace(encoded, words=words, documents=encoded.documents.int()))

    def finish(self) -> None:
        """Join the topics."""
        parts = [encoded.words for encoded in self._encoded]
        if not parts:
            raise InputError("no training topic has two candidates of different relevance.")
        sizes = torch.tensor([len(part.word) for part in parts])
        total = int(sizes.sum())
        documents = []
        for encoded, start, size in zip(
            self._encoded, (sizes.cumsum(0) - sizes).tolist(), sizes.tolist(), strict=True
        ):
            # A topic's padding index is its number of words; after joining, the number of all.
            padding = encoded.documents == size
            documents.append((encoded.documents + start).masked_fill_(padding, total))
        self.words = Words(
            torch.cat([part.word for part in parts]),
            torch.cat([part.closest for part in parts]),
            torch.cat([part.features for part in parts]),
            torch.cat([part.active for part in parts]),
        )
        counts = torch.tensor([len(encoded.documents) for encoded in self._encoded])
        self._starts = (counts.cumsum(0) - counts).numpy()
        self.documents = torch.cat(documents)
        self.lexical = torch.cat([encoded.lexical for encoded in self._encoded])
        self._encoded.clear()

    def rows(self, batch: Pairs) -> Tensor:
        """Rows of the pairs' documents: the higher ones, then the lower ones."""
        start = self._starts[batch.topic]
        rows = np.concatenate([start + batch.higher, start + batch.lower])
        return torch.from_numpy(rows).to(self._device)


def score(network: DeltaNetwork, table: Tensor, encoded: Encoded) -> Sequence[float]:
    """Scores of a topic's documents."""
    scores = network.tabulated(table, encoded.words, encoded.documents, encoded.lexical)
    values: list[float] = scores.tolist()
    return values
