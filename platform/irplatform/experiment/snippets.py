"""Snippets for BioASQ: the sentences of the first documents that a reranker ranks highest.

The sentences of all questions are a collection of their own, so that any reranker can score them:
one that reads texts, such as a cross-encoder; one that reads an index, such as `bm25-text`, whose
word frequencies are then those of sentences; or one that learned elsewhere, such as a checkpoint of
`deepsense`.

Documents are read from the files of the collection: an index keeps ligatures and invisible
characters in another form, which would move offsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from irplatform.collections.derived import counted_documents
from irplatform.data import Collection, Corpus, Document
from irplatform.errors import InputError, counted, listing
from irplatform.experiment.ready import reranker
from irplatform.runs.bioasq import MOST_DOCUMENTS, MOST_SNIPPETS, Snippet
from irplatform.system.digests import fingerprint
from irplatform.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.data import Topic
    from irplatform.experiment.arguments import AnySystem
    from irplatform.plugin.rerankers import Reranker

BM25 = "bm25-text"
"""The reranker that needs no training."""


def choose_snippets(
    topics: Sequence[Topic],
    ranked: Mapping[str, Sequence[str]],
    corpus: Corpus,
    name: AnySystem[Reranker] = BM25,
    **options: Any,
) -> dict[str, list[Snippet]]:
    """Choose the ten best sentences of the first ten documents of each topic.

    Args:
        topics: the questions.
        ranked: topic id to documents of the collection, best first.
        corpus: the collection's documents.
        name: the reranker.
        options: its settings, checkpoint and so on, as for `irplatform.reranker`.

    Returns:
        Topic id to snippets, best first; those with equal scores in the order of the documents.

    Raises:
        InputError: a document is not in the collection, or see `irplatform.reranker`.
    """
    wanted = {topic.id: list(ranked.get(topic.id, ()))[:MOST_DOCUMENTS] for topic in topics}
    documents = _documents(corpus, {doc_id for doc_ids in wanted.values() for doc_id in doc_ids})
    found = {
        topic: {_id(each): each for doc_id in doc_ids for each in snippets_of(documents[doc_id])}
        for topic, doc_ids in wanted.items()
    }
    texts = {name: each.text for of_topic in found.values() for name, each in of_topic.items()}
    if not texts:
        return {topic.id: [] for topic in topics}
    collection = Collection(
        "sentences", "Sentences of the first documents", _Sentences(texts), lambda: topics
    )
    ready = reranker(name, collection, **options)
    asked = [topic for topic in topics if found[topic.id]]
    scores = ready.scores(asked, {t.id: [*found[t.id]] for t in asked}, cached=False)
    return {
        topic.id: [
            snippet
            for _, snippet in sorted(
                zip(scores.get(topic.id, ()), found[topic.id].values(), strict=True),
                key=lambda scored: -scored[0],
            )
        ][:MOST_SNIPPETS]
        for topic in topics
    }


def _documents(corpus: Corpus, wanted: set[str]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for document in counted_documents(corpus, "looking for the documents of snippets"):
        if document.id in wanted:
            found[document.id] = document
            if len(found) == len(wanted):
                return found
    if missing := sorted(wanted - found.keys()):
        raise InputError(
            f"'{corpus.name}' does not have {counted(len(missing), 'document')} of the run: "
            f"{listing(missing)}."
        )
    return found


def snippets_of(document: Document) -> list[Snippet]:
    """Return the title and the sentences of the abstract, with their places.

    Examples:
        >>> for snippet in snippets_of(Document("7", "Aspirin.", "It helps. We saw it.")):
        ...     print(snippet.section, snippet.begin, snippet.end, snippet.text)
        title 0 8 Aspirin.
        abstract 0 9 It helps.
        abstract 10 20 We saw it.
    """
    snippets = []
    for section, text in (("title", document.title), ("abstract", document.abstract)):
        end = 0
        for sentence in sentences(text):
            begin = text.index(sentence, end)
            end = begin + len(sentence)
            snippets.append(Snippet(document.id, section, begin, end, sentence))
    return snippets


def _id(snippet: Snippet) -> str:
    return f"{snippet.document}-{snippet.section}-{snippet.begin}-{snippet.end}"


@dataclass(frozen=True)
class _Sentences(Corpus):
    """Sentences as documents."""

    texts: Mapping[str, str]
    name: str = "sentences"
    fields: tuple[str, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint({"sentences": dict(self.texts)})

    def __iter__(self) -> Iterator[Document]:
        return (Document(name, abstract=text) for name, text in self.texts.items())

    def count(self) -> int:
        return len(self.texts)
