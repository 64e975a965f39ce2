"""What a worker process makes of some documents while a forward index is built.

A batch numbers its words on its own, so that batches can be read independently of one another;
`forward_build` gives the words their final ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from irplatform.text.tokenizer import normalize, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from irplatform.plugin import Document
    from irplatform.text.arrays import Int32, Int64
    from irplatform.text.forward_index import Field

BATCH_DOCUMENTS = 1_000
BATCH_CHARACTERS = 4_000_000

_FIRST_IN_TEXT = 1
_FIRST_IN_ABSTRACT = 2


@dataclass(frozen=True)
class Block:
    """The words of consecutive documents, each title followed by its abstract.

    Attributes:
        tokens: the number of every word.
        flags: per token, whether it is the first of its word in the document, in the abstract.
        title_lengths: words of each title.
        lengths: words of each document.
    """

    tokens: Int32
    flags: npt.NDArray[np.uint8]
    title_lengths: Int32
    lengths: Int32

    def lengths_of(self, field: Field) -> Int32:
        """Words of each document's field."""
        if field == "text":
            return self.lengths
        return self.title_lengths if field == "title" else self.lengths - self.title_lengths

    def within(self, field: Field) -> npt.NDArray[np.bool_]:
        """Which tokens stand in a field."""
        if field == "text":
            return np.ones(len(self.tokens), dtype=bool)
        return self._in_title if field == "title" else ~self._in_title

    def first_in(self, field: Field) -> npt.NDArray[np.bool_]:
        """Which tokens are the first of their word in a document's field."""
        if field == "abstract":
            return (self.flags & _FIRST_IN_ABSTRACT).astype(bool)
        first = (self.flags & _FIRST_IN_TEXT).astype(bool)
        # The title comes first: what is first in it is first in the text, and nothing else is.
        return first & self._in_title if field == "title" else first

    @cached_property
    def documents(self) -> Int64:
        """The document of every token, counted from 0."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def _in_title(self) -> npt.NDArray[np.bool_]:
        return in_title(self.title_lengths, self.lengths)


@dataclass(frozen=True)
class Batch:
    """Some documents in numbers of their own.

    Attributes:
        doc_ids: of the documents.
        words: distinct words in order of first appearance, one a line; a token is an index to it.
        block: the documents' words.
    """

    doc_ids: list[str]
    words: str
    block: Block


class Numbering(dict[str, int]):
    """Gives each new word the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _PieceNumbering(dict[str, int]):
    def __init__(self) -> None:
        super().__init__()
        self.words = Numbering()

    def __missing__(self, piece: str) -> int:
        number = self[piece] = self.words[piece if piece.isalpha() else normalize(piece)]
        return number


def batches(documents: Iterable[Document]) -> Iterator[list[tuple[str, str, str]]]:
    """Cut a stream of documents into lists of (id, title, abstract)."""
    batch: list[tuple[str, str, str]] = []
    characters = 0
    for document in documents:
        batch.append((document.id, document.title, document.abstract))
        characters += len(document.title) + len(document.abstract)
        if len(batch) >= BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
            yield batch
            batch = []
            characters = 0
    if batch:
        yield batch


def read_batch(documents: Sequence[tuple[str, str, str]]) -> Batch:
    """Tokenize and number some documents; runs in a worker."""
    numbering = _PieceNumbering()
    tokens: list[int] = []
    title_lengths = []
    ends = []
    for _, title, abstract in documents:
        start = len(tokens)
        tokens += map(numbering.__getitem__, pieces(title))
        title_lengths.append(len(tokens) - start)
        tokens += map(numbering.__getitem__, pieces(abstract))
        ends.append(len(tokens))
    numbers = np.array(tokens, dtype=np.int32)
    titles = np.array(title_lengths, dtype=np.int32)
    lengths = np.diff(np.array(ends, dtype=np.int64), prepend=0).astype(np.int32)
    return Batch(
        doc_ids=[doc_id for doc_id, _, _ in documents],
        words="\n".join(numbering.words),
        block=Block(numbers, _flags(numbers, titles, lengths), titles, lengths),
    )


def in_title(title_lengths: Int32, lengths: Int32) -> npt.NDArray[np.bool_]:
    """Per token of consecutive documents, whether it is one of a title."""
    parts = np.stack([title_lengths, lengths - title_lengths], axis=1).ravel()
    return np.repeat(np.tile([True, False], len(lengths)), parts)


def _flags(tokens: Int32, title_lengths: Int32, lengths: Int32) -> npt.NDArray[np.uint8]:
    keys = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths) << 32 | tokens
    flags = np.zeros(len(tokens), dtype=np.uint8)
    flags[_first_places(keys)] = _FIRST_IN_TEXT
    abstract = np.flatnonzero(~in_title(title_lengths, lengths))
    flags[abstract[_first_places(keys[abstract])]] |= _FIRST_IN_ABSTRACT
    return flags


def _first_places(keys: Int64) -> Int64:
    return np.unique(keys, return_index=True)[1]
