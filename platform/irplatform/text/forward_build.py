"""Builds a forward index in one streaming pass over the documents, with all cores.

Worker processes tokenize and number batches of documents. This process gives the words their final
ids, in order of first appearance, and appends to files. The result is the same for every number of
workers. Memory holds the vocabulary, 16 bytes per document, and a few batches. The IDF mass of
documents is summed in a second pass, since it needs the final document frequencies.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from irplatform.errors import InputError
from irplatform.files.writing import atomic_write
from irplatform.system.console import progress
from irplatform.text.arrays import ArrayWriter, Int64, map_array, write_array
from irplatform.text.forward_index import (
    FIELDS,
    FORWARD_INDEX_FORMAT,
    TextField,
    inverse_document_frequency,
)
from irplatform.text.string_table import StringTableWriter
from irplatform.text.tokenizer import normalize, pieces
from irplatform.workers.distribution import batched, batched_by_size, ordered_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.data import Document
    from irplatform.text.arrays import Int32


BATCH_DOCUMENTS = 1_000
BATCH_CHARACTERS = 4_000_000
_FIRST_IN_TEXT = 1
_FIRST_IN_ABSTRACT = 2
_SECOND_PASS_ROWS = 10_000


def build_forward_index(
    documents: Iterable[Document],
    folder: Path,
    *,
    workers: int | None = None,
    total: int | None = None,
) -> None:
    """Build the forward index of a collection from a stream of documents.

    Files of an earlier attempt are overwritten. `workers` processes tokenize, by default one per
    core; 1 is this process. `total` is about the number of documents, for the progress display.

    Raises:
        InputError: two documents have the same id.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "facts.json").unlink(missing_ok=True)  # without it, there is no index here
    texts = ((document.id, document.title, document.abstract) for document in documents)
    fewest = BATCH_CHARACTERS // BATCH_DOCUMENTS
    batches = batched_by_size(
        texts, lambda text: max(len(text[1]) + len(text[2]), fewest), BATCH_CHARACTERS
    )
    with (
        _Writer(folder) as writer,
        progress("building forward index", total, "documents") as advance,
    ):
        for batch in ordered_map(read_batch, batches, workers=workers):
            writer.add(batch)
            advance(len(batch.doc_ids))
    writer.finish()


def read_batch(documents: Sequence[tuple[str, str, str]]) -> Batch:
    """Tokenize and number some documents; runs in a worker."""
    all_pieces: list[str] = []
    part_lengths = []
    for _, *parts in documents:
        for part in parts:
            start = len(all_pieces)
            all_pieces += pieces(part)
            part_lengths.append(len(all_pieces) - start)
    # Each distinct piece is normalized once.
    words = Numbering()
    number_of = {
        piece: words[piece if piece.isalpha() else normalize(piece)]
        for piece in dict.fromkeys(all_pieces)
    }
    numbers = np.fromiter(map(number_of.__getitem__, all_pieces), np.int32, count=len(all_pieces))
    per_part = np.array(part_lengths, dtype=np.int32).reshape(-1, 2)
    titles, lengths = per_part[:, 0].copy(), per_part.sum(axis=1, dtype=np.int32)
    return Batch(
        doc_ids=[doc_id for doc_id, _, _ in documents],
        words="\n".join(words),
        block=Block(numbers, _flags(numbers, titles, lengths), titles, lengths),
    )


@dataclass(frozen=True)
class Batch:
    """Some documents, with words numbered within the batch, in order of first appearance."""

    doc_ids: list[str]
    words: str
    block: Block


