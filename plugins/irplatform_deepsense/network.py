"""The network of DeepSenSe, modified decomposable attention (Lo et al., equations 1 to 16).

G's layer, before its ELU, is linear in a word x and its counterpart x′, a weighted mean of words:
W [x ; x′ ; x − x′] = (W₁ + W₃) x + (W₂ − W₃) x′. So F and both halves of G are multiplied out once
per word of the vocabulary (`tabulate`). We read the paper's sizes [500, 300, 32, 16] as those of F,
G and H, and sum where it once says "max pooling" (equations 11 to 14).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

SIGNALS = 4
"""Of a word: cosine to its counterparts (mean and largest), IDF, and IDF times the largest."""
IDF_SCALE = 0.1  # brings IDF into the range of cosines


@dataclass(frozen=True)
class Sizes:
    """The shapes of the network, which weights must fit: options of the same names."""

    dimensions: int
    features: int
    projection: int
    compare: int
    compare_layers: int
    side: tuple[int, int]
    classifier: tuple[int, int]
    compare_on: str
    product: bool
    signals: bool
    pooling: str
    shortcut: bool


class DeepSenSeNetwork(nn.Module):
    """Attend, compare, aggregate, and classify."""

    feature_mean: Tensor
    feature_scale: Tensor

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(sizes.dimensions, sizes.projection)  # F
        compared = sizes.projection if sizes.compare_on == "projected" else sizes.dimensions
        inputs = (3 + sizes.product) * compared + SIGNALS * sizes.signals
        self.compare = nn.Linear(inputs, sizes.compare)  # G
        self.compare_more = nn.ModuleList(
            nn.Linear(sizes.compare, sizes.compare) for _ in range(sizes.compare_layers - 1)
        )
        side = sizes.features > 0
        self.side = _stage(sizes.features, sizes.side, dropout) if side else None  # L
        width = 4 * sizes.compare + (sizes.side[-1] if side else 0)
        self.classifier = _stage(width, sizes.classifier, dropout)  # H
        self.output = nn.Linear(sizes.classifier[-1], 1)
        self.shortcut = (
            nn.Linear(sizes.features, 1, bias=False) if side and sizes.shortcut else None
        )
        # BM25, years and shares differ by orders of magnitude; the training data says by how much.
        self.register_buffer("feature_mean", torch.zeros(sizes.features))
        self.register_buffer("feature_scale", torch.ones(sizes.features))

    def shared_state(self) -> dict[str, Tensor]:
        """The weights of F and G, which all texts share and pre-training teaches."""
        shared = ("project.", "compare.", "compare_more.")
        return {name: w for name, w in self.state_dict().items() if name.startswith(shared)}

    def tabulate(self, vectors: Tensor, idf: Tensor) -> Tables:
        """Tables of words with vectors [w, V] and IDF [w]."""
        projected = self.dropout(functional.elu(self.project(vectors)))
        compared = projected if self.sizes.compare_on == "projected" else vectors
        word, other, difference = self._parts()[:3]
        word_side = functional.linear(compared, word + difference, self.compare.bias)
        other = functional.linear(compared, other - difference)
        return Tables(
            projected=_padded(projected),
            word_part=_padded(word_side),
            other=_padded(other),
            compared=_padded(compared),
            unit=_padded(functional.normalize(vectors, dim=1)),
            idf=functional.pad(idf * IDF_SCALE, (0, 1)),
        )

    def _parts(self) -> list[Tensor]:
        """G's weights for x, x′, x − x′, and where they are compared for x ∘ x′ and the signals."""
        sizes = self.sizes
        compared = sizes.projection if sizes.compare_on == "projected" else sizes.dimensions
        widths = [compared] * (3 + sizes.product) + [SIGNALS] * sizes.signals
        return list(torch.split(self.compare.weight, widths, dim=1))

    def compare_words(
        self,
        tables: Tables,
        words: Tensor,
        others: Tensor,
        attention: Tensor,
        cosine: Tensor,
        present: Tensor,
    ) -> Tensor:
        """G of words and their counterparts (equations 3 to 10): [n, x, g].

        Args:
            tables: of all words that occur here.
            words: int64 [n, x], rows of the tables.
            others: int64 [n, y], rows of the words that they attend to.
            attention: [n, x, y], rows that add up to 1, or 0 where there is nothing.
            cosine: [n, x, y], of words and others.
            present: bool [n, y], which of the others are words.
        """
        before = rows_of(tables.word_part, words) + attention @ rows_of(tables.other, others)
        parts = self._parts()
        if self.sizes.product:
            counterpart = attention @ rows_of(tables.compared, others)
            before = before + functional.linear(
                rows_of(tables.compared, words) * counterpart, parts[3]
            )
        if self.sizes.signals:
            before = before + functional.linear(
                signals(tables.idf[words], attention, cosine, present), parts[-1]
            )
        compared = self._drop_of_text(functional.elu(before))
        for layer in self.compare_more:
            compared = self._drop_of_text(functional.elu(layer(compared)))
        return compared

    def _drop_of_text(self, compared: Tensor) -> Tensor:
        """Dropout of the same numbers in all words, which pooling would average out otherwise."""
        if not self.training or not self.dropout.p:
            return compared
        mask: Tensor = self.dropout(compared.new_ones(len(compared), 1, compared.shape[2]))
        return compared * mask

    def match(self, tables: Tables, query: Tensor, text: Tensor) -> tuple[Tensor, Tensor]:
        """Attend, compare and aggregate a query and one text each (equations 1 to 14).

        Queries [n, m] and texts [n, l] are rows of the tables, padded on the right. Returns v of
        the query's words and v of the text's, [n, g] each.
        """
        query_present, text_present = query != tables.padding, text != tables.padding
        weights = rows_of(tables.projected, query) @ rows_of(tables.projected, text).transpose(1, 2)
        cosine = tables.unit[query] @ tables.unit[text].transpose(1, 2)
        to_text = masked_softmax(weights, text_present[:, None, :])
        to_query = masked_softmax(weights.transpose(1, 2), query_present[:, None, :])
        of_query = self.compare_words(tables, query, text, to_text, cosine, text_present)
        of_text = self.compare_words(
            tables, text, query, to_query, cosine.transpose(1, 2), query_present
        )
        return self.pool(of_query, query_present), self.pool(of_text, text_present)

    def pool(self, compared: Tensor, present: Tensor) -> Tensor:
        """Sum or mean over the words that are there: [n, x, g] → [n, g]."""
        total = (compared * present[:, :, None]).sum(dim=1)
        return self.scaled(total, present.sum(dim=1))

    def scaled(self, total: Tensor, lengths: Tensor) -> Tensor:
        if self.sizes.pooling == "sum":
            return total
        means: Tensor = total / lengths.clamp(min=1)[:, None]
        return means

    def classify(self, aggregated: Tensor, features: Tensor) -> Tensor:
        """L and H (equations 15 and 16), before the sigmoid, of v₁ to v₄ [n, 4 g] and features."""
        standard = (features - self.feature_mean) / self.feature_scale
        if self.side is not None:
            aggregated = torch.cat([aggregated, self.side(standard)], dim=1)
        scores: Tensor = self.output(self.classifier(aggregated))
        if self.shortcut is not None:
            scores = scores + self.shortcut(standard)
        return scores[:, 0]


