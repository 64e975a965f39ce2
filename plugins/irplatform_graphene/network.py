"""The network of GRAPHENE (Zhao, Su, Sboner and Wang, CIKM 2019, sections 3.2 and 4).

Documents send no messages, so a concept's first layer reads a constant of the collection
(`ConceptInputs`). A document's state after the second layer is one weighted sum of its concepts'
messages; the reward adds (α − 1) times those that match the query (section 3.2.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from irplatform.kit import ForwardIndex, Int64

END = 0  # the symbol that ends a title, and begins it
_IGNORED = -100
_WIDTH = 3
_SCALE = 3.0
"""Of distances between vectors of length 1, at first: differences of scores are then about 1."""

PADDING = -1  # fills rows of word ids


@dataclass(frozen=True)
class Sizes:
    """The shapes of the network, which weights must fit: options of the same names."""

    dimensions: int
    projection: int | None
    hidden: int
    layers: int
    graph: int
    vector: int
    filters: int
    shortcut: bool
    normalized: bool
    features: int = 0

    @property
    def word(self) -> int:
        """The width of word vectors as encoder, graph, convolution and decoder read them."""
        return self.dimensions if self.projection is None else self.projection


@dataclass(frozen=True)
class Words:
    """Texts as places in a table of the distinct words of all of them."""

    table: Tensor  # float32 [words, V], their vectors
    places: Tensor  # int64 [texts, N]; what stands for padding is not read
    weights: Tensor  # float32 [texts, N], of words; 0 is padding

    def projected(self, project: nn.Module) -> Tensor:
        """Projected vectors of the words: [texts, N, width]; faster than indexing."""
        return functional.embedding(self.places, project(self.table))

    def means(self) -> Tensor:
        """Weighted means of the vectors: [texts, V]; 0 for a text without words."""
        total = self.weights.sum(dim=1, keepdim=True).clamp(min=1e-9)
        return functional.embedding_bag(
            self.places, self.table, mode="sum", per_sample_weights=self.weights / total
        )


@dataclass(frozen=True)
class Links:
    """Weighted concepts of documents (or of pairs), one behind the other."""

    concepts: Tensor  # int64 [links], rows of a table of concepts
    weights: Tensor  # float32 [links]
    offsets: Tensor  # int64 [n], where those of each begin

    def sums(self, table: Tensor) -> Tensor:
        if not len(self.concepts):
            return table.new_zeros(len(self.offsets), table.shape[1])
        return functional.embedding_bag(
            self.concepts, table, self.offsets, mode="sum", per_sample_weights=self.weights
        )


class GrapheneNetwork(nn.Module):
    """Encoder, graph module, query encoder and scoring."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.dropout = nn.Dropout(dropout)
        self.words: nn.Embedding | None = None  # word vectors, where they are trained, too
        width = sizes.word
        self.project: nn.Module = (
            nn.Identity()
            if sizes.projection is None
            else nn.Linear(sizes.dimensions, width, bias=False)
        )
        self.encoder = BiLSTM(width, sizes.hidden, sizes.layers)
        if sizes.graph:
            self.concept_layer = nn.Linear(width, sizes.graph, bias=False)  # W_c
            self.document_layer = nn.Linear(sizes.graph, sizes.graph, bias=False)  # W_d
            self.from_graph = nn.Linear(sizes.graph, sizes.vector, bias=False)
        self.from_text = nn.Linear(2 * sizes.hidden, sizes.vector)  # with `from_graph`: f_l
        self.convolution = nn.Conv1d(width, sizes.filters, _WIDTH, padding=_WIDTH // 2)
        self.attention = nn.Linear(2 * sizes.filters, 1, bias=False)
        nn.init.zeros_(self.attention.weight)  # at first all fields count the same
        self.query_layer = nn.Linear(2 * sizes.filters, sizes.vector)  # W
        if sizes.shortcut:
            # Both begin as the same projection: at first, near words make near vectors.
            self.from_words = nn.Linear(sizes.dimensions, sizes.vector, bias=False)
            self.query_words = nn.Linear(sizes.dimensions, sizes.vector, bias=False)
            nn.init.orthogonal_(self.from_words.weight)
            with torch.no_grad():
                self.query_words.weight.copy_(self.from_words.weight)
        if sizes.normalized:
            self.scale = nn.Parameter(torch.tensor(_SCALE))
        if sizes.features:
            # Found at once and not by gradient steps, see `fit_last_layer`.
            self.feature_weights = nn.Parameter(torch.zeros(sizes.features), requires_grad=False)

    @property
    def encoded(self) -> int:
        return 2 * self.sizes.hidden + self.sizes.shortcut * self.sizes.dimensions

    def encode(self, words: Words) -> Tensor:
        """Enc(d), the mean of the hidden states (section 3.2.1): [n, encoded].

        A shortcut adds the weighted mean of the word vectors. A document without words has 0.
        """
        present = words.weights > 0
        states = self.encoder(words.projected(self.project), present)
        lengths = present.sum(dim=1).clamp(min=1)
        mean: Tensor = (states * present[:, :, None]).sum(dim=1) / lengths[:, None]
        return torch.cat([mean, words.means()], dim=1) if self.sizes.shortcut else mean

    def messages(self, inputs: Tensor) -> Tensor:
        """W_d g_c⁽¹⁾ of concepts, with g_c⁽¹⁾ = ReLU(W_c Σ g_c⁽⁰⁾) (equations 2 and 3): [c, graph].

        `inputs` [c, V] are normalized sums over neighbours, see `ConceptInputs`.
        """
        states = functional.relu(self.concept_layer(self.project(inputs)))
        messages: Tensor = self.document_layer(states)
        return messages

    def text_part(self, encoded: Tensor) -> Tensor:
        """The share of Enc(d) in v_d: [n, encoded] → [n, vector]."""
        width = 2 * self.sizes.hidden
        part: Tensor = self.from_text(self.dropout(encoded[:, :width]))
        if self.sizes.shortcut:
            part = part + self.from_words(encoded[:, width:])
        return part

    def compose(self, text: Tensor, received: Tensor | None) -> Tensor:
        """v_d = f_l(Enc(d) ∘ GCN(d)), ∘ being concatenation (equation 4): [n, vector].

        `text` is that of `text_part`; `received` [n, graph] sums messages, None without a graph.
        """
        if received is None:
            return text
        part: Tensor = self.from_graph(self.dropout(functional.relu(received)))
        return text + part

    def query(self, words: Words, fields: Tensor) -> Tensor:
        """W v_p [t, vector]: convolution and pooling per field, fusion of the fields (section 4.1).

        Pooling is the maximum and the weighted mean; fusion is a weighted mean, of the shortcut a
        plain one. A field without known words is 0 and takes its share. `words` are those of all f
        distinct fields, with weights that add up to 1; `fields` [t, F] are those of each topic, f
        is padding.
        """
        present = (words.weights > 0)[:, :, None]
        vectors = words.projected(self.project) * present
        maps = functional.relu(self.convolution(vectors.transpose(1, 2))).transpose(1, 2) * present
        mean = torch.einsum("flc,fl->fc", maps, words.weights)
        pooled = functional.pad(torch.cat([maps.amax(dim=1), mean], dim=1), (0, 0, 0, 1))[fields]
        absent = fields == len(words.places)
        logits = self.attention(pooled)[:, :, 0].masked_fill(absent, -1e9)
        fused = (logits.softmax(dim=1)[:, :, None] * pooled).sum(dim=1)
        vector: Tensor = self.query_layer(self.dropout(fused))
        if self.sizes.shortcut:
            means = functional.pad(words.means(), (0, 0, 0, 1))[fields].sum(dim=1)
            vector = vector + self.query_words(means / (~absent).sum(dim=1, keepdim=True))
        return vector

    def score(self, queries: Tensor, documents: Tensor, features: Tensor | None) -> Tensor:
        """−‖W v_p − v_d‖₁ (equation 7), plus the weighted features: [n].

        Queries are [n, vector], or [vector] for one; features are standardized, None leaves them
        out.
        """
        if self.sizes.normalized:
            queries, documents = (functional.normalize(v, dim=-1) for v in (queries, documents))
        scores = -(queries - documents).abs().sum(dim=1)
        if self.sizes.normalized:
            scores = self.scale * scores
        if features is None or not self.sizes.features:
            return scores
        return scores + (features * self.feature_weights).sum(dim=1)


class BiLSTM(nn.Module):
    """A bidirectional LSTM (Hochreiter & Schmidhuber, 1997) over texts of different lengths.

    The backward one reads the words in reverse: the gradient of torch's packed sequences takes ten
    times as long on a CPU.
    """

    def __init__(self, inputs: int, hidden: int, layers: int) -> None:
        super().__init__()
        widths = [inputs] + [2 * hidden] * (layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(w, hidden, batch_first=True) for w in widths)
        self.backwards = nn.ModuleList(nn.LSTM(w, hidden, batch_first=True) for w in widths)

    def forward(self, words: Tensor, present: Tensor) -> Tensor:
        """Hidden states [n, N, 2·hidden] of words [n, N, inputs]; undefined at padding."""
        mirror = _mirror(present)[:, :, None]
        for ahead, back in zip(self.forwards, self.backwards, strict=True):
            onwards, _ = ahead(words)
            reverse, _ = back(words.gather(1, mirror.expand_as(words)))
            words = torch.cat([onwards, reverse.gather(1, mirror.expand_as(reverse))], dim=2)
        return words


def _mirror(present: Tensor) -> Tensor:
    """For each place the place it has when the words are read in reverse; padding stays."""
    places = torch.arange(present.shape[1], device=present.device).expand_as(present)
    return torch.where(present, present.sum(dim=1, keepdim=True) - 1 - places, places)


class TitleVocabulary:
    """The words that titles are written with, by their ids in the index."""

    def __init__(self, index: ForwardIndex, size: int) -> None:
        frequency = np.asarray(index.collection_frequency("title"))
        order = np.argsort(-frequency, kind="stable")[:size]
        self.words = order[frequency[order] > 0].astype(np.int64)
        self._symbol = np.full(len(frequency) + 1, _IGNORED, np.int64)
        self._symbol[self.words] = 1 + np.arange(len(self.words))

    def symbols(self, titles: Int64) -> Int64:
        """The targets [n, L] of titles [n, L], padded with -1: words of the vocabulary and an end.

        A title that fills its row may go on and has no end. -100 is ignored.
        """
        symbols = self._symbol[titles]
        lengths = (titles != PADDING).sum(axis=1)
        ended = np.flatnonzero((lengths > 0) & (lengths < titles.shape[1]))
        symbols[ended, lengths[ended]] = END
        return symbols


class TitleDecoder(nn.Module):
    """An LSTM that writes an article's title from v_d, used in training only (section 3.2.3).

    The paper's is bidirectional, which cannot write from left to right; this one is not. v_d is its
    first state and an input of every step. The encoder reads the abstract alone, so that words are
    not copied.
    """

    def __init__(self, vector: int, word: int, hidden: int, vocabulary: int) -> None:
        super().__init__()
        self.start = nn.Linear(vector, 2 * hidden)
        self.lstm = nn.LSTM(word + vector, hidden, batch_first=True)
        self.to_word = nn.Linear(hidden, word)
        self.end = nn.Parameter(0.1 * torch.randn(1, word))
        self.bias = nn.Parameter(torch.zeros(vocabulary + 1))

    def loss(self, documents: Tensor, words: Tensor, symbols: Tensor) -> Tensor:
        """The mean cross-entropy of the next word (equation 6); 0 without targets.

        Each word follows the one before it in the title, or END where that is not in the
        vocabulary. `documents` [n, vector] are v_d, `words` the projected vectors of the
        vocabulary.
        """
        table = torch.cat([self.end, words])
        before = functional.pad(symbols[:, :-1], (1, 0), value=END).clamp(min=END)
        hidden, cell = (
            state[None].contiguous() for state in self.start(documents).tanh().chunk(2, dim=1)
        )
        steps = documents[:, None].expand(-1, symbols.shape[1], -1)
        states, _ = self.lstm(torch.cat([table[before], steps], dim=2), (hidden, cell))
        is_target = symbols != _IGNORED
        logits: Tensor = self.to_word(states[is_target]) @ table.T + self.bias
        if not len(logits):
            return logits.sum()
        return functional.cross_entropy(logits, symbols[is_target])
