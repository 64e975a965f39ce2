"""Documents, topics, training data, corpora and collections."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from pathlib import Path

FieldValue = str | tuple[str, ...]
"""A field of a document or topic: text, or several values such as MeSH headings."""
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_NO_FIELDS: Mapping[str, FieldValue] = MappingProxyType({})


def _values(field: FieldValue | None) -> tuple[str, ...]:
    return (field,) if isinstance(field, str) else tuple(field or ())


def _anew(original: Document | Topic | LabelledTopic) -> tuple[object, ...]:
    """The result of `__reduce__`; read-only mappings cannot be sent to another process."""
    values = (getattr(original, attribute.name) for attribute in dataclass_fields(original))
    return type(original), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)


@dataclass(frozen=True, slots=True)
class Document:
    """An article of a collection.

    Attributes:
        id: unique in its collection.
        title: may be empty.
        abstract: its abstract, or other text of the collection.
        fields: everything else, by name; read-only, since all systems share the documents.
    """

    id: str
    title: str = ""
    abstract: str = ""
    fields: Mapping[str, FieldValue] = field(default_factory=lambda: _NO_FIELDS)

    def __post_init__(self) -> None:
        if isinstance(self.fields, dict):  # no copy: there are millions of documents
            object.__setattr__(self, "fields", MappingProxyType(self.fields))

    def __reduce__(self) -> tuple[object, ...]:
        return _anew(self)

    @property
    def text(self) -> str:
        """Title and abstract."""
        return f"{self.title} {self.abstract}".strip()

    @property
    def year(self) -> str:
        """The year in its field `year`, in four digits, the last of several, or ""."""
        return max(_YEAR.findall(str(self.fields.get("year", ""))), default="")

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of a field; none if it is missing."""
        return _values(self.fields.get(name))


@dataclass(frozen=True, slots=True)
class Topic:
    """An information need.

    Attributes:
        id: unique in its collection.
        query: the words for the first stage.
        fields: its parts by name (disease, gene, demographic…); read-only.
        left_out: ids of documents that are no results, such as the one that the topic is itself.
    """

    id: str
    query: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))

    def __reduce__(self) -> tuple[object, ...]:
        return _anew(self)

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of a field; none if it is missing."""
        return _values(self.fields.get(name))

    def describe(self) -> list[object]:
        """Return the whole topic as JSON, for cache keys."""
        description: list[object] = [self.id, self.query, dict(self.fields)]
        return [*description, [*self.left_out]] if self.left_out else description


class Documents(Sequence[Document]):
    """A topic's candidates, best first; texts are read in a batch at first use."""

    def __init__(
        self, ids: Sequence[str], fetch: Callable[[Sequence[str]], Sequence[Document]]
    ) -> None:
        self._ids = tuple(ids)
        self._fetch = fetch
        self._documents: Sequence[Document] | None = None

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Documents:
        """Return documents whose texts are in memory."""
        by_id = {document.id: document for document in documents}
        return cls([d.id for d in documents], lambda ids: [by_id[i] for i in ids])

    @property
    def ids(self) -> tuple[str, ...]:
        """The candidates' ids, best first."""
        return self._ids

    def part(self, which: slice) -> Documents:
        """Return some of the documents, which are read apart."""
        return Documents(self.ids[which], self._fetch)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        if self._documents is None:
            self._documents = self._fetch(self.ids)
        return self._documents[index]

    def __iter__(self) -> Iterator[Document]:
        return iter(self[:])


@dataclass(frozen=True)
class LabelledTopic:
    """A topic to learn from.

    Attributes:
        topic: the topic.
        candidates: ids of documents of the first stage, best first.
        judgments: document id to grade, read-only; also of documents that are not candidates.
            Candidates that are not in it were not judged. A grade is a whole number; a level of
            clicks is a float.
        first_stage: the first stage's scores of the candidates, if known.
    """

    topic: Topic
    candidates: tuple[str, ...]
    judgments: Mapping[str, float]
    first_stage: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "judgments", MappingProxyType(self.judgments))

    def __reduce__(self) -> tuple[object, ...]:
        return _anew(self)


@dataclass(frozen=True, slots=True)
class TextPair:
    """A pair of texts to learn from: `query` should find `text`.

    `group` is the source of the pair, such as a citing article, or "".
    """

    query: str
    text: str
    group: str = ""


