"""Document words beside the closest query word, the input of both Delta models.

The closest query word has the nearest vector by Euclidean distance (Mohan et al., BioNLP 2017,
section 4.3; WWW 2018, section 3.2). It is looked for once per distinct word of the candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.kit import Reading, on_device, square_root, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from irplatform.kit import DeviceCandidates, Float32, ForwardIndex, Int64, WordVectors
    from irplatform.plugin import Documents, Topic
    from irplatform_delta.options import Delta2017Options, DeltaOptions


FEATURES = 3  # cosine, distance and proximity
_FAR = 1e30  # squared distance of no query word


@dataclass(frozen=True)
class Words:
    """Document words beside their closest query words, of one query or several."""

    word: Tensor  # int64 [u], its row of the word vectors
    closest: Tensor  # int64 [u], the row of each word's closest query word
    features: Tensor  # float32 [u, 3], cosine, Euclidean distance and proximity to it
    active: Tensor  # bool [u], False where the word, or all of the query, has no vector: δ is 0

    def padded(self, row: int) -> Words:
        """The same words and, behind them, padding, whose row of the word vectors this is."""
        pad = functional.pad
        return Words(
            pad(self.word, (0, 1), value=row),
            pad(self.closest, (0, 1), value=row),
            pad(self.features, (0, 0, 0, 1)),
            pad(self.active, (0, 1)),
        )


def relate(
    vectors: Tensor,
    norms: Tensor,
    words: Tensor,
    query: Tensor,
    unknown: int,
    topic: Tensor | None = None,
) -> Words:
    """Find the closest query word of each word, and the Delta features (section 3.2).

    `vectors` are [rows, V], `norms` their lengths; `words` [u] are rows of them, and `unknown` is
    that of UNK. `query` [topics, m] are rows, of UNK for padding; `topic` [u] is the place of each
    word's topic, or None where there is only one.
    """
    active = words != unknown
    if not query.shape[1]:
        zeros = torch.zeros(len(words), FEATURES, device=vectors.device)
        return Words(words, words, zeros, torch.zeros_like(active))
    rows, query_rows = query.flatten(), query.flatten()[:, None]  # per word below: [m, u]
    if topic is None or len(words) < len(vectors):
        dots = vectors[rows] @ vectors.index_select(0, words).T  # twice as fast as vectors[words]
    else:
        dots = (vectors[rows] @ vectors.T).index_select(1, words)
    if topic is not None:
        of_topic = (
            topic * query.shape[1] + torch.arange(query.shape[1], device=topic.device)[:, None]
        )
        dots, query_rows = dots.gather(0, of_topic), rows[of_topic]
        active = active & (query != unknown).any(dim=1)[topic]
    lengths = norms[words]
    # |d − q|² expanded loses digits where the two are equal; there it is zero by definition.
    squared = (lengths**2 - 2 * dots).add_(norms[query_rows] ** 2).clamp_(min=0)
    squared.masked_fill_(words == query_rows, 0)
    if topic is not None:
        squared.masked_fill_(query_rows == unknown, _FAR)
    least, position = squared.min(dim=0)
    closest = query_rows.expand_as(squared).gather(0, position[None])[0]
    distance = square_root(least)
    pair = lengths, norms[closest]
    dot = dots.gather(0, position[None])[0]
    cosine = dot / (pair[0] * pair[1]).clamp(min=1e-12)
    proximity = 1 - distance / (pair[0] + pair[1]).clamp(min=1e-12)
    features = torch.stack([cosine, distance, proximity], dim=1)
    return Words(words, closest, features * active[:, None], active)


def distinct_rows(padding: int, *rows: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct rows in int64 tensors, ascending, and the place of every row among them.

    `padding` is the number of rows; an entry of this value stands for none, and its place is the
    number of distinct rows. Marking rows beats sorting, since entries are many.
    """
    marks = torch.zeros(padding + 1, dtype=torch.int64, device=rows[0].device)
    for tensor in rows:
        marks[tensor] = 1
    marks[padding] = 0
    place = marks.cumsum(0) - marks
    distinct = marks.nonzero()[:, 0]
    place[padding] = len(distinct)
    return distinct, place


@dataclass(frozen=True)
class Encoded:
    """Candidates of a topic, or of several, as the network takes them."""

    words: Words  # the u words of the documents, in relation to the query
    documents: Tensor  # int64 [n, N], indexes into `words`; u marks padding
    lexical: Tensor  # float32 [n, L]

    def with_features(self, values: Float32) -> Encoded:
        if not values.shape[1]:
            return self
        more = torch.from_numpy(values).to(self.lexical.device)
        return replace(self, lexical=torch.cat([self.lexical, more], dim=1))


class Encoder:
    """Turns topics and candidates into tensors, on one device; `vectors` are [rows, V]."""

    def __init__(
        self,
        index: ForwardIndex,
        vectors: WordVectors,
        options: DeltaOptions | Delta2017Options,
        device: str,
    ) -> None:
        self._documents = on_device(index, device)
        self._options = options
        self._word_vectors = vectors
        self._reading = Reading(self._query, options.lexical)
        self.device = device
        # The last entry stands for padding (-1) and is never read.
        rows = np.append(vectors.align(index.vocabulary), vectors.unk).astype(np.int64)
        self._rows = torch.from_numpy(rows).to(device)
        self.vectors = torch.from_numpy(np.array(vectors.matrix)).to(device)
        self.norms = self.vectors.norm(dim=1)

    def score(
        self,
        batch: Sequence[tuple[Topic, Documents]],
        score: Callable[[Encoded], Tensor],
        features: Sequence[Float32] = (),
    ) -> list[Sequence[float]]:
        """Score the documents of topics, which may have further features."""
        return self._documents.score(
            batch, self._reading, lambda candidates: score(self._encoded(candidates)), features
        )

    def encode(self, topic: Topic, doc_ids: Sequence[str]) -> Encoded:
        """Encode documents of a topic; query words that the collection lacks may have a vector."""
        return self._encoded(self._documents.of(topic, doc_ids, self._reading))

    def _query(self, topic: Topic) -> Int64:
        words = tokenize(topic.query)[: self._options.query_words]
        return self._word_vectors.known_rows(words)

    def _encoded(self, candidates: DeviceCandidates) -> Encoded:
        words, places, topic = candidates.words(self._options.document_words)
        unknown = self._word_vectors.unk
        query = candidates.query.where(candidates.query >= 0, unknown)
        related = relate(self.vectors, self.norms, self._rows[words], query, unknown, topic)
        return Encoded(related, places, candidates.features)


def joined(topics: Iterable[Encoded]) -> Encoded:
    """The candidates of several topics, one behind the other, in 32-bit integers."""
    parts = []
    for encoded in topics:  # at once: 32 bits halve the memory
        words = encoded.words
        words = replace(words, word=words.word.int(), closest=words.closest.int())
        parts.append(replace(encoded, words=words, documents=encoded.documents.int()))
    total = sum(len(part.words.word) for part in parts)
    documents, start = [], 0
    for part in parts:
        # A topic's padding is its number of words; after joining, the number of all.
        padding = part.documents == (size := len(part.words.word))
        documents.append((part.documents + start).masked_fill_(padding, total))
        start += size
    names = ("word", "closest", "features", "active")
    words = Words(*(torch.cat([getattr(part.words, name) for part in parts]) for name in names))
    return Encoded(words, torch.cat(documents), torch.cat([part.lexical for part in parts]))