def _stage(inputs: int, widths: tuple[int, int], dropout: float) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in widths:
        layers += [
            nn.Linear(inputs, width), nn.ELU(), nn.Dropout(dropout), nn.BatchNorm1d(width)
        ]  # fmt: skip
        inputs = width
    return nn.Sequential(*layers)


def _padded(table: Tensor) -> Tensor:
    return functional.pad(table, (0, 0, 0, 1))


@dataclass(frozen=True)
class Tables:
    """Words as they are whatever stands beside them; the last row, zero, is that of padding."""

    projected: Tensor  # float32 [w + 1, f], F of each word
    word_part: Tensor  # float32 [w + 1, g], what the word itself adds to G, bias included
    other: Tensor  # float32 [w + 1, g], what it adds as a counterpart
    compared: Tensor  # float32 [w + 1, c], what is compared: the vector, or F of it
    unit: Tensor  # float32 [w + 1, V], the vector at length 1
    idf: Tensor  # float32 [w + 1], scaled IDF

    @property
    def padding(self) -> int:
        return len(self.idf) - 1

    def rows(self, words: Tensor) -> Tables:
        """The tables of some words only, with padding again at the end."""
        words = functional.pad(words, (0, 1), value=self.padding)
        return Tables(
            projected=self.projected[words],
            word_part=self.word_part[words],
            other=self.other[words],
            compared=self.compared[words],
            unit=self.unit[words],
            idf=self.idf[words],
        )


def rows_of(table: Tensor, words: Tensor) -> Tensor:
    """Rows of a table that learns: [w, v] and int64 [n, x] → [n, x, v]; faster than indexing."""
    return functional.embedding(words, table)


def masked_softmax(weights: Tensor, present: Tensor) -> Tensor:
    """Softmax over the last dimension, over what is present; 0 where nothing is."""
    lowest = torch.finfo(weights.dtype).min
    return weights.masked_fill(~present, lowest).softmax(dim=-1) * present


def signals(idf: Tensor, attention: Tensor, cosine: Tensor, present: Tensor) -> Tensor:
    """The inputs of G beside vectors: [n, x, SIGNALS]; see `DeepSenSeNetwork.compare_words`."""
    if not cosine.shape[2]:
        nothing = torch.zeros_like(idf)
        return torch.stack([nothing, nothing, idf, nothing], dim=2)
    largest = cosine.masked_fill(~present[:, None, :], -1).amax(dim=2)
    largest = largest * present.any(dim=1, keepdim=True)
    return torch.stack([(attention * cosine).sum(dim=2), largest, idf, idf * largest], dim=2)
