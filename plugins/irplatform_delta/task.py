"""Delta's training task: pools encoded once, batches of pairs, hinge loss with two L2 costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from irplatform.plugin import LabelledTopic
from irplatform.training import Pairs, PairSampler, Validator
from irplatform.training.losses import pairwise_hinge
from torch import Tensor

from irplatform_delta.encoding import Encoded, Encoder
from irplatform_delta.network import FEATURES, DeltaNetwork, Words
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
        self._pools: list[Encoded] = []
        for labelled, pool in zip(self._sampler.topics, self._sampler.pools, strict=True):
            self._pools.append(encoder.encode(labelled.topic, pool.doc_ids))
            advance(1)
        for labelled in self._validator.topics:
            self._validation.append(encoder.encode(labelled.topic, labelled.candidates))
            advance(1)

    @property
    def size(self) -> int:
        """Topics with something to learn from."""
        return len(self._pools)

    def standardize_lexical(self) -> None:
        """Take mean and deviation of the lexical features from the training pools."""
        if self.module.sizes.lexical:
            values = torch.cat([pool.lexical for pool in self._pools])
            self.module.lexical_mean.copy_(values.mean(dim=0))
            self.module.lexical_scale.copy_(values.std(dim=0).clamp(min=1e-6))

    def batches(self, epoch: int) -> Iterator[Pairs]:
        """The epoch's pairs."""
        return self._sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: Pairs) -> Tensor:
        """Weighted hinge loss and the two L2 costs."""
        words, documents, lexical = self._gather(batch)
        vectors = self._encoder.vectors
        if self._options.form == "plain":
            scores = self.module.plain(vectors, words, documents, lexical)
        else:
            distinct, place = torch.cat([words.word, words.closest]).unique(return_inverse=True)
            table = self.module.tabulate(vectors[distinct])
            placed = Words(
                place[: len(words.word)], place[len(words.word) :], words.features, words.active
            )
            scores = self.module.tabulated(table, placed, documents, lexical)
        higher, lower = scores[: len(batch)], scores[len(batch) :]
        weight = torch.from_numpy(batch.weight).to(scores.device)
        penalty = self.module.penalty(
            self._options.l2_convolution, self._options.l2_feed_forward
        )
        return pairwise_hinge(higher, lower, weight) + penalty

    def _gather(self, batch: Pairs) -> tuple[Words, Tensor, Tensor]:
        """The pairs' documents, higher ones first, with the words of all topics in one list."""
        pairs = list(zip(batch.topic.tolist(), batch.higher.tolist(), strict=True))
        pairs += zip(batch.topic.tolist(), batch.lower.tolist(), strict=True)
        start: dict[int, int] = {}
        offset = 0
        for topic in dict.fromkeys(batch.topic.tolist()):
            start[topic] = offset
            offset += len(self._pools[topic].words.word)
        # A topic's padding index is its number of words; the batch's is the number of all words.
        documents = torch.stack([self._pools[topic].documents[row] for topic, row in pairs])
        counts = torch.tensor([len(self._pools[t].words.word) for t, _ in pairs])[:, None]
        starts = torch.tensor([start[t] for t, _ in pairs])[:, None]
        device = documents.device
        padding = documents == counts.to(device)
        documents = (documents + starts.to(device)).masked_fill(padding, offset)
        parts = [self._pools[topic].words for topic in start]
        words = Words(
            torch.cat([p.word for p in parts]),
            torch.cat([p.closest for p in parts]),
            torch.cat([p.features for p in parts]),
            torch.cat([p.active for p in parts]),
        )
        used, place = documents.unique(return_inverse=True)
        if len(used) and int(used[-1]) == offset:
            used = used[:-1]
        words = Words(
            words.word[used], words.closest[used], words.features[used], words.active[used]
        )
        lexical = torch.stack([self._pools[topic].lexical[row] for topic, row in pairs])
        return words, place, lexical

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics."""
        table = self.module.tabulate(self._encoder.vectors)
        return self._validator(lambda number: score(self.module, table, self._validation[number]))


def score(network: DeltaNetwork, table: Tensor, encoded: Encoded) -> Sequence[float]:
    """Scores of a topic's documents."""
    scores = network.tabulated(table, encoded.words, encoded.documents, encoded.lexical)
    values: list[float] = scores.tolist()
    return values


__all__ = ["FEATURES", "DeltaTask", "score"]
