"""Texts of a program, scored without a collection, or beside its documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.collection_resources import CollectionResources
from irplatform.data import Corpus, Document, Documents, Topic
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import NoReturn

    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.graph import ConceptGraph
    from irplatform.lucene import LuceneIndex
    from irplatform.system.cache import Artifact
    from irplatform.text import ForwardIndex, VectorOptions, WordVectors


class NoDocuments(Corpus):
    """The corpus of texts without a collection."""

    name = "texts"
    fields = ()

    @property
    def fingerprint(self) -> str:
        """The same for all texts: nothing is made of them beforehand."""
        return "texts"

    def __iter__(self) -> Iterator[Document]:
        return iter(())


@dataclass
class TextResources(CollectionResources):
    """Resources without a collection: no index, and no word vectors but given ones.

    Attributes:
        who: the reranker, for messages.
    """

    who: str = ""

    def _lacks(self, what: str) -> NoReturn:
        raise InputError(f"{self.who} reads {what}")

    def index_artifact(self) -> Artifact:
        """Raise an InputError: there is no index."""
        self._lacks(f"the index of a collection: name one, as in {self._example}.")

    def index(self) -> LuceneIndex:
        """Raise an InputError: there is no index."""
        self._lacks(f"the index of a collection: name one, as in {self._example}.")

    def forward_index(self) -> ForwardIndex:
        """Raise an InputError: there is no index."""
        self._lacks(f"the words of a collection: name one, as in {self._example}.")

    def concepts(self, options: ConceptOptions | None = None) -> ConceptGraph:
        """Raise an InputError: there are no concepts."""
        del options
        self._lacks(f"the concepts of a collection: name one, as in {self._example}.")

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:
        """Return a checkpoint's vectors, or published ones."""
        if not (self.source.imported or self.source.ready):
            self._lacks(
                "word vectors: name a file (vectors=FILE), a checkpoint (checkpoint=FOLDER), or a "
                f"collection, as in {self._example}."
            )
        return super().vectors(options)

    @property
    def _example(self) -> str:
        name = self.who.partition("'")[2].rstrip("'")
        return f"reranker('{name}', collection='demo')"


@dataclass(frozen=True)
class GivenTexts:
    """Documents by id, as scoring asks resources for them."""

    texts: Mapping[str, Document]

    def documents(self, doc_ids: Sequence[str]) -> Documents:
        """Return documents by id."""
        return Documents.of([self.texts[doc_id] for doc_id in doc_ids])


def texts_by_id(texts: Sequence[str | Document]) -> dict[str, Document]:
    """Return texts as documents: the first is "text-1"; a `Document` keeps its id.

    Raises:
        InputError: two documents have the same id, or one is no text.
    """
    if isinstance(texts, str):
        raise InputError("the documents are one text; they must be a list: score(query, [text]).")
    documents: dict[str, Document] = {}
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str | Document):
            raise InputError(f"document {number} is {text!r}; it must be a text or a Document.")
        document = Document(f"text-{number}", abstract=text) if isinstance(text, str) else text
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
    return Topic("query", query)
