"""The forward index: every document's words as numbers, with the statistics of title and abstract.

Rerankers read the words of candidates from it instead of tokenizing again. It is a folder of
memory-mapped arrays, which `forward_build` makes. A document is its title and then its abstract;
the field "text" is both. Every word has an id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from irplatform.errors import PlatformError
from irplatform.files.cache import kept_facts
from irplatform.text.arrays import Float64, Int32, Int64, Number, map_array, ragged, without
from irplatform.text.given_texts import DocumentWords, distinct_of, given_texts, refuse_texts
from irplatform.text.string_table import UNKNOWN, StringTable, Vocabulary
from irplatform.text.tokenizer import STOP_WORDS, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


TextField = Literal["title", "abstract", "text"]
FIELDS: tuple[TextField, ...] = ("title", "abstract", "text")
FORWARD_INDEX_FORMAT = 1
"""Of the folder's files. Raise it to build cached indexes anew."""
_BLOCK = 20_000
"""Documents at once."""


class NotIndexedError(PlatformError):
    """A document is not in the forward index."""


class ForwardIndex:
    """A forward index on disk. A *row* is a document's place in the collection's stream, from 0.

    `given_texts` returns the texts that are scored in place of documents, or None; `refuse_texts`
    raises an InputError where there are any, for what is stored for documents alone. `ragged` and
    `without` make indices and parts of flat arrays, such as those of `tokens`.
    """

    FIELDS: ClassVar[tuple[TextField, ...]] = FIELDS
    FORMAT: ClassVar[int] = FORWARD_INDEX_FORMAT
    given_texts = staticmethod(given_texts)
    refuse_texts = staticmethod(refuse_texts)
    distinct_counts = staticmethod(distinct_of)
    ragged = staticmethod(ragged)
    without = staticmethod(without)

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        facts = kept_facts(folder, "a forward index", FORWARD_INDEX_FORMAT)
        documents = DocumentWords(
            map_array(folder / "tokens.int32", np.int32),
            map_array(folder / "offsets.int64", np.int64),
            map_array(folder / "title-lengths.int32", np.int32),
        )
        self._start(
            facts["documents"],
            Vocabulary.open(folder, "words"),
            facts["average_lengths"],
            StringTable.open(folder, "doc-ids"),
            documents,
        )

    def _start(
        self,
        count: int,
        vocabulary: Vocabulary,
        average_lengths: dict[str, float],
        doc_ids: StringTable,
        documents: DocumentWords,
    ) -> None:
        self.count = count
        self.vocabulary = vocabulary
        self._average_lengths = average_lengths
        self._doc_ids = doc_ids
        self._documents = documents
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._idf: dict[TextField, Float64] = {}

    @classmethod
    def open(cls, folder: Path) -> ForwardIndex:
        """Memory-map the index in a folder; PlatformError if it has none of this format."""
        if not (folder / "facts.json").exists():
            raise PlatformError(f"{folder}: there is no forward index here.")
        return cls(folder)

    @property
    def held(self) -> int:
        """How many documents it holds: `count`, or none where it was kept for its statistics."""
        return len(self._doc_ids)

    def rows(self, doc_ids: Sequence[str]) -> Int64:
        """The rows of documents: int64 [len(doc_ids)]; PlatformError names a missing one."""
        if (texts := given_texts()) is not None:
            return self.held + texts.places(doc_ids)
        rows = self._doc_ids.find(doc_ids)
        if len(rows) and rows.min() == UNKNOWN:
            missing = doc_ids[int(np.argmin(rows))]
            raise NotIndexedError(f"document '{missing}' is not in the forward index.")
        return rows

    def find(self, doc_ids: Sequence[str]) -> Int64:
        """The rows of documents, -1 for those that the collection lacks: int64 [len(doc_ids)]."""
        return self._doc_ids.find(doc_ids)

    def doc_ids(self, rows: Sequence[int] | Int64) -> list[str]:
        """The ids of the documents in some rows."""
        if (texts := given_texts()) is not None:
            ids = [*texts.documents]
            return [ids[int(row) - self.held] for row in rows]
        return [self._doc_ids[int(row)] for row in rows]

    def matrix(self, rows: Int64, length: int) -> Int32:
        """The first `length` words of documents, title first: word ids, int32 [documents, length].

        Shorter documents are padded with -1 on the right.
        """
        words, places = self._words(rows)
        return words.matrix(places, length)

    def tokens(self, rows: Int64, field: TextField = "text") -> tuple[Int32, Int64]:
        """All words of a field of documents, one document after the other.

        Returns:
            The word ids, int32 [words], and where each document begins, int64 [documents + 1].
        """
        words, places = self._words(rows)
        return words.of_field(places, field)

    def _words(self, rows: Int64) -> tuple[DocumentWords, Int64]:
        if (texts := given_texts()) is None:
            return self._documents, rows
        return texts.words(self.vocabulary), rows - self.held

    def all_tokens(self) -> tuple[Int32, Int64]:
        """The words of all documents in the form of `tokens`, memory-mapped."""
        return self._documents.tokens, self._documents.offsets

    def query_ids(self, text: str) -> Int32:
        """The word ids of a topic's text, int32 [words]; -1 for words that the collection lacks."""
        return self.vocabulary.ids(tokenize(text))

    def stop_words(self) -> Int32:
        """The word ids of English stop words, -1 for those that the collection lacks: int32."""
        return self.vocabulary.ids(sorted(STOP_WORDS))

    def document_frequency(self, field: TextField) -> Int32:
        """In how many documents' field each word occurs: int32 [vocabulary]."""
        return self._array(field, "df", np.int32)

    def collection_frequency(self, field: TextField) -> Int64:
        """How often each word occurs in a field of all documents: int64 [vocabulary]."""
        return self._array(field, "cf", np.int64)

    def lengths(self, field: TextField, rows: Int64 | None = None) -> Int32:
        """The number of words of a field of documents, or of all: int32 [documents]."""
        if rows is None or given_texts() is None:
            return _select(self._array(field, "lengths", np.int32), rows)
        words, places = self._words(rows)
        return words.lengths(places, field).astype(np.int32)

    def unique_counts(self, field: TextField, rows: Int64 | None = None) -> Int32:
        """The number of distinct words of a field of documents, or of all: int32 [documents]."""
        if rows is None or given_texts() is None:
            return _select(self._array(field, "unique", np.int32), rows)
        return distinct_of(self.tokens(rows, field)).astype(np.int32)

    def idf(self, field: TextField) -> Float64:
        """log(1 + (N - df + 0.5) / (df + 0.5)) of each word in a field: float64 [vocabulary]."""
        if field not in self._idf:
            self._idf[field] = self.idf_of(self.document_frequency(field))
        return self._idf[field]

    def idf_of(self, document_frequency: Int32) -> Float64:
        """The IDF of words, or of what stands for words, by the number of their documents."""
        return inverse_document_frequency(document_frequency, self.count)

    def idf_mass(self, field: TextField, rows: Int64 | None = None) -> Float64:
        """The summed IDF of the distinct words of a field: float64 [documents]."""
        if rows is None or given_texts() is None:
            return _select(self._array(field, "idf-mass", np.float64), rows)
        return distinct_of(self.tokens(rows, field), self.idf(field))

    def distinct_numbers(
        self, number_of: Int32, field: TextField = "text"
    ) -> Iterator[tuple[Int64, Int64, Int64]]:
        """Numbers that stand for words, each once for every document that has the word.

        `number_of` is int32 [words], a number for each word, from 0: that of its stem, for example.

        Yields:
            Per block of documents, in their order: the rows, and for each pair of a document and a
            number the document, counted within the block, and the number.
        """
        size = max(int(number_of.max(initial=0)) + 1, 1)
        for start in range(0, self.count, _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, self.count))
            words, offsets = self.tokens(rows, field)
            documents = np.repeat(np.arange(len(rows)), np.diff(offsets))
            pairs = np.unique(documents * size + number_of[words])
            yield rows, pairs // size, pairs % size

    @staticmethod
    def distinct_words(tokens: Int32 | Int64, vocabulary: int) -> tuple[Int64, Int64]:
        """Distinct token ids in ascending order, and each token's position among them.

        Tokens may have any shape; the position of padding, -1, is the number of distinct ids.
        Marking the vocabulary is faster than sorting the tokens unless it is much larger.
        """
        if vocabulary > 64 * tokens.size:
            flat, inverse = np.unique(tokens, return_inverse=True)
            padded = int(flat[:1].tolist() == [-1])
            positions = inverse.reshape(tokens.shape) - padded
            return flat[padded:].astype(np.int64), np.where(
                positions < 0, len(flat) - padded, positions
            )
        marks = np.zeros(vocabulary + 1, dtype=np.bool_)
        marks[tokens] = True  # padding, -1, marks the last entry
        marks[vocabulary] = False
        distinct = np.flatnonzero(marks)
        place = np.full(vocabulary + 1, len(distinct), dtype=np.int64)
        place[distinct] = np.arange(len(distinct))
        return distinct, place[tokens]

    def average_length(self, field: TextField) -> float:
        """The mean number of words of a field, over all documents."""
        return self._average_lengths[field]

    def _array(self, field: TextField, name: str, dtype: type[Number]) -> npt.NDArray[Number]:
        if field not in FIELDS:
            raise ValueError(f"'{field}' is not a field; the fields are {', '.join(FIELDS)}")
        file = f"{field}.{name}.{np.dtype(dtype).name}"
        if file not in self._arrays:
            self._arrays[file] = self._read(file, dtype)
        return self._arrays[file]

    def _read(self, file: str, dtype: type[Number]) -> npt.NDArray[Number]:
        return map_array(self._folder / file, dtype)


