"""Delta (2018), the network and its training (Mohan et al., WWW 2018, sections 3.2 to 3.4).

The Delta matrix has a row δ_i = [d_i − q*_i ; cos ; |d_i − q*_i| ; proximity] per document word.
The first convolution is linear in δ_i, so every word's vector is multiplied with the filters once:
per document word, the sum of three table rows replaces 3·n_f·(V+3) multiplications.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from irplatform.kit import NeuralReranker, PairSampler, Validator, pairwise_hinge
from irplatform_delta.closest_words import FEATURES, Words, distinct_rows, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from irplatform.kit import SideFeatures
    from irplatform.plugin import TrainingData
    from irplatform_delta.closest_words import Encoded, Encoder
    from irplatform_delta.options import DeltaOptions


WIDTH = 3


@dataclass(frozen=True)
class Sizes:
    """The shapes of the network, which weights must fit: options of the same names."""

    dimensions: int
    lexical: int  # all features beside the text
    filters: int
    convolutions: int
    hidden: int
    difference: bool
    delta_features: bool


class DeltaNetwork(nn.Module):
    """Convolutions over the Delta matrix, max-pooling, and a feed-forward stage."""

    lexical_mean: Tensor
    lexical_scale: Tensor

    def __init__(self, sizes: Sizes, slope: float, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.slope = slope
        self.dropout = dropout
        filters = sizes.filters
        inputs = [sizes.dimensions + FEATURES] + [filters] * (sizes.convolutions - 1)
        self.first = nn.Conv1d(inputs[0], filters, WIDTH, padding=WIDTH // 2, bias=False)
        self.bias = nn.Parameter(torch.zeros(filters))
        self.further = nn.ModuleList(
            nn.Conv1d(size, filters, WIDTH, padding=WIDTH // 2) for size in inputs[1:]
        )
        self.hidden = nn.Linear(filters + sizes.lexical, sizes.hidden)
        self.output = nn.Linear(sizes.hidden, 1)
        # BM25 and proportions differ by orders of magnitude.
        self.register_buffer("lexical_mean", torch.zeros(sizes.lexical))
        self.register_buffer("lexical_scale", torch.ones(sizes.lexical))

    def tabulated(self, table: Tensor, words: Words, documents: Tensor, lexical: Tensor) -> Tensor:
        """Score documents from the table that `tabulate` made.

        Args:
            table: float32 [rows, 3·n_f].
            words: u distinct words, or all words of several queries.
            documents: int64 [n, N], indexes into `words`; u marks padding, on the right.
            lexical: float32 [n, L].

        Returns:
            float32 [n].
        """
        word, closest = (functional.pad(row, (0, 1)) for row in (words.word, words.closest))
        rows = table.index_select(0, word) - table.index_select(0, closest)
        weight = self.first.weight[:, self.sizes.dimensions :]
        filters = weight.permute(1, 2, 0).reshape(FEATURES, -1) * self.sizes.delta_features
        rows[:-1].addmm_(words.features, filters)
        rows *= functional.pad(words.active, (0, 1))[:, None]  # the last row is that of padding
        taps = rows.view(-1, WIDTH, self.sizes.filters)
        taps[:, WIDTH // 2] += self.bias  # once at every position
        first = functional.embedding_bag(
            _taps(documents, len(words.word)), taps.flatten(0, 1), mode="sum"
        )
        first = _image(first.view(*documents.shape, -1))
        return self._after_first(first, documents < len(words.word), lexical)

    def trained(self, vectors: Tensor, words: Words, documents: Tensor, lexical: Tensor) -> Tensor:
        """Score as `tabulated` does, but from vectors [rows, V]: faster while weights change.

        The table holds the words at hand only; each position adds three rows and subtracts three.
        The last of the words is padding (`Words.padded`).
        """
        size, count = len(words.word) - 1, len(vectors)
        places = documents.flatten()
        word = words.word.index_select(0, places).view_as(documents).long()
        closest = words.closest.index_select(0, places).view_as(documents).long()
        active = words.active.index_select(0, places).view_as(documents)
        distinct, place = distinct_rows(count, word, closest)
        place[count] = 0  # padding's sign is 0, so that any row will do
        table = self.tabulate(vectors[distinct if len(distinct) else place[count:]])
        signs = functional.pad(active.to(table.dtype), (1, 1)).unfold(1, WIDTH, 1)
        first = functional.embedding_bag(
            torch.cat([_taps(place[word], 0), _taps(place[closest], 0)], dim=1),
            table.view(-1, self.sizes.filters),
            mode="sum",
            per_sample_weights=torch.cat([signs, -signs], dim=2).reshape(-1, 2 * WIDTH),
        )
        features = words.features.index_select(0, places).view(*documents.shape, FEATURES)
        weight = self.first.weight[:, self.sizes.dimensions :] * self.sizes.delta_features
        convolved = _convolve(_image(features), weight, self.bias)
        first = _image(first.view(*documents.shape, -1)) + convolved
        return self._after_first(first, documents < size, lexical)

    def tabulate(self, vectors: Tensor) -> Tensor:
        """Multiply word vectors by the first convolution's filters: [rows, V] → [rows, 3·n_f]."""
        weight = self.first.weight[:, : self.sizes.dimensions]  # [n_f, V, 3]
        flat = weight.permute(1, 2, 0).reshape(self.sizes.dimensions, -1)
        return vectors @ (flat * self.sizes.difference)

    def _after_first(self, first: Tensor, present: Tensor, lexical: Tensor) -> Tensor:
        """From the first convolution's output, [n, n_f, 1, N], to scores [n]; overwrites it."""
        mask = present[:, None, None, :].to(first.dtype)
        maps = first
        for layer in self.further:
            # Masking first gives the same, and both in place.
            maps = functional.leaky_relu(maps.mul_(mask), self.slope, inplace=True)
            maps = _convolve(maps, *layer.parameters())
        maps = functional.dropout(maps, self.dropout, self.training)
        pooled = maps.add_(mask.log()).amax(dim=(2, 3))  # padding is never the largest
        # The Leaky ReLU is increasing, so it may follow the pooling, where there is less of it.
        return self._feed_forward(functional.leaky_relu(pooled, self.slope), present, lexical)

    def _feed_forward(self, pooled: Tensor, present: Tensor, lexical: Tensor) -> Tensor:
        pooled = pooled.masked_fill(~present.any(dim=1, keepdim=True), 0)  # a text without words
        lexical = (lexical - self.lexical_mean) / self.lexical_scale
        hidden = functional.leaky_relu(self.hidden(torch.cat([pooled, lexical], dim=1)), self.slope)
        scores: Tensor = self.output(hidden)[:, 0]
        return scores

    def widened(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Weights of a network with fewer lexical features; further ones begin at weight 0."""
        state = dict(weights)
        for name, fill in (("hidden.weight", 0.0), ("lexical_mean", 0.0), ("lexical_scale", 1.0)):
            current = self.state_dict()[name]
            full = torch.full_like(current, fill)
            full[..., : state[name].shape[-1]] = state[name]
            state[name] = full
        return state

    def penalty(self, l2_convolution: float, l2_feed_forward: float) -> Tensor:
        filters = [
            p for layer in (self.first, *self.further) for p in layer.parameters() if p.dim() > 1
        ]
        convolutional = torch.stack([(weight**2).sum() for weight in filters]).sum()
        feed_forward = (self.hidden.weight**2).sum() + (self.output.weight**2).sum()
        return l2_convolution * convolutional + l2_feed_forward * feed_forward


def _image(rows: Tensor) -> Tensor:
    """[n, N, channels] → [n, channels, 1, N] without a copy: an image convolves twice as fast."""
    return rows[:, None].permute(0, 3, 1, 2)


def _convolve(image: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.conv2d(image, weight[:, :, None], bias, padding=(0, WIDTH // 2))


def _taps(rows: Tensor, padding: int) -> Tensor:
    """The three rows of n_f numbers that each position adds up, one per tap: [n, N] → [n·N, 3]."""
    windows = functional.pad(rows, (1, 1), value=padding).unfold(1, WIDTH, 1)
    taps = torch.arange(WIDTH, device=rows.device)
    return (windows * WIDTH + taps).reshape(-1, WIDTH)


class DeltaTask:
    """Training on pairs of documents: weighted hinge loss and two L2 costs (section 3.4)."""

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
        self.sampler = PairSampler(data.training, options.pairs, seed)
        features = side.fit(data, self.sampler.pools)

        def encoded() -> Iterator[Encoded]:
            for pool, values in zip(self.sampler.pools, features, strict=True):
                yield encoder.encode(pool.labelled.topic, pool.doc_ids).with_features(values)
                advance(1)

        pools = joined(encoded())
        self._pools = replace(pools, words=pools.words.padded(len(encoder.vectors)))
        self._measure = Validator(data.validation, on=self._options.loop.validate_on).reading(
            lambda topic, doc_ids: encoder.encode(topic, doc_ids).with_features(
                side.matrix(topic, doc_ids)
            ),
            advance,
        )

    def standardize_lexical(self) -> None:
        """Standardize the lexical features; groups of features are standardized already."""
        count = len(self._options.lexical)
        lexical = self._pools.lexical[:, :count]
        mean, scale = self.module.lexical_mean, self.module.lexical_scale
        NeuralReranker.learn_standardization(lexical, mean[:count], scale[:count])

    def batches(self, epoch: int) -> list[PairSampler.Batch]:
        return self.sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: PairSampler.Batch) -> Tensor:
        rows = torch.from_numpy(batch.rows(self.sampler.starts)).to(self._encoder.device)
        documents, lexical = self._pools.documents[rows], self._pools.lexical[rows]
        scores = self.module.trained(
            self._encoder.vectors, self._pools.words, documents.long(), lexical
        )
        higher, lower = scores[: len(batch)], scores[len(batch) :]
        weight = torch.from_numpy(batch.weight).to(scores.device)
        penalty = self.module.penalty(self._options.l2_convolution, self._options.l2_feed_forward)
        return pairwise_hinge(higher, lower, weight) + penalty

    def validate(self) -> float:
        table = self.module.tabulate(self._encoder.vectors)
        score = self.module.tabulated
        return self._measure(
            lambda pool: score(table, pool.words, pool.documents, pool.lexical).tolist()
        )
