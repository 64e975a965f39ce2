"""Texts of a program, scored without a collection, or beside its documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from irplatform.collection_resources import CollectionResources
from irplatform.data import Corpus, Document, Topic
from irplatform.errors import InputError
from irplatform.files.digests import fingerprint, folder_digests
from irplatform.spelling import option
from irplatform.training.checkpoints import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import NoReturn

    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.graph import ConceptGraph
    from irplatform.data import FieldValue
    from irplatform.files.cache import Artifact
    from irplatform.lucene import LuceneIndex
    from irplatform.text import ForwardIndex, VectorOptions, WordVectors


class NoDocuments(Corpus):
    """The corpus of texts without a collection; `words` is a folder of statistics of words."""

    name = "texts"
    fields = ()

    def __init__(self, words: Path | None = None) -> None:
        self._words = words

    @property
    def fingerprint(self) -> str:
        """Stands for the statistics of words, of which alone something is made beforehand."""
        if self._words is None or not self._words.is_dir():
            return "texts"
        return fingerprint({"texts": folder_digests(self._words)})

    def __iter__(self) -> Iterator[Document]:
        return iter(())


@dataclass
class TextResources(CollectionResources):
    """Resources without a collection: what a checkpoint keeps of one.

    Attributes:
        reader: the reranker, for messages.
        words: the checkpoint's folder of statistics of words.
    """

    reader: str = ""
    words: Path | None = None
    _statistics: list[ForwardIndex] = field(default_factory=list)

    def _lacks(self, subject: str) -> NoReturn:
        raise InputError(f"{self.reader} reads {subject}")

    def _lacks_collection(self, part: str) -> NoReturn:
        self._lacks(f"the {part} of a collection: name one ({option('collection', 'NAME')}).")

    def index_artifact(self) -> Artifact:
        """Raise an InputError: there is no index."""
        self._lacks_collection("index")

    def index(self) -> LuceneIndex:
        """Raise an InputError: there is no index."""
        self._lacks_collection("index")

    def forward_index(self) -> ForwardIndex:
        """Return the statistics of words that the checkpoint keeps."""
        from irplatform.text.forward_index import WordStatistics

        if not self._statistics:
            self._statistics.append(WordStatistics(self._file(f"{STATISTICS}.npz")))
        return self._statistics[0]

    def artifact(
        self,
        kind: str,
        depends_on: Mapping[str, object],
        build: Callable[[Path], None],
        *,
        of_words: bool = False,
        **options: bool,
    ) -> Path:
        """Return what the checkpoint keeps, or an artifact that is made of it."""
        return (
            self._file(kind) if of_words else super().artifact(kind, depends_on, build, **options)
        )

    def _file(self, name: str) -> Path:
        if self.words is None:
            self._lacks_collection("words")
        if not (self.words / name).exists():
            self._lacks(
                "statistics of words, which this checkpoint lacks since an earlier version wrote "
                f"it: name the collection ({option('collection', 'NAME')})."
            )
        return self.words / name

    def concepts(self, options: ConceptOptions | None = None) -> ConceptGraph:
        """Raise an InputError: there are no concepts."""
        del options
        self._lacks_collection("concepts")

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:
        """Return a checkpoint's vectors, or published ones."""
        if not (self.source.imported or self.source.ready):
            self._lacks(
                f"word vectors: name a file ({option('vectors', 'FILE')}), a checkpoint "
                f"({option('checkpoint', 'FOLDER')}), or a collection "
                f"({option('collection', 'NAME')})."
            )
        return super().vectors(options)


_numbers = count(1)
"""Rerankers may remember topics and documents by id, so that no id comes twice in a process."""


def new_topic(query: str, fields: Mapping[str, FieldValue] | None = None) -> Topic:
    """Return a topic with an id of its own."""
    return Topic(f"query-{next(_numbers)}", query, fields or {})


def texts_by_id(texts: Sequence[str | Document]) -> dict[str, Document]:
    """Return texts as documents, each with an id of its own; a `Document` keeps its id.

    Raises:
        InputError: two documents have the same id, or one is no text.
    """
    if isinstance(texts, str):
        raise InputError("the documents are one text; they must be a list: score(query, [text]).")
    documents: dict[str, Document] = {}
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str | Document):
            raise InputError(f"document {number} is {text!r}; it must be a text or a Document.")
        doc_id = f"text-{next(_numbers)}"
        document = Document(doc_id, abstract=text) if isinstance(text, str) else text
        if document.id in documents:
            raise InputError(f"two of the documents have the id '{document.id}'.")
        documents[document.id] = document
    return documents


def as_topic(query: str | Topic) -> Topic:
    """Return a query as a topic.

    Raises:
        InputError: it is no text, or empty.
    """
    if isinstance(query, Topic):
        return query
    if not isinstance(query, str) or not query.strip():
        raise InputError(f"the query is {query!r}; it must be some words, or a Topic.")
    return new_topic(query)
