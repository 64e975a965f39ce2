"""What `platform collections show` tells of a collection: counts, fields, examples, judgments."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.data import Collection, Document, Topic

_COUNTED_LATER = "not counted yet: `platform index` and the first run do so"


def describe(collection: Collection) -> dict[str, Any]:
    """Facts about a collection, ready for JSON.

    Topics, judgments and the first document are read, unless something would have to be downloaded
    for it.

    Returns:
        `id`, `title`, `note`, `fields`, `measures`, `training` and `validation` (ids or None),
        `sampled_qrels`, `metadata`, `documents` (None where they would have to be counted),
        `documents_note` (why they are not counted) and `downloads` (what is still to be downloaded:
        `source`, `bytes`, `path`). Where they were read also `topics` (how many), `judgments`
        (`count`, `topics`, `documents`, `per_grade`), `example_document` and `example_topic`.
    """
    from irplatform.lucene import documents_indexed

    training = collection.training() if collection.training else None
    validation = training.validation() if training and training.validation else None
    downloads = _downloads(collection)
    count = collection.corpus.count()
    documents = documents_indexed(collection.corpus) if count is None else count
    facts: dict[str, Any] = {
        "id": collection.id,
        "title": collection.title,
        "note": collection.note,
        "documents": documents,
        "documents_note": _COUNTED_LATER if documents is None else "",
        "fields": list(collection.corpus.fields),
        "measures": list(collection.measures),
        "training": training.id if training else None,
        "validation": validation.id if validation else None,
        "sampled_qrels": str(collection.sampled_qrels) if collection.sampled_qrels else None,
        "metadata": dict(collection.metadata),
        "downloads": downloads,
    }
    if not downloads:
        topics = topics_if_any(collection)
        facts["topics"] = len(topics)
        facts["example_topic"] = _described(topics[0], "query") if topics else None
        facts["judgments"] = _judgments(collection)
        first = next(iter(collection.corpus), None)
        facts["example_document"] = _described(first, "title", "abstract") if first else None
    return facts


def topics_if_any(collection: Collection) -> Sequence[Topic]:
    """A collection's topics; none where there are documents alone."""
    from irplatform.collections.beir import NoTopicsError

    try:
        return collection.load_topics()
    except NoTopicsError:
        return ()


def _downloads(collection: Collection) -> list[dict[str, Any]]:
    dataset_id = collection.metadata.get("ir_datasets id")
    if dataset_id is None:
        return []
    from irplatform.collections.irds_downloads import what_would_be_downloaded

    return [
        {
            "source": download.source or download.instructions,
            "bytes": download.size,
            "path": str(download.path) if download.path else None,
        }
        for download in what_would_be_downloaded(dataset_id)
    ]


def _judgments(collection: Collection) -> dict[str, Any] | None:
    if collection.load_qrels is None:
        return None
    from irplatform.evaluation.availability import thresholds

    qrels = collection.load_qrels()
    # Levels count as the whole grade that they reach: hardly two are the same.
    whole = thresholds(qrels)
    grades = Counter(grade for judged in whole.values() for grade in judged.values())
    return {
        "count": grades.total(),
        "topics": len(qrels),
        "documents": len({doc_id for judged in qrels.values() for doc_id in judged}),
        "per_grade": {str(grade): grades[grade] for grade in sorted(grades)},
    }


def _described(item: Document | Topic, *texts: str) -> dict[str, Any]:
    return {
        "id": item.id,
        **{name: getattr(item, name) for name in texts},
        "fields": dict(item.fields),
    }
