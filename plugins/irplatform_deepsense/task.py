"""DeepSenSe, scoring by topic and training.

G of a document word (equations 4, 6, 8 and 10) depends on that word and the query alone: it is
computed once per distinct word of the candidates. Only how the query attends to a text (equations 3
and 5) is computed per document, in batches of similar length.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.kit import GroupSampler, NeuralReranker, Validator, pairwise_hinge
from irplatform_deepsense.network import masked_softmax

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.kit import Int64
    from irplatform.plugin import TrainingData
    from irplatform_deepsense.encoding import Encoded, Encoder, Texts
    from irplatform_deepsense.network import DeepSenSeNetwork, Tables
    from irplatform_deepsense.options import DeepSenSeOptions


CELLS = 1 << 19
"""Pairs of a text's and the query's words in one step, to stay in the processor's cache."""
NUMBERS = 1 << 26
"""Numbers in the vectors of words that a GPU reads in one step."""


def score(network: DeepSenSeNetwork, tables: Tables, encoded: Encoded) -> Tensor:
    """Scores of a topic's documents, float32 [n], before the sigmoid."""
    return network.classify(aggregate(network, tables, encoded), encoded.features)


def score_on_device(
    network: DeepSenSeNetwork, tables: Tables, texts: tuple[Tensor, ...], features: Tensor
) -> Tensor:
    """Scores of documents of several topics, from `Encoder.padded`, in parts that fit in memory."""
    query, titles, abstracts = texts
    numbers = len(features) * (titles.shape[1] + abstracts.shape[1]) * tables.unit.shape[1]
    aggregated = []
    for part in torch.arange(len(features), device=query.device).chunk(numbers // NUMBERS + 1):
        matched = [network.match(tables, query[part], text[part]) for text in (titles, abstracts)]
        aggregated.append(torch.cat([v for pair in matched for v in pair], dim=1))
    return network.classify(torch.cat(aggregated), features)


def aggregate(network: DeepSenSeNetwork, tables: Tables, encoded: Encoded) -> Tensor:
    """v₁ to v₄ of a topic's documents, float32 [n, 4 g]."""
    match = _TopicMatch(network, tables, encoded)
    return torch.cat([*match.of(encoded.titles), *match.of(encoded.abstracts)], dim=1)


class _TopicMatch:
    """A query with the distinct words of its candidates."""

    def __init__(self, network: DeepSenSeNetwork, tables: Tables, encoded: Encoded) -> None:
        self._network = network
        self._query = len(encoded.query)
        # One small table: the query's words, the candidates' words, padding.
        self._tables = tables.rows(torch.cat([encoded.query, encoded.words]))
        device = encoded.query.device
        query = torch.arange(self._query, device=device)[None]
        words = torch.arange(self._query, self._tables.padding, device=device)[None]
        present = torch.ones_like(query, dtype=torch.bool)
        topic_tables = self._tables
        weights = topic_tables.projected[words[0]] @ topic_tables.projected[query[0]].T  # [u, m]
        cosine = topic_tables.unit[words[0]] @ topic_tables.unit[query[0]].T
        attention = masked_softmax(weights[None], present[:, None])
        compared = network.compare_words(
            topic_tables, words, query, attention, cosine[None], present
        )
        self._compared = functional.pad(compared[0], (0, 0, 0, 1))  # the last row: padding
        # torch 2.4 pads no table without columns, which a query without known words has.
        padding = weights.new_zeros(1, self._query)
        self._weights = torch.cat([weights, padding])
        self._cosine = torch.cat([cosine, padding])

    def of(self, texts: Texts) -> tuple[Tensor, Tensor]:
        """The v of the query's words and v of the texts' words, [n, g] each."""
        lengths = texts.lengths
        sums = functional.embedding_bag(texts.words, self._compared, texts.starts, mode="sum")
        parts = by_length(lengths, self._query)
        of_query = torch.cat(
            [self._of_query(texts.padded(part, len(self._compared) - 1)) for part in parts]
        )
        return of_query[torch.cat(parts).argsort()], self._network.scaled(sums, lengths)

    def _of_query(self, positions: Tensor) -> Tensor:
        """The v of the query's words for some texts, given as rows of the distinct words [n, l]."""
        last = len(self._compared) - 1
        present = positions != last
        weights = self._weights[positions].transpose(1, 2)  # [n, m, l]
        cosine = self._cosine[positions].transpose(1, 2)
        query = torch.arange(self._query, device=positions.device).expand(len(positions), -1)
        attention = masked_softmax(weights, present[:, None, :])
        compared = self._network.compare_words(
            self._tables, query, positions + self._query, attention, cosine, present
        )
        return self._network.pool(compared, torch.ones_like(query, dtype=torch.bool))


def by_length(lengths: Tensor, query: int) -> list[Tensor]:
    """Documents in batches of similar length, each of at most CELLS cells when padded."""
    order = lengths.argsort(stable=True)
    longest = lengths[order].tolist()
    batches, end = [], len(longest)
    while end:
        size = max(1, CELLS // max(1, longest[end - 1] * query))
        batches.append(order[max(0, end - size) : end])
        end = max(0, end - size)
    return batches


class DeepSenSeTask:
    """Groups of documents, scored as they are served, and the loss that the options name."""

    def __init__(
        self,
        network: DeepSenSeNetwork,
        encoder: Encoder,
        options: DeepSenSeOptions,
        data: TrainingData,
        seed: int,
        advance: Callable[[int], None],
    ) -> None:
        self.module = network
        self.encoder = encoder
        self._options = options
        self.sampler = GroupSampler(data.training, options.groups, encoder.index, seed)
        self._queries: list[Int64] = []
        rows, features = [], []
        for labelled, pool in zip(self.sampler.topics, self.sampler.pools, strict=True):
            self._queries.append(encoder.query(labelled.topic.query))
            rows.append(encoder.index.rows(pool.doc_ids))
            features.append(encoder.features(labelled.topic, pool.doc_ids))
            advance(1)
        self._rows = np.concatenate(rows)
        self._features = np.concatenate(features)
        validator = Validator.of(data, options)
        self._measure = validator.reading(encoder.encode, advance)

    def standardize_features(self) -> None:
        features = torch.from_numpy(self._features)
        NeuralReranker.learn_standardization(
            features, self.module.feature_mean, self.module.feature_scale
        )

    def batches(self, epoch: int) -> list[GroupSampler.Batch]:
        return self.sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: GroupSampler.Batch) -> Tensor:
        scores = self._scores(batch)
        if self._options.loss == "softmax":
            return -scores.log_softmax(dim=1)[:, 0].mean()
        if self._options.loss == "bce":
            labels = torch.zeros_like(scores)
            labels[:, 0] = 1
            return functional.binary_cross_entropy_with_logits(scores, labels)
        lower = scores[:, 1:]
        return pairwise_hinge(scores[:, :1].expand_as(lower), lower, torch.ones_like(lower))

    def _scores(self, batch: GroupSampler.Batch) -> Tensor:
        places = self.sampler.starts[batch.topic][:, None] + batch.documents
        encoded = [
            self.encoder.encode_rows(
                self.encoder.tensor(self._queries[topic]),
                self._rows[documents],
                self.encoder.tensor(self._features[documents]),
            )
            for topic, documents in zip(batch.topic, places, strict=True)
        ]
        vectors, idf = self.encoder.vectors, self.encoder.idf
        words = torch.cat([part for group in encoded for part in (group.query, group.words)])
        distinct, inverse = torch.unique(words, return_inverse=True)
        tables = self.module.tabulate(vectors[distinct], idf[distinct])
        parts = inverse.split([len(p) for group in encoded for p in (group.query, group.words)])
        aggregated = [
            aggregate(self.module, tables, replace(group, query=query, words=words))
            for group, query, words in zip(encoded, parts[::2], parts[1::2], strict=True)
        ]
        # All groups at once, since batch normalization looks at them together.
        features = torch.cat([group.features for group in encoded])
        scores = self.module.classify(torch.cat(aggregated), features)
        return scores.view(batch.documents.shape)

    def validate(self) -> float:
        tables = self.module.tabulate(self.encoder.vectors, self.encoder.idf)
        return self._measure(lambda encoded: score(self.module, tables, encoded).cpu().numpy())
