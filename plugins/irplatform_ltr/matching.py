"""Inputs of several groups of features: mentions of phrases, topics' concepts, Porter stems."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from irplatform.kit import (
    ConceptOptions,
    Expander,
    ForwardIndex,
    QueryPlan,
    open_knowledge,
    tokenize,
)
from irplatform.plugin import FeatureGroup, KnowledgeBases, Options, Resources, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.kit import Float32, Int64, Knowledge

    TextField = Literal["title", "abstract", "text"]


@dataclass(frozen=True)
class Passage:
    """The words of some documents, one behind the other, each title before its abstract."""

    words: npt.NDArray[np.int32]
    offsets: Int64
    titles: Int64

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    def find(self, phrases: Iterable[npt.NDArray[np.int32]]) -> Mentions:
        """Where any of some phrases begins; a phrase does not reach into the next document."""
        begins = np.zeros(len(self.words), dtype=bool)
        for phrase in phrases:
            length = len(phrase)
            if length == 0 or phrase.min() < 0 or len(self.words) < length:
                continue
            starts = np.flatnonzero(self.words[: len(self.words) - length + 1] == phrase[0])
            for place in range(1, length):
                starts = starts[self.words[starts + place] == phrase[place]]
            if length > 1 and len(starts):
                document = np.searchsorted(self.offsets, starts, side="right") - 1
                starts = starts[starts + length <= self.offsets[document + 1]]
            begins[starts] = True
        places = np.flatnonzero(begins)
        document = np.searchsorted(self.offsets, places, side="right") - 1
        return Mentions(self, places, document)


@dataclass(frozen=True)
class Mentions:
    """Places in documents."""

    passage: Passage
    places: Int64
    document: Int64

    @property
    def counts(self) -> npt.NDArray[np.float64]:
        return _per_document(self.document, self.passage)

    @property
    def in_title(self) -> npt.NDArray[np.float64]:
        within = self.places - self.passage.offsets[self.document]
        inside = within < self.passage.titles[self.document]
        return _per_document(self.document[inside], self.passage)

    def first(self, missing: float) -> npt.NDArray[np.float64]:
        """Per document, the place of the first, as a share of its length."""
        shares = np.full(self.passage.documents, missing)
        lengths = np.maximum(np.diff(self.passage.offsets), 1)
        document, index = np.unique(self.document, return_index=True)
        within = self.places[index] - self.passage.offsets[document]
        shares[document] = within / lengths[document]
        return shares

    def last(self, missing: float) -> npt.NDArray[np.float64]:
        """Per document, the place of the last, as a share of its length."""
        shares = np.full(self.passage.documents, missing)
        lengths = np.diff(self.passage.offsets)
        within = self.places - self.passage.offsets[self.document]
        # Places are in order, so that the last one of a document wins.
        shares[self.document] = within / np.maximum(lengths[self.document], 1)
        return shares

    def gaps(self, other: Mentions) -> Gaps:
        if not len(self.places) or not len(other.places):
            return Gaps(self.passage, np.empty(0, np.int64), np.empty(0, np.int64))
        after = np.searchsorted(other.places, self.places)
        far = np.iinfo(np.int64).max // 4
        best = np.full(len(self.places), far)
        for neighbour in (after - 1, after):
            valid = (neighbour >= 0) & (neighbour < len(other.places))
            index = np.clip(neighbour, 0, len(other.places) - 1)
            valid &= other.document[index] == self.document
            distance = np.where(valid, other.places[index] - self.places, far)
            best = np.where(np.abs(distance) < np.abs(best), distance, best)
        near = np.abs(best) < far
        return Gaps(self.passage, self.document[near], best[near])


@dataclass(frozen=True)
class Gaps:
    """Distances of mentions to the nearest other ones in the same document."""

    passage: Passage  # the documents
    document: Int64  # int64 [mentions], of each mention that has another one beside it
    distance: Int64  # int64 [mentions], in words; positive where the other one comes after

    def least(self, missing: float) -> npt.NDArray[np.float64]:
        distances = np.full(self.passage.documents, missing)
        np.minimum.at(distances, self.document, np.abs(self.distance).astype(np.float64))
        return distances

    def close(self, words: int) -> npt.NDArray[np.float64]:
        """Per document, how many mentions have another one within so many words."""
        return _per_document(self.document[np.abs(self.distance) <= words], self.passage)

    def order(self, words: int) -> npt.NDArray[np.float64]:
        """Per document, which comes first where they are that close: 1 own mentions, -1 others."""
        close = np.abs(self.distance) <= words
        total = np.zeros(self.passage.documents)
        np.add.at(total, self.document[close], np.sign(self.distance[close]).astype(np.float64))
        return np.asarray(np.sign(total))


def _per_document(document: Int64, passage: Passage) -> npt.NDArray[np.float64]:
    return np.bincount(document, minlength=passage.documents).astype(np.float64)


def relative(values: Float32, best: Float32) -> Float32:
    """Scores as shares of the collection's best, 0 to 1: comparable between topics."""
    return np.asarray(values / np.where(best > 0, best, 1), dtype=np.float32)


class ExpansionOptions(Options):
    """Where the names of a topic's concepts come from."""

    knowledge: KnowledgeBases = Field(None, description="knowledge bases; by default all installed")
    plan: QueryPlan = Field(default_factory=QueryPlan, description="weights of parts of a topic")

    def bases(self) -> tuple[str, ...]:
        if self.knowledge is not None:
            return self.knowledge
        return ConceptOptions().bases()

    def lacking(self, topics: Sequence[Topic], fields: Sequence[str] = ()) -> str:
        """A sentence about what features of concepts lack, or ""; topics need one of the fields."""
        fields = fields or (self.plan.disease.field, self.plan.gene.field)
        if not any(topic.fields.get(name) for topic in topics for name in fields):
            return f"the training topics have no field {' or '.join(fields)}."
        if not self.bases():
            return "no knowledge base is installed (`platform kb list`)."
        return ""

    def open(self) -> Knowledge:
        return open_knowledge(self.bases())

    def expander(self, resources: Resources) -> Expander:
        return Expander(resources.index(), self.bases(), self.plan)