@dataclass(frozen=True)
class Block:
    """The words of consecutive documents, each title followed by its abstract.

    `flags` are per token 1 for the first of its word in the document, + 2 in the abstract.
    """

    tokens: Int32
    flags: npt.NDArray[np.uint8]
    title_lengths: Int32
    lengths: Int32

    def lengths_of(self, field: TextField) -> Int32:
        """Words in the field of each document."""
        if field == "text":
            return self.lengths
        return self.title_lengths if field == "title" else self.lengths - self.title_lengths

    def within(self, field: TextField) -> npt.NDArray[np.bool_]:
        """True for the tokens in a field."""
        if field == "text":
            return np.ones(len(self.tokens), dtype=bool)
        return self._in_title if field == "title" else ~self._in_title

    def first_in(self, field: TextField) -> npt.NDArray[np.bool_]:
        """True for the first token of each word in a document's field."""
        if field == "abstract":
            return (self.flags & _FIRST_IN_ABSTRACT).astype(bool)
        first = (self.flags & _FIRST_IN_TEXT).astype(bool)
        # The title comes first, so its first tokens are also those of the text.
        return first & self._in_title if field == "title" else first

    @cached_property
    def documents(self) -> Int64:
        """The document of every token, counted from 0."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def _in_title(self) -> npt.NDArray[np.bool_]:
        return in_title(self.title_lengths, self.lengths)


def in_title(title_lengths: Int32, lengths: Int32) -> npt.NDArray[np.bool_]:
    """Per token of consecutive documents, True in a title."""
    parts = np.stack([title_lengths, lengths - title_lengths], axis=1).ravel()
    return np.repeat(np.tile([True, False], len(lengths)), parts)


def _flags(tokens: Int32, title_lengths: Int32, lengths: Int32) -> npt.NDArray[np.uint8]:
    keys = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths) << 32 | tokens
    flags = np.zeros(len(tokens), dtype=np.uint8)
    flags[np.unique(keys, return_index=True)[1]] = _FIRST_IN_TEXT
    abstract = np.flatnonzero(~in_title(title_lengths, lengths))
    flags[abstract[np.unique(keys[abstract], return_index=True)[1]]] |= _FIRST_IN_ABSTRACT
    return flags


class Numbering(dict[str, int]):
    """Gives each new word the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Writer:
    """Appends batches to the files of an index, then completes them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = ExitStack()
        opened = self._files.enter_context
        self._vocabulary = Numbering()
        self._doc_ids = opened(StringTableWriter(folder, "doc-ids"))
        self._tokens = opened(ArrayWriter(folder / "tokens.int32", np.int32))
        self._flags = opened(ArrayWriter(folder / "flags.uint8", np.uint8))
        self._offsets = opened(ArrayWriter(folder / "offsets.int64", np.int64))
        self._title_lengths = opened(ArrayWriter(folder / "title-lengths.int32", np.int32))
        self._fields = {field: _FieldWriter(folder, field, self._files) for field in FIELDS}
        self._offsets.append(np.zeros(1, dtype=np.int64))

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, batch: Batch) -> None:
        words = batch.words.split("\n") if batch.words else []
        ids = np.fromiter(map(self._vocabulary.__getitem__, words), np.int64, count=len(words))
        block = batch.block
        self._doc_ids.extend(batch.doc_ids)
        self._offsets.append(self._tokens.size + np.cumsum(block.lengths, dtype=np.int64))
        self._tokens.append(ids[block.tokens])
        self._flags.append(block.flags)
        self._title_lengths.append(block.title_lengths)
        for field in self._fields.values():
            field.add(block, ids, len(self._vocabulary))

    def finish(self) -> None:
        """Write what needs the whole collection."""
        folder = self._folder
        if (twice := self._doc_ids.finish()) is not None:
            raise InputError(f"two documents have the id '{twice}'. Ids must be unique.")
        with StringTableWriter(folder, "words") as words:
            for part in batched(self._vocabulary, 100_000):
                words.extend(part)
        words.finish()
        for field in self._fields.values():
            field.finish(len(self._vocabulary))
        _sum_idf_masses(folder)
        (folder / "flags.uint8").unlink()
        count = self._title_lengths.size
        facts = {
            "format": FORWARD_INDEX_FORMAT,
            "documents": count,
            "words": len(self._vocabulary),
            "tokens": self._tokens.size,
            "average_lengths": {
                name: field.words / count if count else 0.0 for name, field in self._fields.items()
            },
        }
        with atomic_write(folder / "facts.json") as file:
            json.dump(facts, file, indent=1)


class _FieldWriter:
    def __init__(self, folder: Path, field: TextField, stack: ExitStack) -> None:
        self._folder = folder
        self._field = field
        self._lengths = stack.enter_context(ArrayWriter(folder / f"{field}.lengths.int32", "i4"))
        self._unique = stack.enter_context(ArrayWriter(folder / f"{field}.unique.int32", "i4"))
        self._document_frequency = _Counts()
        self._collection_frequency = _Counts()
        self.words = 0

    def add(self, block: Block, ids: Int64, size: int) -> None:
        field = self._field
        first = block.first_in(field)
        per_document = np.bincount(block.documents[first], minlength=len(block.lengths))
        documents = np.bincount(block.tokens[first], minlength=len(ids))
        occurrences = np.bincount(block.tokens[block.within(field)], minlength=len(ids))
        self._lengths.append(block.lengths_of(field))
        self._unique.append(per_document)
        self._document_frequency.add(ids, documents, size)
        self._collection_frequency.add(ids, occurrences, size)
        self.words += int(occurrences.sum())

    def finish(self, size: int) -> None:
        path = self._folder / f"{self._field}.df.int32"
        write_array(path, self._document_frequency.first(size).astype(np.int32))
        path = self._folder / f"{self._field}.cf.int64"
        write_array(path, self._collection_frequency.first(size))


class _Counts:
    def __init__(self) -> None:
        self._values = np.zeros(1 << 16, dtype=np.int64)

    def add(self, words: Int64, numbers: Int64, size: int) -> None:
        if size > len(self._values):
            self._values = np.pad(self._values, (0, max(size, len(self._values))))
        self._values[words] += numbers  # the words of a batch are distinct

    def first(self, size: int) -> Int64:
        return self._values[:size]  # every word was added


def _sum_idf_masses(folder: Path) -> None:
    tokens = map_array(folder / "tokens.int32", np.int32)
    flags = map_array(folder / "flags.uint8", np.uint8)
    offsets = map_array(folder / "offsets.int64", np.int64)
    lengths = map_array(folder / "text.lengths.int32", np.int32)
    title_lengths = map_array(folder / "title-lengths.int32", np.int32)
    count = len(lengths)
    for field in FIELDS:
        document_frequency = map_array(folder / f"{field}.df.int32", np.int32)
        idf = inverse_document_frequency(document_frequency, count)
        with ArrayWriter(folder / f"{field}.idf-mass.float64", np.float64) as writer:
            for start in range(0, count, _SECOND_PASS_ROWS):
                rows = slice(start, min(count, start + _SECOND_PASS_ROWS))
                part = slice(offsets[rows.start], offsets[rows.stop])
                block = Block(tokens[part], flags[part], title_lengths[rows], lengths[rows])
                first = block.first_in(field)
                weights = idf[block.tokens[first]]
                documents = block.documents[first]
                writer.append(
                    np.bincount(documents, weights=weights, minlength=rows.stop - rows.start)
                )