@dataclass(frozen=True)
class TrainingData:
    """The data that `fit` learns from.

    Attributes:
        training: topics to learn from.
        validation: topics to stop early and choose on. Training, validation and evaluated topics
            are disjoint.
        workspace: a folder that survives a kill; an interrupted `fit` finds its files there again.
        unseen: topics of the held-out fold, if there is one. If you learn from other data, such as
            pairs of a file, leave out pairs about these topics.
    """

    training: Sequence[LabelledTopic]
    validation: Sequence[LabelledTopic]
    workspace: Path
    unseen: Sequence[Topic] = ()

    def __post_init__(self) -> None:
        for name in ("training", "validation", "unseen"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


Qrels = Mapping[str, Mapping[str, float]]
"""Topic id to document id to grade; 0 and below is not relevant.

A float is a level of clicks; its gain in nDCG of training and tuning is 2^level - 1.
"""


class SubtopicGrades(dict[str, float]):
    """Grades of a topic's documents, each the best that a subtopic gives it.

    Attributes:
        subtopics: subtopic to document id to grade.
    """

    def __init__(self) -> None:
        super().__init__()
        self.subtopics: dict[str, dict[str, float]] = {}

    def add(self, subtopic: str, document: str, grade: float) -> float:
        """Add a judgment; return the first grade that the subtopic gave the document."""
        first = self.subtopics.setdefault(subtopic, {}).setdefault(document, grade)
        self[document] = max(first, self.get(document, first))
        return first


def subtopics_of(qrels: Qrels) -> dict[str, Mapping[str, Mapping[str, float]]]:
    """Return topic to subtopic to document id to grade; empty without judgments of subtopics."""
    return {
        topic: grades.subtopics
        for topic, grades in qrels.items()
        if isinstance(grades, SubtopicGrades)
    }


class Corpus(ABC):
    """The documents of a collection, as a stream that can be started again.

    Collections whose corpora have equal fingerprints share one index.
    """

    name: str
    fields: tuple[str, ...]
    """Names of the documents' fields beside title and abstract."""
    finds_fields: bool = False
    """These names are read from the documents, and are not part of the fingerprint."""
    index_path: Path | None = None
    """An existing index of these documents; None has one built."""
    in_place_of: Corpus | None = None
    """The corpus that these documents stand for, if they come from an existing index."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """The identity of the content of all documents."""

    @property
    def texts_fingerprint(self) -> str:
        """The identity of ids, titles and abstracts, if known without the fields."""
        return self.fingerprint

    def same_documents(self, other: Corpus) -> bool:
        """Return whether another corpus has the same ids, titles and abstracts.

        Judgments of one then hold for the other. Fields may differ.
        """
        return (
            self.fingerprint == other.fingerprint
            or self.texts_fingerprint == other.texts_fingerprint
            or (other.in_place_of is not None and self.same_documents(other.in_place_of))
        )

    @abstractmethod
    def __iter__(self) -> Iterator[Document]:
        """Stream the documents; InputError names the file and line of one that cannot be read."""

    def count(self) -> int | None:
        """Return the number of documents, if known without reading them."""
        return None

    def size_hint(self) -> int | None:
        """Return the approximate number of documents, for progress."""
        return self.count()

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the description of the documents, once all are read."""
        return ()


@dataclass(frozen=True)
class Collection:
    """A test collection: a corpus, its topics and judgments, and its defaults.

    Attributes:
        id: its name, unique among collections; used in paths and tables.
        title: what it is, in a line.
        load_topics: reads the topics, in the collection's order.
        load_qrels: reads the judgments; None if there are none.
        measures: ir-measures' names of the default measures.
        training: resolves the collection that trains rerankers for this one.
        validation: resolves the collection that validates training on *this* one.
        sampled_qrels: a 5-column file for infNDCG and infAP.
        note: a remark above every table of scores.
        expand: the knowledge bases that its queries are expanded with by default.
        plan: changes to the default plan of expanded queries, as in a plan's file.
        parts: the collections that it joins, see `joined`.
        load_scored: reads the candidates that it brings, topic id to document id to score; None if
            it brings none.
        ignore_identical_ids: a topic's own id is left out of its results, see `left_out`.
        topics_left_out: ids of the topics that a choice of some leaves out.
        grades: what the grades of judgments mean, as far as that is written down.
        metadata: further facts for `collections show`: source, licence, downloads.
    """

    id: str
    title: str
    corpus: Corpus
    load_topics: Callable[[], Sequence[Topic]]
    load_qrels: Callable[[], Qrels] | None = None
    measures: tuple[str, ...] = ("nDCG@20", "AP", "P@10", "RR", "R@1000")
    training: Callable[[], Collection] | None = None
    validation: Callable[[], Collection] | None = None
    sampled_qrels: Path | None = None
    note: str = ""
    expand: tuple[str, ...] = ()
    plan: Mapping[str, object] = field(default_factory=dict)
    parts: tuple[Collection, ...] = ()
    load_scored: Callable[[], Mapping[str, Mapping[str, float]]] | None = None
    ignore_identical_ids: bool = False
    topics_left_out: frozenset[str] = frozenset()
    grades: Mapping[int, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def topics(self) -> tuple[Topic, ...]:
        """The topics, read once."""
        return tuple(self.load_topics())

    @cached_property
    def qrels(self) -> Qrels:
        """The judgments, read once; {} if there are none."""
        return self.load_qrels() if self.load_qrels else {}


MOST_BYTES = 32_766
"""The size of a Lucene term in UTF-8, which bounds document ids."""
_MARK = "\ufeff"
"""A byte order mark, which programs remove from the beginning of a file."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def fault(identifier: str) -> str:
    """Return why a text cannot be an id in TREC's files, as the end of a sentence, or ""."""
    if not identifier:
        return "is empty"
    if identifier.split() != [identifier]:
        return "has white space in it, which run files cannot hold"
    if _CONTROL.search(identifier):
        return "has a control character in it, which run files cannot hold"
    if _MARK in identifier:
        return "has a byte order mark in it, which programs remove from files"
    # A character has at most four bytes.
    if len(identifier) > MOST_BYTES // 4:
        size = len(identifier.encode("utf-8", "surrogatepass"))
        if size > MOST_BYTES:
            return f"has {size:,} bytes, of which an index takes {MOST_BYTES:,}"
    return ""


def main_headings(value: FieldValue | None) -> list[str]:
    """Return MeSH headings without qualifiers and stars, each once.

    `*Melanoma / drug therapy` is *Melanoma*. A single text has semicolons between headings.
    """
    if value is None:
        return []
    values: Sequence[str] = value.split(";") if isinstance(value, str) else value
    names = (" ".join(text.replace("*", "").partition("/")[0].split()) for text in values)
    return [name for name in dict.fromkeys(names) if name.strip(" ,")]
