"""A forward index seen through Porter stems (Porter, Program 1980).

Every word of the collection has a stem, and the stems are words of an index of their own: the same
documents and places, with statistics of stems. What reads a forward index reads this one, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.text import tokenize
from irplatform.text.distinct import distinct_per_document
from irplatform.text.forward_index import FIELDS, inverse_document_frequency

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.plugin import Resources
    from irplatform.text import ForwardIndex
    from irplatform.text.arrays import Float64, Int32, Int64
    from irplatform.text.forward_index import Field


_FORMAT = 1


@dataclass(frozen=True)
class StemmedIndex:
    """The same documents with stems for words."""

    index: ForwardIndex
    folder: Path
    _idf: dict[Field, Float64] = field(default_factory=dict)

    @classmethod
    def of(cls, resources: Resources) -> StemmedIndex:
        """The stemmed view of the collection's forward index, from the cache."""
        index = resources.forward_index()

        def build(folder: Path) -> None:
            _build(index, folder, resources)

        folder = resources.artifact("stems", {"format": _FORMAT}, build, of_vectors=False)
        return cls(index, folder)

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
        stems = [self._numbers.get(stem(word), -1) for word in tokenize(text)]
        return np.array(stems, dtype=np.int32)

    def rows(self, doc_ids: Any) -> Int64:
        """The rows of documents."""
        return self.index.rows(doc_ids)

    def tokens(self, rows: Int64, field: Field = "text") -> tuple[Int32, Int64]:
        """All stems of a field of documents, and the offsets of the documents among them."""
        words, offsets = self.index.tokens(rows, field)
        return self.stem_of[words], offsets

    def idf(self, field: Field) -> Float64:
        """Per stem, its inverse document frequency in a field."""
        if field not in self._idf:
            frequency = self._read(f"{field}.df")
            self._idf[field] = inverse_document_frequency(frequency, self.count)
        return self._idf[field]

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
        mass: Float64 = np.load(self.folder / f"{field}.idf-mass.npy", mmap_mode="r")
        return mass

    def _read(self, name: str) -> Int32:
        array: Int32 = np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        return array


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
    with resources.progress("counting stems", 2 * len(FIELDS) * index.count) as advance:
        for field in FIELDS:
            frequency = np.zeros(len(numbers), dtype=np.int32)
            unique = np.empty(index.count, dtype=np.int32)
            for rows, documents, stems in distinct_per_document(index, stem_of, field):
                frequency += np.bincount(stems, minlength=len(numbers)).astype(np.int32)
                unique[rows] = np.bincount(documents, minlength=len(rows))
                advance(len(rows))
            idf = inverse_document_frequency(frequency, index.count)
            mass = np.empty(index.count)
            for rows, documents, stems in distinct_per_document(index, stem_of, field):
                mass[rows] = np.bincount(documents, idf[stems], len(rows))
                advance(len(rows))
            np.save(folder / f"{field}.df.npy", frequency)
            np.save(folder / f"{field}.unique.npy", unique)
            np.save(folder / f"{field}.idf-mass.npy", mass)
