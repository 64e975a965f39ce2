"""The 18 lexical match features of Delta (Mohan et al., WWW 2018, "Lexical Match Features").

Each is a kind of match of a query Q with a field F of a document. With idf(w) = log(1 + (N - df(w)
+ 0.5) / (df(w) + 0.5)), k1 = 2.0 and b = 0.75, BM25 is the sum over the query's words of idf(w) ·
tf · (k1 + 1) / (tf + k1 · (1 - b + b · |F| / average |F|)). Other features count distinct words;
words that the collection lacks (-1, df = 0) count each time. A division by 0 gives 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator

from irplatform.errors import unknown
from irplatform.text.forward_index import FIELDS, inverse_document_frequency

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.text.arrays import Float64, Int32, Int64
    from irplatform.text.forward_index import ForwardIndex, TextField


Array = TypeVar("Array")

K1 = 2.0
B = 0.75


class MatchFeatures(Generic[Array]):
    """Match features from the counts of `FieldMatch`, of numpy or of torch on a device.

    They are methods, which return float64 [documents], or [fields, documents] of several fields.
    """

    def overlap(self: Any) -> Array:
        """|Q ∩ F| / |Q|."""
        ratio: Array = _ratio(self.present.sum(axis=-1), self.size)
        return ratio

    def jaccard(self: Any) -> Array:
        """|Q ∩ F| / |Q ∪ F|."""
        shared = self.present.sum(axis=-1)
        ratio: Array = _ratio(shared, self.size + self.unique_counts - shared)
        return ratio

    def idf_overlap(self: Any) -> Array:
        """|Q ∩ F| / |Q|, every word counted by its IDF."""
        ratio: Array = _ratio(self._idf_shared(), self.idf_of_query)
        return ratio

    def idf_jaccard(self: Any) -> Array:
        """|Q ∩ F| / |Q ∪ F|, every word counted by its IDF."""
        shared = self._idf_shared()
        ratio: Array = _ratio(shared, self.idf_of_query + self.idf_mass - shared)
        return ratio

    def _idf_shared(self: Any) -> Array:
        # Not a matrix product, whose last digits depend on the number of documents.
        total: Array = (self.present * self.idf).sum(axis=-1)
        return total

    def bigram_overlap(self: Any) -> Array:
        """Share of the query's distinct bigrams that each document has."""
        ratio: Array = _ratio(*self.bigrams)
        return ratio

    def bm25(self: Any, k1: float = K1, b: float = B) -> Array:
        """BM25 of each document (k1 from 0, b from 0 to 1); see the module for the formula."""
        saturation = k1 * (1 - b + b * self.lengths / self.average_length)
        absent = self.frequencies == 0  # with k1 = 0, 0 / 0 otherwise
        weights = self.frequencies * (k1 + 1) / (self.frequencies + saturation[..., None] + absent)
        total: Array = (weights * (self.idf * self.repeats)).sum(axis=-1)
        return total


