"""The network of Delta (Mohan et al., WWW 2018, sections 3.2 and 3.3), in two equal forms.

The plain form builds the Delta matrix, δ_i = [d_i − q*_i ; cos ; |d_i − q*_i| ; proximity], and
convolves it. The first convolution is linear in δ_i, so the tabulated form multiplies every word's
vector with the filters once: per document word, the sum of three table rows replaces 3·n_f·(V+3)
multiplications. Which query word is closest, and the three Delta features, depend on the word and
the query alone, so they are computed once per distinct word of the candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH = 3
FEATURES = 3


@dataclass(frozen=True)
class Sizes:
    """What fixes the shapes of the network, and so which weights fit it."""

    dimensions: int
    lexical: int
    filters: int
    convolutions: int
    hidden: int
    difference: bool
    delta_features: bool


@dataclass(frozen=True)
class Words:
    """Document words in relation to a query, or to several.

    Attributes:
        closest: int64 [u], for each of u words the row of its closest query word in the vectors.
        word: int64 [u], the row of the word itself.
        features: float32 [u, 3], cosine, Euclidean distance and proximity to the closest one.
        active: bool [u], False for words without a vector or where no query word has one: their δ
            is zero.
    """

    word: Tensor
    closest: Tensor
    features: Tensor
    active: Tensor


def relate(vectors: Tensor, norms: Tensor, words: Tensor, query: Tensor, unknown: int) -> Words:
    """Find the closest query word of each word, and the Delta features (section 3.2).

    Args:
        vectors: float32 [rows, V].
        norms: float32 [rows], their lengths.
        words: int64 [u], rows of distinct document words.
        query: int64 [m], rows of the query's words; those without a vector are left out.
        unknown: the row of UNK.
    """
    known = query[query != unknown]
    active = (words != unknown) & (len(known) > 0)
    if not len(known):
        zeros = torch.zeros(len(words), FEATURES, device=vectors.device)
        return Words(words, words, zeros, active)
    dots = vectors[words] @ vectors[known].T
    squared = norms[words, None] ** 2 + norms[known] ** 2 - 2 * dots
    # Expanding |d − q|² loses digits where the two are equal; there it is zero by definition.
    squared = squared.clamp_(min=0).masked_fill_(words[:, None] == known, 0)
    least, position = squared.min(dim=1)
    closest = known[position]
    distance = least.sqrt()
    lengths = norms[words], norms[closest]
    dot = dots.gather(1, position[:, None])[:, 0]
    cosine = dot / (lengths[0] * lengths[1]).clamp(min=1e-12)
    proximity = 1 - distance / (lengths[0] + lengths[1]).clamp(min=1e-12)
    features = torch.stack([cosine, distance, proximity], dim=1)
    return Words(words, closest, features * active[:, None], active)


class DeltaNetwork(nn.Module):
    """Convolutions over the Delta matrix, max-pooling, and a feed-forward stage.

    Args:
        sizes: its shapes.
        slope: of the Leaky ReLU below zero.
        dropout: before the max-pooling, while training.
    """

    lexical_mean: Tensor
    lexical_scale: Tensor

    def __init__(self, sizes: Sizes, slope: float, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.slope = slope
        self.dropout = dropout
        filters = sizes.filters
        inputs = [sizes.dimensions + FEATURES] + [filters] * (sizes.convolutions - 1)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(size, filters, WIDTH, padding=WIDTH // 2) for size in inputs
        )
        self.hidden = nn.Linear(filters + sizes.lexical, sizes.hidden)
        self.output = nn.Linear(sizes.hidden, 1)
        # BM25 and proportions differ by orders of magnitude; the training data says by how much.
        self.register_buffer("lexical_mean", torch.zeros(sizes.lexical))
        self.register_buffer("lexical_scale", torch.ones(sizes.lexical))

    def plain(
        self, vectors: Tensor, words: Words, documents: Tensor, lexical: Tensor
    ) -> Tensor:
        """Score from the Delta matrix itself.

        Args:
            vectors: float32 [rows, V].
            words: u distinct words.
            documents: int64 [n, N], indexes into `words`; u marks padding, on the right.
            lexical: float32 [n, L].

        Returns:
            float32 [n].
        """
        difference = vectors[words.word] - vectors[words.closest]
        delta = torch.cat(
            [
                difference * words.active[:, None] * self.sizes.difference,
                words.features * self.sizes.delta_features,
            ],
            dim=1,
        )
        delta = torch.cat([delta, torch.zeros_like(delta[:1])])  # padding
        matrix = functional.embedding(documents, delta).transpose(1, 2)
        return self._after_first(self.convolutions[0](matrix), documents < len(words.word), lexical)

    def tabulated(
        self,
        table: Tensor,
        words: Words,
        documents: Tensor,
        lexical: Tensor,
    ) -> Tensor:
        """Score from the table of words already multiplied by the filters; see `tabulate`.

        Args and result are those of `plain`.
        """
        filters = self.sizes.filters
        taps = self._feature_filters()
        rows = torch.addmm(table[words.word] - table[words.closest], words.features, taps)
        rows = rows * words.active[:, None]
        rows = torch.cat([rows, torch.zeros_like(rows[:1])]).view(-1, WIDTH, filters)
        padded = functional.pad(documents, (1, 1), value=len(words.word))
        width = documents.shape[1]
        first = sum(
            functional.embedding(padded[:, tap : tap + width], rows[:, tap])
            for tap in range(WIDTH)
        )
        first = (first + self.convolutions[0].bias).transpose(1, 2)
        return self._after_first(first, documents < len(words.word), lexical)

    def tabulate(self, vectors: Tensor) -> Tensor:
        """Multiply word vectors by the first convolution's filters: [rows, V] → [rows, 3·n_f]."""
        weight = self.convolutions[0].weight[:, : self.sizes.dimensions]  # [n_f, V, 3]
        flat = weight.permute(1, 2, 0).reshape(self.sizes.dimensions, -1)
        return vectors @ (flat * self.sizes.difference)

    def _feature_filters(self) -> Tensor:
        weight = self.convolutions[0].weight[:, self.sizes.dimensions :]
        return weight.permute(1, 2, 0).reshape(FEATURES, -1) * self.sizes.delta_features

    def _after_first(self, first: Tensor, present: Tensor, lexical: Tensor) -> Tensor:
        """From the first convolution's output [n, n_f, N] to scores [n]."""
        mask = present[:, None, :]
        maps = functional.leaky_relu(first, self.slope) * mask
        for convolution in list(self.convolutions)[1:]:
            maps = functional.leaky_relu(convolution(maps), self.slope) * mask
        maps = functional.dropout(maps, self.dropout, self.training)
        pooled = maps.masked_fill(~mask, -torch.inf).amax(dim=2)
        pooled = pooled.masked_fill(~present.any(dim=1, keepdim=True), 0)  # a document without words
        lexical = (lexical - self.lexical_mean) / self.lexical_scale
        hidden = functional.leaky_relu(
            self.hidden(torch.cat([pooled, lexical], dim=1)), self.slope
        )
        return self.output(hidden)[:, 0]

    def penalty(self, l2_convolution: float, l2_feed_forward: float) -> Tensor:
        """The two L2 costs (section 3.4): on the filters and on the feed-forward weights."""
        convolutional = sum((c.weight**2).sum() for c in self.convolutions)
        feed_forward = (self.hidden.weight**2).sum() + (self.output.weight**2).sum()
        return l2_convolution * convolutional + l2_feed_forward * feed_forward
