"""Document words beside the closest query word, the input of both Delta models.

The closest query word has the nearest vector by Euclidean distance (Mohan et al., BioNLP 2017,
section 4.3; WWW 2018, section 3.2). It is looked for once per distinct word of the candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from irplatform.text.forward_index import distinct_words
from irplatform.text.lexical import lexical_features
from irplatform.text.tokenizer import tokenize
from irplatform.training.losses import square_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from irplatform.data import Topic
    from irplatform.text.arrays import Float32
    from irplatform.text.forward_index import ForwardIndex
    from irplatform.text.vectors import WordVectors
    from irplatform_delta.options import Delta2017Options, DeltaOptions


FEATURES = 3  # cosine, distance and proximity


@dataclass(frozen=True)
class Words:
    """Document words beside their closest query words, of one query or several."""

    word: Tensor  # int64 [u], its row of the word vectors
    closest: Tensor  # int64 [u], the row of each word's closest query word
    features: Tensor  # float32 [u, 3], cosine, Euclidean distance and proximity to it
    active: Tensor  # bool [u], False where the word, or all of the query, has no vector: δ is 0


def relate(vectors: Tensor, norms: Tensor, words: Tensor, query: Tensor, unknown: int) -> Words:
    """Find the closest query word of each word, and the Delta features (section 3.2).

    `vectors` are [rows, V], `norms` their lengths; `words` [u] and `query` [m] are rows of them,
    and `unknown` is that of UNK.
    """
    known = query[query != unknown]
    active = (words != unknown) & (len(known) > 0)
    if not len(known):
        zeros = torch.zeros(len(words), FEATURES, device=vectors.device)
        return Words(words, words, zeros, active)
    dots = vectors[known] @ vectors.index_select(0, words).T  # twice as fast as vectors[words]
    lengths = norms[words]
    # |d − q|² expanded loses digits where the two are equal; there it is zero by definition.
    squared = (lengths**2 - 2 * dots).add_(norms[known, None] ** 2).clamp_(min=0)
    squared.masked_fill_(words == known[:, None], 0)
    least, position = squared.min(dim=0)
    closest = known[position]
    distance = square_root(least)
    both = lengths, norms[closest]
    dot = dots.gather(0, position[None])[0]
    cosine = dot / (both[0] * both[1]).clamp(min=1e-12)
    proximity = 1 - distance / (both[0] + both[1]).clamp(min=1e-12)
    features = torch.stack([cosine, distance, proximity], dim=1)
    return Words(words, closest, features * active[:, None], active)


def distinct_rows(padding: int, *rows: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct rows in int64 tensors, ascending, and the place of every row among them.

    `padding` is the number of rows; an entry of this value stands for none, and its place is the
    number of distinct rows. Marking rows beats sorting, since entries are many.
    """
    used = torch.zeros(padding + 1, dtype=torch.int64, device=rows[0].device)
    for tensor in rows:
        used[tensor] = 1
    used[padding] = 0
    place = used.cumsum(0) - used
    distinct = used.nonzero()[:, 0]
    place[padding] = len(distinct)
    return distinct, place


@dataclass(frozen=True)
class Encoded:
    """A topic's candidates as the network takes them."""

    words: Words  # the u distinct words of the documents, in relation to the query
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
        self._index = index
        self._options = options
        self._word_vectors = vectors
        self.device = device
        # The last entry stands for padding (-1) and is never read.
        self._rows = np.append(vectors.align(index.vocabulary), vectors.unk).astype(np.int64)
        self.vectors = torch.from_numpy(np.array(vectors.matrix)).to(device)
        self.norms = self.vectors.norm(dim=1)

    def encode(self, topic: Topic, doc_ids: Sequence[str]) -> Encoded:
        """Encode documents of a topic; query words that the collection lacks may have a vector."""
        query = self._word_vectors.rows(tokenize(topic.query)[: self._options.query_words])
        rows = self._index.rows(doc_ids)
        tokens = self._index.matrix(rows, self._options.document_words)
        distinct, positions = distinct_words(tokens, len(self._rows) - 1)
        words = relate(
            self.vectors,
            self.norms,
            self._to_device(self._rows[distinct]),
            self._to_device(query.astype(np.int64)),
            self._word_vectors.unk,
        )
        query_ids = self._index.query_ids(topic.query)
        lexical = lexical_features(self._index, query_ids, rows, self._options.lexical)
        return Encoded(words, self._to_device(positions), self._to_device(lexical))

    def _to_device(self, array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)


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
