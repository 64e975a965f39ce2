"""Texts that are scored in place of a collection's documents, with words as in a forward index.

Rerankers read words of documents by row. Inside `substitute`, the rows of a forward index are those
of the texts, behind the rows of its documents. What is stored for documents has no such rows. Words
that the collection lacks are left out: nothing is known of them.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from irplatform.errors import InputError
from irplatform.text.arrays import Float64, Int32, Int64, ragged, without
from irplatform.text.tokenizer import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.data import Document

PADDING = -1
"""Fills the rows of a matrix of word ids, and stands for words that the collection lacks."""


class _Words(Protocol):
    def ids(self, words: Sequence[str]) -> Int32: ...


@dataclass(frozen=True)
class DocumentWords:
    """The words of documents: ids, one document behind the other, each title before its abstract.

    Attributes:
        tokens: int32 [words].
        offsets: int64 [documents + 1], where each document begins.
        title_lengths: int32 [documents].
    """

    tokens: Int32
    offsets: Int64
    title_lengths: Int32

    def matrix(self, rows: Int64, length: int) -> Int32:
        """The first `length` words of documents, padded with -1 on the right."""
        if len(self.tokens) == 0:
            return np.full((len(rows), length), PADDING, dtype=np.int32)
        starts = self.offsets[rows]
        width = np.arange(length)
        indices = starts[:, None] + width
        words = self.tokens.take(indices, mode="clip")
        words[width >= (self.offsets[rows + 1] - starts)[:, None]] = PADDING
        return words

    def of_field(self, rows: Int64, field: str) -> tuple[Int32, Int64]:
        """All words of a field, and where each document begins: see `ForwardIndex.tokens`."""
        starts = self.offsets[rows]
        if field == "abstract":
            starts = starts + self.title_lengths[rows]
        indices, offsets = ragged(starts, self.lengths(rows, field))
        return self.tokens[indices], offsets

    def lengths(self, rows: Int64, field: str) -> Int64:
        """The number of words of a field."""
        titles = self.title_lengths[rows].astype(np.int64)
        if field == "title":
            return titles
        lengths: Int64 = self.offsets[rows + 1] - self.offsets[rows]
        return lengths - titles if field == "abstract" else lengths


class GivenTexts:
    """Documents by id that stand in for those of a collection."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.documents = documents
        self._places = {doc_id: place for place, doc_id in enumerate(documents)}
        self._words: dict[int, tuple[_Words, DocumentWords]] = {}

    def places(self, doc_ids: Sequence[str]) -> Int64:
        """The places of documents among the texts."""
        return np.array([self._places[doc_id] for doc_id in doc_ids], dtype=np.int64)

    def words(self, vocabulary: _Words) -> DocumentWords:
        """Their words that a vocabulary has."""
        if id(vocabulary) not in self._words:  # the vocabulary is kept, so its id stays its own
            self._words[id(vocabulary)] = vocabulary, self._read(vocabulary)
        return self._words[id(vocabulary)][1]

    def _read(self, vocabulary: _Words) -> DocumentWords:
        parts = [tokenize(part) for d in self.documents.values() for part in (d.title, d.abstract)]
        distinct = {word: place for place, word in enumerate({w for part in parts for w in part})}
        ids = vocabulary.ids(list(distinct))
        places = np.array([distinct[word] for part in parts for word in part], dtype=np.int64)
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        words = ids[places]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        words, ends = without(words, ends, words < 0)
        return DocumentWords(words, ends[::2], np.diff(ends)[::2].astype(np.int32))


def distinct_of(words: tuple[Int32, Int64], weights: Float64 | None = None) -> Float64:
    """Per document, the number of its distinct words, or the sum of their weights: [documents]."""
    tokens, offsets = words
    documents = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    size = int(tokens.max(initial=0)) + 1
    pairs = np.unique(documents * size + tokens)
    values = None if weights is None else weights[pairs % size]
    counts = np.bincount(pairs // size, weights=values, minlength=len(offsets) - 1)
    return np.asarray(counts, dtype=np.float64)


_given: ContextVar[GivenTexts | None] = ContextVar("given texts", default=None)


def given_texts() -> GivenTexts | None:
    """The texts that are scored now; None where documents of a collection are."""
    return _given.get()


@contextmanager
def substitute(texts: GivenTexts) -> Iterator[None]:
    """Let texts stand in for documents, in this thread."""
    token = _given.set(texts)
    try:
        yield
    finally:
        _given.reset(token)


def refuse_texts(fact: str) -> None:
    """Raise an InputError if texts are scored: `fact` is only stored for documents."""
    if given_texts() is not None:
        raise InputError(
            f"a text has no {fact}, which this reranker reads: score documents of the collection "
            "by id, or train one without it."
        )
