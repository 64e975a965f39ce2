"""Documents, topics, training data, corpora and collections: the data of the whole platform."""

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
"""A field of a document or topic: text, or several values (MeSH headings, say)."""


_NO_FIELDS: Mapping[str, FieldValue] = MappingProxyType({})


def _values(field: FieldValue | None) -> tuple[str, ...]:
    return (field,) if isinstance(field, str) else tuple(field or ())


def _anew(original: Document | Topic | LabelledTopic) -> tuple[object, ...]:
    """How to make its like in another process; read-only mappings cannot be sent."""
    values = (getattr(original, attribute.name) for attribute in dataclass_fields(original))
    return type(original), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)


@dataclass(frozen=True, slots=True)
class Document:
    """An article: what a collection holds and a reranker reads.

    Attributes:
        id: unique in its collection.
        title: may be empty.
        abstract: its abstract; without one, whatever text the collection has.
        fields: everything else, by name; read-only, for all systems share the documents.
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

    def values(self, name: str) -> tuple[str, ...]:
        """The values of a field, one text or several; none if it is missing."""
        return _values(self.fields.get(name))


@dataclass(frozen=True, slots=True)
class Topic:
    """An information need.

    Attributes:
        id: unique in its collection.
        query: the words that go to the first stage.
        fields: the parts that it was given in, by name (disease, gene, demographic…); read-only,
            for all systems share the topics.
    """

    id: str
    query: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))

    def __reduce__(self) -> tuple[object, ...]:
        return _anew(self)

    def values(self, name: str) -> tuple[str, ...]:
        """The values of a field, one text or several; none if it is missing."""
        return _values(self.fields.get(name))

    def describe(self) -> list[object]:
        """The whole topic as JSON: what is computed for a topic depends on it."""
        return [self.id, self.query, dict(self.fields)]


class Documents(Sequence[Document]):
    """A topic's candidates, best first: their ids at once, their texts in a batch at first use."""

    def __init__(
        self, ids: Sequence[str], fetch: Callable[[Sequence[str]], Sequence[Document]]
    ) -> None:
        self._ids = tuple(ids)
        self._fetch = fetch
        self._documents: Sequence[Document] | None = None

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Documents:
        """Documents that are at hand already."""
        by_id = {document.id: document for document in documents}
        return cls([d.id for d in documents], lambda ids: [by_id[i] for i in ids])

    @property
    def ids(self) -> tuple[str, ...]:
        """The candidates' ids, best of the first stage first."""
        return self._ids

    def part(self, which: slice) -> Documents:
        """Some of the documents, read on their own."""
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
        candidates: ids of the documents that the first stage found, best first.
        judgments: document id to grade, read-only. Candidates that are not in it were not judged;
            judged documents need not be candidates. A grade is a whole number; a level, as of
            clicks, is a float and may have decimals.
        first_stage: the first stage's scores of the candidates, if they are known.
    """

    topic: Topic
    candidates: tuple[str, ...]
    judgments: Mapping[str, float]
    first_stage: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        # A fold learns from judgments that others are scored by
        object.__setattr__(self, "judgments", MappingProxyType(self.judgments))

    def __reduce__(self) -> tuple[object, ...]:
        return _anew(self)


@dataclass(frozen=True, slots=True)
class TextPair:
    """A pair of texts to learn from, besides judged topics.

    Attributes:
        query: a text that asks.
        text: a text that it should find.
        group: the source that brought them together, such as a citing article; "" for none.
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
        workspace: a folder that survives a kill; an interrupted `fit` is called again with what it
            left there.
        unseen: topics of the fold that is held out, in cross-validation and where features are
            learned out of fold. If you learn from other data, such as pairs of a file, leave out
            what belongs to these topics. Otherwise empty: a reranker does not know which topics of
            another collection it will score.
    """

    training: Sequence[LabelledTopic]
    validation: Sequence[LabelledTopic]
    workspace: Path
    unseen: Sequence[Topic] = ()

    def __post_init__(self) -> None:
        # Other members learn from the same topics
        for name in ("training", "validation", "unseen"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


Qrels = Mapping[str, Mapping[str, float]]
"""Topic id to document id to grade; 0 and below is not relevant.