@dataclass(frozen=True)
class FieldMatch(MatchFeatures["Float64"]):
    """The match of a query with one field of documents, computed on demand.

    `query` is int32 [words], -1 for words that the collection lacks; `rows` are the documents' in
    the index.
    """

    index: ForwardIndex
    field: TextField
    query: Int32
    rows: Int64

    @cached_property
    def tokens(self) -> tuple[Int32, Int64]:
        """All words of the documents, and where each begins; see `ForwardIndex.tokens`."""
        return self.index.tokens(self.rows, self.field)

    @cached_property
    def known(self) -> Int32:
        """The distinct words of the query that the collection has, ascending: int32 [known]."""
        words: Int32 = np.unique(self.query[self.query >= 0])
        return words

    @cached_property
    def unknown(self) -> int:
        """The number of the query's other words, repetitions included."""
        return int(np.count_nonzero(self.query < 0))

    @property
    def size(self) -> int:
        """The number of the query's distinct known words and of its other words."""
        return len(self.known) + self.unknown

    @cached_property
    def repeats(self) -> Int64:
        """How often the query has each known word: int64 [known]."""
        counts: Int64 = np.unique(self.query[self.query >= 0], return_counts=True)[1]
        return counts

    @cached_property
    def lengths(self) -> Int32:
        """Words in the field of each document: int32 [documents]."""
        return self.index.lengths(self.field, self.rows)

    @property
    def unique_counts(self) -> Int32:
        """Distinct words in the field of each document: int32 [documents]."""
        return self.index.unique_counts(self.field, self.rows)

    @property
    def idf_mass(self) -> Float64:
        """The summed IDF of the distinct words in the field of each document."""
        return self.index.idf_mass(self.field, self.rows)

    @property
    def average_length(self) -> float:
        """The mean number of words of the field, over all documents; 1 where none has any."""
        return self.index.average_length(self.field) or 1.0

    @cached_property
    def frequencies(self) -> Int64:
        """How often each known word occurs in each document: int64 [documents, known]."""
        tokens, offsets = self.tokens
        shape = (len(self.rows), len(self.known))
        if not tokens.size or not len(self.known):
            return np.zeros(shape, dtype=np.int64)
        hits = np.flatnonzero(_is_one_of(tokens, self.known))
        documents = np.searchsorted(offsets, hits, side="right") - 1
        words = np.searchsorted(self.known, tokens[hits])
        cells = documents * shape[1] + words
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)

    @cached_property
    def present(self) -> Float64:
        """1 where a document has a known word, else 0: float64 [documents, known]."""
        return (self.frequencies > 0).astype(np.float64)

    @cached_property
    def idf(self) -> Float64:
        """The IDF of the known words: float64 [known]."""
        return self.index.idf(self.field)[self.known]

    @cached_property
    def idf_of_query(self) -> float:
        """The sum of the IDF of the distinct words of the query, unknown ones included."""
        absent = np.zeros(1, dtype=np.int32)
        return float(
            self.idf.sum() + self.unknown * inverse_document_frequency(absent, self.index.count)[0]
        )

    @property
    def bigrams(self) -> tuple[Float64, int]:
        """How many of the query's distinct bigrams each document has, and how many there are."""
        pairs, unknown_pairs = known_bigrams(self.query)
        tokens, offsets = self.tokens
        shared = np.zeros(len(self.rows))
        if tokens.size:
            inside = np.ones(len(tokens), dtype=bool)  # a document's last word begins no bigram
            inside[offsets[1:][np.diff(offsets) > 0] - 1] = False
            for first, second in pairs:
                starts = np.flatnonzero((tokens[:-1] == first) & (tokens[1:] == second))
                documents = np.searchsorted(offsets, starts[inside[starts]], side="right") - 1
                shared[np.unique(documents)] += 1
        return shared, len(pairs) + unknown_pairs


def _is_one_of(tokens: Int32, words: Int32) -> npt.NDArray[np.bool_]:
    hits: npt.NDArray[np.bool_] = tokens == words[0]
    for word in words[1:]:
        hits |= tokens == word
    return hits


def known_bigrams(query: Int32) -> tuple[set[tuple[int, int]], int]:
    """The distinct bigrams of known words, and the number of the others."""
    pairs = list(pairwise(query.tolist()))
    bigrams = {pair for pair in pairs if min(pair) >= 0}
    return bigrams, sum(min(pair) < 0 for pair in pairs)


def _ratio(numerator: Any, denominator: Any) -> Any:
    return numerator / (denominator + (denominator <= 0))  # where that is 0, so is the numerator


_OVERLAPS = ("overlap", "bigram_overlap", "jaccard", "idf_overlap", "idf_jaccard")

ALL18: tuple[str, ...] = (
    *(f"{kind}_text" for kind in _OVERLAPS),
    *("bm25_title", "bm25_abstract", "bm25_text"),
    *(f"{kind}_title" for kind in _OVERLAPS),
    *(f"{kind}_abstract" for kind in _OVERLAPS),
)
"""All features, in the order of the paper: its number n is at place n - 1."""


def _only_known(names: tuple[str, ...]) -> tuple[str, ...]:
    if other := next((name for name in names if name not in ALL18), ""):
        raise ValueError(f"'{other}' is not one of {', '.join(ALL18)}")
    return names


LexicalNames = Annotated[tuple[str, ...], AfterValidator(_only_known)]
"""The type of an option that names some of these features."""


def lexical_features(
    index: ForwardIndex, query_ids: Int32, rows: Int64, names: Sequence[str] = ALL18
) -> npt.NDArray[np.float32]:
    """Lexical match features of a query with documents, float32 [len(rows), len(names)].

    Query ids and rows are those of the index; InputError for an unknown name.
    """
    values = np.zeros((len(rows), len(names)), dtype=np.float32)
    matches = {field: FieldMatch(index, field, query_ids, rows) for field in FIELDS}
    for column, (kind, field) in enumerate(kinds_and_fields(names)):
        values[:, column] = getattr(matches[field], kind)()
    return values


def kinds_and_fields(names: Sequence[str]) -> list[tuple[str, TextField]]:
    """The methods of `MatchFeatures` that features are, and their fields.

    Raises:
        InputError: a name is unknown.
    """
    for name in names:
        if name not in ALL18:
            raise unknown("lexical feature", name, ALL18)
    return [(kind, field) for kind, _, field in (name.rpartition("_") for name in names)]  # type: ignore[misc]