class KnowledgeFeatures(FeatureGroup):
    """The base of groups that read a topic's concepts, as query expansion names them."""

    Options = ExpansionOptions
    options: ExpansionOptions
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        self._resources = resources

    def lacks(self, topics: Sequence[Topic]) -> str:
        return self.options.lacking(topics)

    def prepared_with(self) -> Mapping[str, object]:
        knowledge = self.options.open().fingerprint
        return {"knowledge": knowledge, **self.options.plan.dependencies()}


_FORMAT = 2


@dataclass(frozen=True)
class StemmedIndex:
    """A forward index with Porter stems for words (Porter, Program 1980), and their statistics.

    Attributes:
        folder: stems and their document frequencies.
        make_counts: returns the folder of what is known of documents.
    """

    index: ForwardIndex
    folder: Path
    make_counts: Callable[[], Path]
    _idf: dict[TextField, npt.NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def of(cls, resources: Resources) -> StemmedIndex:
        index = resources.forward_index()

        def build(folder: Path) -> None:
            _build(index, folder, resources)

        folder = resources.artifact(
            "stems", {"format": _FORMAT}, build, of_vectors=False, of_words=True
        )

        def build_counts(counts: Path) -> None:
            _count(index, folder, counts, resources)

        return cls(
            index,
            folder,
            lambda: resources.artifact(
                "stem-counts", {"format": _FORMAT}, build_counts, of_vectors=False
            ),
        )

    @property
    def count(self) -> int:
        return self.index.count

    @cached_property
    def stem_of(self) -> npt.NDArray[np.int32]:
        return self._read("stem-of")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        text = (self.folder / "stems.txt").read_text(encoding="utf-8")
        return {stem: number for number, stem in enumerate(text.split("\n"))}

    def query_ids(self, text: str) -> npt.NDArray[np.int32]:
        """The stems of a text, -1 for each that the collection lacks."""
        return np.array([self._numbers.get(stem, -1) for stem in stems(text)], dtype=np.int32)

    def rows(self, doc_ids: Any) -> Int64:
        return self.index.rows(doc_ids)

    def tokens(self, rows: Int64, field: TextField = "text") -> tuple[npt.NDArray[np.int32], Int64]:
        words, offsets = self.index.tokens(rows, field)
        return self.stem_of[words], offsets

    def idf(self, field: TextField) -> npt.NDArray[np.float64]:
        if field not in self._idf:
            frequency = self._read(f"{field}.df")
            self._idf[field] = self.index.idf_of(frequency)
        return self._idf[field]

    def lengths(self, field: TextField, rows: Int64) -> npt.NDArray[np.int32]:
        return self.index.lengths(field, rows)

    def average_length(self, field: TextField) -> float:
        return self.index.average_length(field)

    def unique_counts(self, field: TextField, rows: Int64) -> npt.NDArray[np.int32]:
        if self.index.given_texts() is not None:
            return self.index.distinct_counts(self.tokens(rows, field)).astype(np.int32)
        counts: npt.NDArray[np.int32] = self._counts[f"{field}.unique"][rows]
        return counts

    def idf_mass(self, field: TextField, rows: Int64) -> npt.NDArray[np.float64]:
        if self.index.given_texts() is not None:
            return self.index.distinct_counts(self.tokens(rows, field), self.idf(field))
        mass: npt.NDArray[np.float64] = self._counts[f"{field}.idf-mass"][rows]
        return mass

    @cached_property
    def _counts(self) -> dict[str, Any]:
        return {
            path.stem: np.load(path, mmap_mode="r", allow_pickle=False)
            for path in self.make_counts().glob("*.npy")
        }

    def _read(self, name: str) -> npt.NDArray[np.int32]:
        array: npt.NDArray[np.int32] = np.load(
            self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False
        )
        return array


def stems(text: str) -> list[str]:
    """The Porter stems of a text's words."""
    return list(map(_stemmer(), tokenize(text)))


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
    with resources.progress("counting stems", len(index.FIELDS) * index.count) as advance:
        for field in index.FIELDS:
            frequency = np.zeros(len(numbers), dtype=np.int32)
            for rows, _, stem_numbers in index.distinct_numbers(stem_of, field):
                frequency += np.bincount(stem_numbers, minlength=len(numbers)).astype(np.int32)
                advance(len(rows))
            np.save(folder / f"{field}.df.npy", frequency)


def _count(index: ForwardIndex, stems_folder: Path, folder: Path, resources: Resources) -> None:
    stem_of = np.load(stems_folder / "stem-of.npy", allow_pickle=False)
    with resources.progress(
        "counting documents' stems", len(index.FIELDS) * index.count
    ) as advance:
        for field in index.FIELDS:
            idf = index.idf_of(np.load(stems_folder / f"{field}.df.npy"))
            unique, mass = np.empty(index.count, dtype=np.int32), np.empty(index.count)
            for rows, documents, stem_numbers in index.distinct_numbers(stem_of, field):
                unique[rows] = np.bincount(documents, minlength=len(rows))
                mass[rows] = np.bincount(documents, idf[stem_numbers], len(rows))
                advance(len(rows))
            np.save(folder / f"{field}.unique.npy", unique)
            np.save(folder / f"{field}.idf-mass.npy", mass)
