"""Collections whose topics are documents, such as ArguAna and Quora of BEIR.

Every retriever ranks such a document first for itself. Published scores leave it out
(`ignore_identical_ids` of beir's evaluation). Equal ids alone say nothing: topics and documents may
be numbered independently. A topic is a document if that has its id and its words.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from irplatform.errors import counted
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from irplatform.data import Collection, Document, Topic
    from irplatform.runs import Run

    Fetch = Callable[[list[str]], Iterable[Document]]

_WORD = re.compile(r"\w+")
_RANKS = 100
"""First results among which a topic's own document is looked for."""
_LOOKED_AT = 100_000
_LEAST = 0.1
"""Share of the topics that rank the document of their id; fewer may be equal by chance."""


def advice() -> str:
    """Return how to leave the document of a topic's own id out."""
    return (
        f"{option('ignore_identical_ids', True)} leaves the document of a topic's own id out, as "
        "BEIR does; so does ignore_identical_ids = true under [topics] of a collection.toml"
    )


def ignoring_identical_ids(collection: Collection) -> Collection:
    """Leave the document with a topic's own id out of its results, also in training."""
    if collection.ignore_identical_ids:
        return collection
    load = collection.load_topics
    partners: dict[str, Any] = {
        name: (lambda open_partner=open_partner: ignoring_identical_ids(open_partner()))
        for name in ("training", "validation")
        if (open_partner := getattr(collection, name))
    }
    return replace(
        collection,
        ignore_identical_ids=True,
        load_topics=lambda: [replace(topic, left_out=(topic.id,)) for topic in load()],
        metadata={**collection.metadata, "identical ids": "left out of results"},
        **partners,
    )


def is_document(topic: Topic, document: Document) -> bool:
    """Tell if a topic has the words of a document."""
    texts = (document.abstract, document.text, document.title)
    words = _WORD.findall(topic.query.lower())
    return bool(words) and any(words == _WORD.findall(text.lower()) for text in texts)


def notice_of_documents(run: Run, collection: Collection, fetch: Fetch | None = None) -> str:
    """A notice that a run ranks the documents that its topics are, or ""; see `own_documents`."""
    return notice_of_own(own_documents(run, collection, fetch), run.name)


def notice_of_own(documents: Sequence[str], run: str) -> str:
    """A notice that a run ranks these documents, which its topics are; "" for none."""
    if not documents:
        return ""
    topics = counted(len(documents), "topic")
    return f"{topics} of {run} found the document with its own id and words: {advice()}."


def own_documents(run: Run, collection: Collection, fetch: Fetch | None = None) -> list[str]:
    """The topics that a run ranks as documents, by id; none if few do.

    Args:
        run: the results.
        collection: the topics, and the documents if `fetch` is None: the first 100,000 of them.
        fetch: returns documents by id.
    """
    suspects = [t for t, ranking in run.rankings.items() if t in ranking.top(_RANKS).doc_ids]
    if len(suspects) <= _LEAST * len(run.rankings):
        return []
    topics = {topic.id: topic for topic in collection.topics if not topic.left_out}
    ids = [topic for topic in suspects if topic in topics]
    documents = fetch(ids) if fetch else _first(collection, {*ids})
    return [document.id for document in documents if is_document(topics[document.id], document)]


def _first(collection: Collection, ids: set[str]) -> Iterator[Document]:
    from irplatform.lucene import is_indexed

    if "ir_datasets id" in collection.metadata and not is_indexed(collection.corpus):
        return iter(())  # they may have to be downloaded
    return (document for document in islice(collection.corpus, _LOOKED_AT) if document.id in ids)
