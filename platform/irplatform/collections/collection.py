"""The collection: a corpus, its topics and judgments, and what no file format says.

That is: which collection trains rerankers for this one, which topics validate them, and which
measures are reported by default.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.plugin import Document, Topic

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
    promises_titles: bool = False
    """Whether somebody said that documents have titles, which is no part of it, either."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Stands for the content of all documents."""

    @property
    def texts_fingerprint(self) -> str:
        """Stands for their ids, titles and abstracts, where it is known without the fields."""
        return self.fingerprint

    def same_documents(self, other: Corpus) -> bool:
        """Whether another corpus has the same ids, titles and abstracts.

        Judgments of one are then judgments of the other's documents. Fields may differ: topics that
        train are searched in the evaluated collection's corpus, and the partner's is never read.
        """
        return (
            self.fingerprint == other.fingerprint
            or self.texts_fingerprint == other.texts_fingerprint
        )

    @abstractmethod
    def __iter__(self) -> Iterator[Document]:
        """Stream the documents.

        Raises:
            InputError: a document cannot be read (file and line are named).
        """

    def count(self) -> int | None:
        """How many documents there are, where that is known without reading them."""
        return None

    def size_hint(self) -> int | None:
        """About how many there are, to show how far something is."""
        return self.count()

    def problems(self) -> Sequence[str]:
        """What is wrong with what was said of the documents, in sentences.

        Known once they have all been read; before that there is nothing.
        """
        return ()


@dataclass(frozen=True)
class Collection:
    """A test collection.

    Attributes:
        id: its name, unique among collections; used in paths and tables.
        title: what it is, in a line.
        corpus: its documents.
        load_topics: reads the topics as a list, in the collection's order; called more than once.
        load_qrels: reads the judgments, or None where there are none.
        measures: ir-measures' names of the default measures.
        training: resolves the collection that trains rerankers for this one, if it names one.
        validation: resolves the collection whose topics validate while training on *this* one, if
            it names one (a folder's `dev` split for its `train` split).
        sampled_qrels: a 5-column file for infNDCG and infAP.
        note: what a reader of its scores must know, shown above every table.
        expand: the knowledge bases that its queries are expanded with, unless the user says others.
        plan: what differs from the default plan of expanded queries, as a file of it would say.
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
