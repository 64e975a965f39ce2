"""DeepMatch, convolutions over the interactions of query and document words, and its training.

An interaction is the cosine of two words' vectors, and 1 for the same word. A word without a vector
is similar to itself only; query words that the collection lacks are left out. Zhao et al. (CIKM
2019) give no details. The rest follows ARC-II (Hu et al., NIPS 2014) and MatchPyramid (Pang et al.,
AAAI 2016): two stages of convolution and pooling, the second of them dynamic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from irplatform.kit import PairSampler, Validator, pairwise_hinge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from irplatform.kit import ForwardIndex, WordVectors
    from irplatform.plugin import TrainingData
    from irplatform_deepmatch.options import DeepMatchOptions

    Ids = npt.NDArray[np.int32]

KERNEL = 3
STRIDE = 4  # neighbouring words of a document that the first pooling joins
PADDING = -1
NOTHING = -2  # the word of a query without any: similar to nothing


@dataclass(frozen=True)
class Sizes:
    """The shapes of the network, which weights must fit; options of the same names."""

    first_maps: int
    second_maps: int
    grid_query: int
    grid_document: int
    hidden: int


class DeepMatchNetwork(nn.Module):
    """Two stages of convolution and pooling, and a feed-forward stage."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.dropout = dropout
        self.first = nn.Conv2d(1, sizes.first_maps, KERNEL, padding=KERNEL // 2)
        self.second = nn.Conv2d(sizes.first_maps, sizes.second_maps, KERNEL, padding=KERNEL // 2)
        grid = sizes.grid_query * sizes.grid_document
        self.hidden = nn.Linear(sizes.second_maps * grid, sizes.hidden)
        self.output = nn.Linear(sizes.hidden, 1)

    def forward(self, matrices: Tensor, present: Tensor) -> Tensor:
        """Score documents [n] by similarities [n, m, N] and the places [n, N] that hold a word."""
        mask = present[:, None, None].to(matrices.dtype)
        maps = torch.relu(self.first(matrices[:, None])) * mask
        maps = functional.max_pool2d(maps, (1, STRIDE), ceil_mode=True)
        mask = functional.max_pool2d(mask, (1, STRIDE), ceil_mode=True)
        maps = torch.relu(self.second(maps)) * mask
        grid = self.sizes.grid_query, self.sizes.grid_document
        pooled = functional.adaptive_max_pool2d(maps, grid).flatten(1)
        pooled = functional.dropout(pooled, self.dropout, self.training)
        scores: Tensor = self.output(torch.relu(self.hidden(pooled)))[:, 0]
        return scores

    def penalty(self) -> Tensor:
        layers = (self.first, self.second, self.hidden, self.output)
        return torch.stack([(layer.weight**2).sum() for layer in layers]).sum()


class Interactions:
    """Makes interaction matrices, on one device."""

    def __init__(
        self, index: ForwardIndex, vectors: WordVectors, options: DeepMatchOptions, device: str
    ) -> None:
        self._index = index
        self._options = options
        self.device = device
        unit = torch.from_numpy(np.array(vectors.matrix)).to(device)
        unit[vectors.unk] = 0
        self._unit = functional.normalize(unit)
        aligned = vectors.align(index.vocabulary).astype(np.int64)
        # The last two entries serve PADDING and NOTHING, negative ids.
        self._rows = torch.from_numpy(np.append(aligned, [vectors.unk] * 2)).to(device)

    def query(self, text: str) -> Ids:
        """The words of a query: int32 [m], m at least 1."""
        ids = self._index.query_ids(text)
        words = ids[ids >= 0][: self._options.query_words]
        return words if len(words) else np.array([NOTHING], dtype=np.int32)

    def documents(self, doc_ids: Sequence[str]) -> Ids:
        return self._index.matrix(self._index.rows(doc_ids), self._options.document_words)

    def of_topic(self, query: Ids, documents: Ids) -> tuple[Tensor, Tensor]:
        """Similarities [n, m, N] of a topic's documents, and the places [n, N] that hold a word."""
        distinct, places = self._index.distinct_words(documents, len(self._rows) - 2)
        words, query_words = self._tensor(distinct), self._tensor(query).long()
        table = self._vectors(query_words) @ self._vectors(words).T
        table = table.masked_fill(query_words[:, None] == words, 1)
        table = functional.pad(table, (0, 1))  # the last column is that of padding
        matrices = table[:, self._tensor(places)].transpose(0, 1)
        return matrices, self._tensor(documents) != PADDING

    def of_pairs(self, queries: Ids, documents: Ids) -> tuple[Tensor, Tensor]:
        """The same for documents [n, N] that each have a query of their own, [n, m]."""
        query_words, words = self._tensor(queries).long(), self._tensor(documents).long()
        matrices = self._vectors(query_words) @ self._vectors(words).transpose(1, 2)
        matrices = matrices.masked_fill(query_words[:, :, None] == words[:, None, :], 1)
        return matrices, words != PADDING

    def _vectors(self, words: Tensor) -> Tensor:
        return functional.embedding(self._rows[words], self._unit)

    def _tensor(self, array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)


class DeepMatchTask:
    """Training on pairs of documents: weighted hinge loss and an L2 cost."""

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
        self.sampler = PairSampler(data.training, options.pairs, seed)
        self._queries, documents = [], []
        for pool in self.sampler.pools:
            self._queries.append(interactions.query(pool.labelled.topic.query))
            documents.append(interactions.documents(pool.doc_ids))
            advance(1)
        self._lengths = np.array([len(query) for query in self._queries])
        self._documents = np.concatenate(documents)
        self._measure = Validator(data.validation, on=self._options.loop.validate_on).reading(
            lambda topic, doc_ids: (
                interactions.query(topic.query),
                interactions.documents(doc_ids),
            ),
            advance,
        )

    def batches(self, epoch: int) -> list[PairSampler.Batch]:
        return self.sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: PairSampler.Batch) -> Tensor:
        rows = batch.rows(self.sampler.starts)
        topics = np.concatenate([batch.topic, batch.topic])
        parts, order = [], []
        for length in np.unique(self._lengths[topics]).tolist():
            places = np.flatnonzero(self._lengths[topics] == length)
            queries = np.stack([self._queries[topic] for topic in topics[places].tolist()])
            inputs = self._interactions.of_pairs(queries, self._documents[rows[places]])
            parts.append(self.module(*inputs))
            order.append(places)
        place = torch.from_numpy(np.argsort(np.concatenate(order))).to(self._interactions.device)
        scores = torch.cat(parts)[place]
        higher, lower = scores[: len(batch)], scores[len(batch) :]
        weight = torch.from_numpy(batch.weight).to(scores.device)
        return pairwise_hinge(higher, lower, weight) + self._options.l2 * self.module.penalty()

    def validate(self) -> float:
        of_topic = self._interactions.of_topic
        return self._measure(lambda words: self.module(*of_topic(*words)).tolist())
