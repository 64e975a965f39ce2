"""That the documents are there before anything is searched: downloaded, and whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections.checks import refuse_broken, warning_of_abstracts
from irplatform.collections.irds_fetch import (
    refuse_silent_downloads as refuse_silent_downloads_irds,
)
from irplatform.lucene import is_indexed
from irplatform.system.cache import artifact
from irplatform.system.console import notice
from irplatform.system.digests import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.data import Collection, Qrels
    from irplatform.resources import CollectionResources


def refuse_silent_downloads(collection: Collection, name: str) -> None:
    """Refuse to begin what would download gigabytes that nobody asked for.

    Raises:
        InputError: what is missing, from where, how much, and what to do.
    """
    if "ir_datasets id" in collection.metadata:
        documents = not is_indexed(collection.corpus)
        refuse_silent_downloads_irds(collection, name, documents=documents)


def refuse_broken_corpus(
    collection: Collection, qrels: Qrels | None, resources: CollectionResources
) -> str:
    """Index the corpus, and see that it is whole; a corpus that passed once is not looked at again.

    Returns:
        What the user is warned of, or "".

    Raises:
        InputError: many documents are empty, or many relevant ones are missing.
    """
    judged = {topic: dict(grades) for topic, grades in (qrels or {}).items()}
    index_fingerprint = resources.index_artifact().fingerprint

    def look(folder: Path) -> None:
        index = resources.index()
        stats = index.stats()
        refuse_broken(
            collection,
            qrels,
            contains=index.contains,
            documents=stats["documents"],
            empty=stats["documents"] - stats["non_empty_documents"],
        )
        warning = warning_of_abstracts(
            collection,
            documents=stats["documents"],
            titles=index.documents_with("title"),
            abstracts=index.documents_with("abstract"),
        )
        (folder / "warning.txt").write_text(warning, encoding="utf-8")

    depends_on = {
        "format": 2,
        "collection": collection.id,  # which the warning names
        "index": index_fingerprint,
        "qrels": fingerprint(judged),
    }
    with resources.stopwatch.timed("index"):
        check = artifact("check", collection.id, depends_on, look)
    if warning := (check.path / "warning.txt").read_text(encoding="utf-8"):
        notice(warning)
    return warning
