"""Lexical match features on a GPU, of documents of several topics at once; see `lexical`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from irplatform.text.forward_index import FIELDS
from irplatform.text.lexical import FieldMatch, MatchFeatures, kinds_and_fields, known_bigrams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.text.arrays import Float64, Int32, Int64
    from irplatform.text.forward_index import ForwardIndex

    Array = npt.NDArray[Any]

Facts = TypeVar("Facts")
_ABSENT = -2
"""Pads the words of queries; no document has it."""


def statistics(index: ForwardIndex, rows: Int64 | None) -> Float64:
    """Per field the words, distinct words and summed IDF of documents: [documents, 9]."""
    of_field = [
        statistic(field, rows)
        for field in FIELDS
        for statistic in (index.lengths, index.unique_counts, index.idf_mass)
    ]
    return np.stack(of_field, axis=1, dtype=np.float64)


class QueryFacts(NamedTuple, Generic[Facts]):
    """Facts about the queries of n topics or documents, as arrays or as tensors on a device."""

    words: Facts
    """The known words of the query, int32 [n, k]."""
    repeats: Facts
    """How often the query has each of them, int64 [n, k]."""
    sizes: Facts
    """The numbers of its words and bigrams, int64 [n, 2]."""
    idf_of_query: Facts
    """The sums of its IDF in each field, float64 [n, 3]."""
    idf: Facts
    """The IDF of the known words in each field, float64 [3, n, k]."""
    pairs: Facts
    """Both words of its bigrams, int64 [2, n, p]."""
    average_lengths: Facts
    """The average lengths of the fields, float64 [n, 3]."""


def query_facts(index: ForwardIndex, queries: Sequence[Int32]) -> QueryFacts[Array]:
    """The facts that `DeviceMatch` needs about each topic's query."""
    matches = [[FieldMatch(index, field, q, np.arange(0)) for field in FIELDS] for q in queries]
    texts = [of_fields[-1] for of_fields in matches]
    bigrams = [known_bigrams(query) for query in queries]
    pairs = [
        np.array(sorted(bigram_set), dtype=np.int64).reshape(-1, 2) for bigram_set, _ in bigrams
    ]
    sizes = [
        [text.size, len(bigram_set) + unknown]
        for text, (bigram_set, unknown) in zip(texts, bigrams, strict=True)
    ]
    idf = [
        padded([of_fields[number].idf for of_fields in matches], 0) for number in range(len(FIELDS))
    ]
    return QueryFacts(
        padded([text.known for text in texts], _ABSENT),
        padded([text.repeats for text in texts], 0),
        np.array(sizes),
        np.array([[of_field.idf_of_query for of_field in of_fields] for of_fields in matches]),
        np.stack(idf),
        np.stack([padded([pair[:, side] for pair in pairs], _ABSENT) for side in (0, 1)]),
        np.array([[of_field.average_length for of_field in of_fields] for of_fields in matches]),
    )


class DeviceMatch(MatchFeatures[Tensor]):
    """The matches of `FieldMatch` in all three fields, of documents of several topics.

    Its attributes are tensors [3, documents].

    `words` are [n, longest], padded with -1; `numbers` are `statistics`; `query` describes the
    query of each document's topic, or one query for all.
    """

    def __init__(self, words: Tensor, numbers: Tensor, query: QueryFacts[Tensor]) -> None:
        self.idf, self.repeats = query.idf, query.repeats
        self.idf_of_query, self.average_length = query.idf_of_query.T, query.average_lengths.T
        self.size, self._bigrams = query.sizes.unbind(dim=1)
        self._pairs, self._words = query.pairs, words
        of_fields = numbers.view(len(numbers), len(FIELDS), -1).permute(2, 1, 0)
        self.lengths, self.unique_counts, self.idf_mass = of_fields.unbind()
        place = torch.arange(words.shape[1], device=words.device)
        in_title = place < self.lengths[0, :, None]
        self._inside = torch.stack([in_title, ~in_title, torch.ones_like(in_title)])[..., None]
        matches = words[:, :, None] == query.words[:, None]
        self.frequencies = (matches & self._inside).sum(dim=2, dtype=torch.float64)
        self.present = (self.frequencies > 0).double()

    def columns(self, names: Sequence[str]) -> Tensor:
        """The features of these names: float32 [documents, names]."""
        features = kinds_and_fields(names)
        values = {
            kind: getattr(self, kind)() for kind in dict.fromkeys(kind for kind, _ in features)
        }
        columns = [values[kind][FIELDS.index(field)] for kind, field in features]
        return torch.stack(columns, dim=1).float()

    @property
    def bigrams(self) -> tuple[Tensor, Tensor]:
        """How many of the query's distinct bigrams each document has, and how many there are."""
        first, second = self._pairs[:, :, None]
        words, inside = self._words[:, :, None], self._inside
        matches = (words[:, :-1] == first) & (words[:, 1:] == second)
        shared = (matches & inside[:, :, :-1] & inside[:, :, 1:]).any(dim=2)
        return shared.sum(dim=2, dtype=torch.float64), self._bigrams


def padded(rows: Sequence[Array], fill: int) -> Array:
    """Arrays as rows of one, padded on the right."""
    width = max(map(len, rows))
    matrix = np.full((len(rows), width), fill, dtype=rows[0].dtype)
    for row, values in zip(matrix, rows, strict=True):
        row[: len(values)] = values
    return matrix
