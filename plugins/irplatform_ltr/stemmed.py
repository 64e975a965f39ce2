"""A forward index seen through Porter stems (Porter, Program 1980).

Every word of the collection has a stem, and the stems are words of an index of their own: the same
documents and places, with statistics of stems. What reads a forward index reads this one, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.text import tokenize
from irplatform.text.forward_index import FIELDS, inverse_document_frequency

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.plugin import Resources
    from irplatform.text import ForwardIndex
    from irplatform.text.forward_index import Field

    Int32 = npt.NDArray[np.int32]
    Int64 = npt.NDArray[np.int64]
    Float64 = npt.NDArray[np.float64]

_BLOCK = 20_000
"""Documents at once, while statistics are made."""
_FORMAT = 1


@dataclass(frozen=True)
class StemmedIndex:
    """The same documents with stems for words.

    Attributes:
        index: the forward index.
        folder: statistics of stems.
    """

    index: ForwardIndex
    folder: Path

    @classmethod
    def of(cls, resources: Resources) -> StemmedIndex:
        """The stemmed view of the collection's forward index, from the cache."""
        index = resources.forward_index()

        def build(folder: Path) -> None:
            _build(index, folder, resources)

        return cls(index, resources.artifact("stems", {"format": _FORMAT}, build))

    @property
    def count(self) -> int:
        """How many documents there are."""
        return self.index.count

    @cached_property
    def stem_of(self) -> Int32:
        """Per word of the forward index, the number of its stem."""
        return self._read("stem-of")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        text = (self.folder / "stems.txt").read_text(encoding="utf-8")
        return {stem: number for number, stem in enumerate(text.split("\n"))}

    def query_ids(self, text: str) -> Int32:
        """The stems of a text, -1 for each that the collection lacks."""
        stem = _stemmer()
        found = [self._numbers.get(stem(word), -1) for word in tokenize(text)]
        return np.array(found, dtype=np.int32)

    def rows(self, doc_ids: Any) -> Int64:
        """The rows of documents."""
        return self.index.rows(doc_ids)

    def tokens(self, rows: Int64, field: Field = "text") -> tuple[Int32, Int64]:
        """All stems of a field of documents, and the offsets of the documents among them."""
        words, offsets = self.index.tokens(rows, field)
        return self.stem_of[words], offsets

    def idf(self, field: Field) -> Float64:
        """Per stem, its inverse document frequency in a field."""
        return inverse_document_frequency(self._read(f"{field}.df"), self.count)

    def lengths(self, field: Field) -> Int32:
        """Per row, the number of words of a field."""
        return self.index.lengths(field)

    def average_length(self, field: Field) -> float:
        """The mean number of words of a field."""
        return self.index.average_length(field)

    def unique_counts(self, field: Field) -> Int32:
        """Per row, the number of distinct stems of a field."""
        return self._read(f"{field}.unique")

    def idf_mass(self, field: Field) -> Float64:
        """Per row, the sum of the IDF of the distinct stems of a field."""
        held: Float64 = np.load(self.folder / f"{field}.idf-mass.npy", mmap_mode="r")
        return held

    def _read(self, name: str) -> Int32:
        held: Int32 = np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        return held


def _stemmer() -> Any:
    from gensim.parsing.porter import PorterStemmer

    return PorterStemmer().stem


def _build(index: ForwardIndex, folder: Path, resources: Resources) -> None:
    stem = _stemmer()
    numbers: dict[str, int] = {}
    stem_of = np.empty(len(index.vocabulary), dtype=np.int32)
    for word_id, word in enumerate(index.vocabulary):
        stem_of[word_id] = numbers.setdefault(stem(word), len(numbers))
    (folder / "stems.txt").write_text("\n".join(numbers), encoding="utf-8")
    np.save(folder / "stem-of.npy", stem_of)
    with resources.progress("counting stems", len(FIELDS) * index.count) as advance:
        for field in FIELDS:
            frequency = np.zeros(len(numbers), dtype=np.int32)
            unique = np.empty(index.count, dtype=np.int32)
            blocks = []
            for start in range(0, index.count, _BLOCK):
                rows = np.arange(start, min(start + _BLOCK, index.count))
                words, offsets = index.tokens(rows, field)
                documents = np.repeat(np.arange(len(rows)), np.diff(offsets))
                pairs = np.unique(documents * len(numbers) + stem_of[words])
                frequency += np.bincount(pairs % len(numbers), minlength=len(numbers)).astype("i4")
                unique[rows] = np.bincount(pairs // len(numbers), minlength=len(rows))
                blocks.append(pairs)
                advance(len(rows))
            idf = inverse_document_frequency(frequency, index.count)
            mass = [
                np.bincount(
                    pairs // len(numbers),
                    idf[pairs % len(numbers)],
                    min(_BLOCK, index.count - number * _BLOCK),
                )
                for number, pairs in enumerate(blocks)
            ]
            np.save(folder / f"{field}.df.npy", frequency)
            np.save(folder / f"{field}.unique.npy", unique)
            np.save(folder / f"{field}.idf-mass.npy", np.concatenate([*mass, np.empty(0)]))
