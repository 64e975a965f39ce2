"""Descriptions and checks of collections: a score on half a corpus looks like any other score.

`describe` gives counts, fields and examples. `check` reads all of a collection. `refuse_broken`
asks an index before anything is scored.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from irplatform.collections.document_checks import (
    EMPTY_SHARE,
    EXAMPLES,
    MISSING_SHARE,
    Finding,
    check_documents,
    relevant_documents,
)
from irplatform.errors import InputError, counted
from irplatform.workers.distribution import sample_evenly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.data import Collection, Document, Qrels, Topic
    from irplatform.evaluation.kinds import MeasureFunction

_COUNTED_LATER = "not counted yet: `platform index` and the first run do so"
_LOOKED_UP = 2_000
"""Relevant documents that are looked up in an index, evenly spread over all of them."""


EMPTY = "documents without text"
"""Key of a collection's metadata: "taken" where they are no reason to stop."""


def describe(collection: Collection) -> dict[str, Any]:
    """Facts about a collection, ready for JSON.

    Topics, judgments and the first document are read and described, unless that takes a download.
    `documents` is None if they are not counted yet.
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


def check(
    collection: Collection, extra: Mapping[str, MeasureFunction] | None = None
) -> list[Finding]:
    """Read a whole collection and list what is wrong with it."""
    topics = topics_if_any(collection)
    qrels = collection.qrels if collection.load_qrels else None
    queries = {topic.id: topic for topic in topics if not topic.left_out}
    findings = [
        *check_documents(collection.corpus, qrels or {}, queries),
        *_check_topics([topic.id for topic in topics], qrels),
        *check_measures(collection, extra or {}, qrels),
    ]
    return sorted(findings, key=lambda finding: not finding.serious)


def refuse_broken(
    collection: Collection,
    qrels: Qrels | None,
    *,
    contains: Callable[[str], bool],
    documents: int,
    empty: int,
) -> None:
    """Refuse a corpus that is wrong or half-empty, before anything is scored on it.

    Raises:
        InputError: there are no documents, more than a tenth of them are empty, or more than half
            of the relevant ones are missing.
    """
    name = collection.id
    if documents == 0:
        raise InputError(f"the corpus of '{name}' has no documents.")
    if empty > EMPTY_SHARE * documents and not (takes_empty(collection) and empty < documents):
        raise InputError(
            f"{empty:,} of the {documents:,} documents of '{name}' have neither title nor "
            "abstract. Are its fields named correctly? `platform collections show` shows one of "
            "them."
        )
    relevant = sorted(relevant_documents(qrels or {}))
    sample = sample_evenly(relevant, _LOOKED_UP)
    missing = [doc_id for doc_id in sample if not contains(doc_id)]
    if len(missing) > MISSING_SHARE * len(sample):
        of = "" if len(sample) == len(relevant) else f" (looked up, of {len(relevant):,})"
        raise InputError(
            f"{len(missing):,} of the {len(sample):,} relevant documents{of} of '{name}' are not "
            f"among its {documents:,} documents, such as '{missing[0]}'. The corpus is incomplete, "
            "or the judgments are another collection's."
        )


def takes_empty(collection: Collection) -> bool:
    """Whether documents without text are only told, since nobody there can mend them."""
    return collection.metadata.get(EMPTY) == "taken"


def warning_of_abstracts(
    collection: Collection, *, documents: int, titles: int, abstracts: int, empty: int = 0
) -> str:
    """A warning about a corpus whose documents have titles but few abstracts, or ""."""
    if empty and takes_empty(collection):
        return f"WARNING: {empty:,} of {counted(documents, 'document')} have no text."
    if titles <= documents / 2 or abstracts >= documents / 2:
        return ""
    text = f"only {abstracts:,}" if abstracts else "none"
    return (
        f"WARNING: {text} of the {documents:,} documents of '{collection.id}' have an abstract. If "
        "they should, a field is named wrongly: 'text' in a corpus.jsonl, the key after 'abstract "
        "=' in a collection.toml."
    )


def topics_if_any(collection: Collection) -> Sequence[Topic]:
    """A collection's topics; none if it has documents alone."""
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
    from irplatform.evaluation.kinds import thresholds

    qrels = collection.qrels
    # Levels are hardly ever equal, so they count as the whole grade that they reach.
    judgments = thresholds(qrels)
    grades = Counter(grade for judged in judgments.values() for grade in judged.values())
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


def check_measures(
    collection: Collection, extra: Mapping[str, MeasureFunction], qrels: Qrels | None
) -> Iterator[Finding]:
    """Find default measures that cannot be computed."""
    from irplatform.evaluation.measure_names import parse_measures, refuse_grades

    scorable = collection.sampled_qrels is not None or collection.load_qrels is None
    for name in collection.measures:
        try:
            parsed = parse_measures([name], extra, sampled=scorable)
            refuse_grades(parsed, qrels or {})
        except InputError as error:
            yield Finding("wrong measure", True, 1, str(error), (name,))


def _of_topics(kind: str, ids: Sequence[str], total: int, hint: str = "") -> Iterator[Finding]:
    if ids:
        message = f"{kind}: {len(ids):,} of {total:,} topics{'; ' if hint else ''}{hint}"
        yield Finding(kind, len(ids) == total, len(ids), message, tuple(ids[:EXAMPLES]))


def _check_topics(topics: list[str], qrels: Qrels | None) -> Iterator[Finding]:
    if not topics:
        message = "there are no topics: nothing can be run, only searched"
        yield Finding("no topics", False, 0, message)
    from irplatform.evaluation.topics import spelled_otherwise

    if qrels is None:
        yield Finding("no judgments", False, 0, "there are no judgments: runs cannot be scored")
        return
    ids = set(topics)
    unjudged = [topic for topic in topics if topic not in qrels]
    unknown = [topic for topic in qrels if topic not in ids]
    hint = spelled_otherwise(unknown, unjudged)
    irrelevant = [t for t in topics if t in qrels and max(qrels[t].values(), default=0) <= 0]
    yield from _of_topics("topics without judgments", unjudged, len(topics))
    yield from _of_topics("judgments without topic", unknown, len(qrels), hint)
    yield from _of_topics("topics without relevant documents", irrelevant, len(topics))