def _select(values: npt.NDArray[Number], rows: Int64 | None) -> npt.NDArray[Number]:
    return values if rows is None else values[rows]


class WordStatistics(ForwardIndex):
    """A forward index without its documents: what a checkpoint keeps to score texts."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as arrays:
            self._file_arrays = dict(arrays)
        words = self._file_arrays.pop("words").tobytes().decode()
        nothing = np.empty(0, dtype=np.int32)
        self._start(
            int(self._file_arrays["count"]),
            Vocabulary.of(words.split("\n") if words else []),
            dict(zip(FIELDS, self._file_arrays["average_lengths"].tolist(), strict=True)),
            StringTable.of([]),
            DocumentWords(nothing, np.zeros(1, dtype=np.int64), nothing),
        )

    @staticmethod
    def keep(index: ForwardIndex, path: Path) -> None:
        """Write the statistics of an index to an .npz file."""
        frequencies: dict[str, npt.NDArray[Any]] = {}
        for field in FIELDS:
            frequencies[f"{field}.df"] = index.document_frequency(field)
            frequencies[f"{field}.cf"] = index.collection_frequency(field)
        np.savez_compressed(
            path,
            count=np.array(index.count),
            average_lengths=np.array([index.average_length(field) for field in FIELDS]),
            words=np.frombuffer("\n".join(index.vocabulary).encode(), dtype=np.uint8),
            **frequencies,
        )

    def _read(self, file: str, dtype: type[Number]) -> npt.NDArray[Number]:
        values: npt.NDArray[Number] = self._file_arrays[file.rpartition(".")[0]].astype(
            dtype, copy=False
        )
        return values


def inverse_document_frequency(document_frequency: Int32, documents: int) -> Float64:
    """BM25's IDF in the form that is always positive: log(1 + (N - df + 0.5) / (df + 0.5))."""
    frequency = document_frequency.astype(np.float64)
    return np.log1p((documents - frequency + 0.5) / (frequency + 0.5))