A grade is a whole number. A float is a level, as of clicks: it may have decimals, and its gain in
nDCG of training and tuning is 2^level - 1.
"""


class Corpus(ABC):
    """The documents of a collection, as a stream that can be started again.

    Collections that search the same documents share one corpus (equal fingerprints), hence one
    index.
    """

    name: str
    fields: tuple[str, ...]
    """Names of the documents' fields beside title and abstract."""
    finds_fields: bool = False
    """Whether these names are found in the documents, and so are no part of the fingerprint."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Stands for the content of all documents."""

    @property
    def texts_fingerprint(self) -> str:
        """Stands for ids, titles and abstracts, if it is known without the fields."""
        return self.fingerprint

    def same_documents(self, other: Corpus) -> bool:
        """Whether another corpus has the same ids, titles and abstracts.

        Judgments of one are then judgments of the other's documents. Fields may differ: training
        topics are searched in the evaluated collection's corpus, and the partner's is never read.
        """
        return (
            self.fingerprint == other.fingerprint
            or self.texts_fingerprint == other.texts_fingerprint
        )

    @abstractmethod
    def __iter__(self) -> Iterator[Document]:
        """Stream the documents; InputError names the file and line of one that cannot be read."""

    def count(self) -> int | None:
        """How many documents there are, if that is known without reading them."""
        return None

    def size_hint(self) -> int | None:
        """About how many there are, to show progress."""
        return self.count()

    def problems(self) -> Sequence[str]:
        """What is wrong with claims about the documents, in sentences.

        Known once all documents have been read; before that there is nothing.
        """
        return ()


@dataclass(frozen=True)
class Collection:
    """A test collection: a corpus, its topics and judgments, and what no file format says.

    Attributes:
        id: its name, unique among collections; used in paths and tables.
        title: what it is, in a line.
        corpus: its documents.
        load_topics: reads the topics as a list, in the collection's order.
        load_qrels: reads the judgments; None if there are none.
        measures: ir-measures' names of the default measures.
        training: resolves the collection that trains rerankers for this one, if it names one.
        validation: resolves the collection whose topics validate while training on *this* one, if
            it names one (a folder's `dev` split for its `train` split).
        sampled_qrels: a 5-column file for infNDCG and infAP.
        note: what readers of its scores must know, shown above every table.
        expand: the knowledge bases that its queries are expanded with by default.
        plan: changes to the default plan of expanded queries, as a file of it would hold.
        parts: the collections that it joins, see `joined`; usually none.
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
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Further facts for `collections show`: source, licence, what would be downloaded."""

    @cached_property
    def topics(self) -> tuple[Topic, ...]:
        """The topics, which are read once."""
        return tuple(self.load_topics())


MOST_BYTES = 32_766
"""Of a term of Lucene's, in UTF-8; it bounds the ids of documents."""
_MARK = "\ufeff"
"""A byte order mark, which programs take off the beginning of a file."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def fault(identifier: str) -> str:
    """Why a text cannot be the id of a topic or document, to follow it in a sentence; "" if it can.

    TREC's files have ids in columns, and programs that read them, such as trec_eval, end a text at
    some control characters.
    """
    if not identifier:
        return "is empty"
    if identifier.split() != [identifier]:
        return "has white space in it, which run files cannot hold"
    if _CONTROL.search(identifier):
        return "has a control character in it, which run files cannot hold"
    if _MARK in identifier:
        return "has a byte order mark in it, which programs take off files"
    # No character takes more than four bytes: what is short need not be encoded.
    if len(identifier) > MOST_BYTES // 4:
        size = len(identifier.encode("utf-8", "surrogatepass"))
        if size > MOST_BYTES:
            return f"has {size:,} bytes, of which an index takes {MOST_BYTES:,}"
    return ""


def main_headings(value: FieldValue | None) -> list[str]:
    """MeSH headings without their qualifiers and the stars of major topics, each once.

    They come as several texts or as one with semicolons; `*Melanoma / drug therapy` is *Melanoma*.
    """
    if value is None:
        return []
    values: Sequence[str] = value.split(";") if isinstance(value, str) else value
    names = (" ".join(text.replace("*", "").partition("/")[0].split()) for text in values)
    return [name for name in dict.fromkeys(names) if name.strip(" ,")]
