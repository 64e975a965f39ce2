"""What is wrong with a collection: `check` reads all of it, `refuse_broken` asks an index.

A score on half a corpus looks like a score. What can be told from the data is therefore told:
judgments of documents that are not there, documents without text, ids that come twice, topics that
nobody judged, partners that cannot train.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections.describe import topics_if_any
from irplatform.collections.document_checks import (
    EMPTY_SHARE,
    EXAMPLES,
    MISSING_SHARE,
    Finding,
    check_documents,
    relevant_documents,
)
from irplatform.errors import InputError
from irplatform.system.workers import sample_evenly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.data import Collection, Qrels
    from irplatform.evaluation.measures import MeasureFunction


# What is wrong with what a collection names beside its documents, topics and judgments.
#
# Measures that nobody computes, sampled judgments that do not fit, and training partners that
# cannot train come to light late in a run otherwise.


def check_measures(
    collection: Collection, extra: Mapping[str, MeasureFunction], qrels: Qrels | None
) -> Iterator[Finding]:
    """See that every default measure can be computed."""
    from irplatform.evaluation.availability import refuse_grades
    from irplatform.evaluation.measures import parse_measures

    scorable = collection.sampled_qrels is not None or collection.load_qrels is None
    for name in collection.measures:
        try:
            parsed = parse_measures([name], extra, sampled=scorable)
            refuse_grades(parsed, qrels or {})
        except InputError as error:
            yield Finding("wrong measure", True, 1, str(error), (name,))


def check_sampled(collection: Collection, topics: Sequence[str]) -> Iterator[Finding]:
    """See that sampled judgments can be read and are about the collection's topics."""
    from irplatform.evaluation.sampled import read_sampled_qrels

    if collection.sampled_qrels is None:
        return
    try:
        sampled = read_sampled_qrels(collection.sampled_qrels)
    except InputError as error:
        yield Finding("broken sampled judgments", True, 1, str(error))
        return
    strange = [topic for topic in sampled if topic not in set(topics)]
    if strange:
        yield Finding(
            "sampled judgments without topic",
            len(strange) == len(sampled),
            len(strange),
            f"sampled judgments without topic: {len(strange):,} of {len(sampled):,} topics",
            tuple(strange[:EXAMPLES]),
        )


def check_training(collection: Collection) -> Iterator[Finding]:
    """See that the collections that train and validate for this one can do so."""
    if collection.training is None:
        return
    try:
        training = collection.training()
        validation = training.validation() if training.validation else None
        problems = [
            problem
            for role, partner in (("training", training), ("validation", validation))
            if partner is not None
            for part in partner.parts or (partner,)
            for problem in _problems(role, part, collection)
        ]
    except InputError as error:
        yield Finding("broken training partner", True, 1, str(error))
        return
    yield from problems


def _problems(role: str, partner: Collection, collection: Collection) -> Iterator[Finding]:
    def finding(serious: bool, message: str) -> Finding:
        kind = f"{role} partner"
        return Finding(kind, serious, 1, f"the {kind} '{partner.id}' {message}", (partner.id,))

    if partner.id == collection.id:
        yield finding(True, "is the collection itself")
        return
    if partner.load_qrels is None:
        yield finding(True, "has no judgments")
        return
    topics = [topic.id for topic in partner.load_topics()]
    qrels = partner.load_qrels()
    if not any(max(qrels.get(topic, {}).values(), default=0) > 0 for topic in topics):
        yield finding(True, "has no topic with a relevant document")
    if not partner.corpus.same_documents(collection.corpus):
        yield finding(
            False,
            "has other documents: train on it with `platform train`, and give the result with "
            "--checkpoint",
        )


_LOOKED_UP = 2_000
"""Relevant documents that are looked up in an index, evenly spread over all of them."""


def check(
    collection: Collection, extra: Mapping[str, MeasureFunction] | None = None
) -> list[Finding]:
    """Read a whole collection and list what is wrong with it."""
    topics = [topic.id for topic in topics_if_any(collection)]
    qrels = collection.load_qrels() if collection.load_qrels else None
    findings = [
        *check_documents(collection.corpus, qrels or {}),
        *_no_topics(topics),
        *(_check_topics(topics, qrels) if qrels is not None else _no_judgments()),
        *check_measures(collection, extra or {}, qrels),
        *check_sampled(collection, topics),
        *check_training(collection),
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
    """Refuse a corpus that is plainly wrong or half-empty, before anything is scored on it.

    Raises:
        InputError: there are no documents, more than a tenth of them are empty, or more than half
            of the relevant ones are missing.
    """
    name = collection.id
    if documents == 0:
        raise InputError(f"the corpus of '{name}' has no documents.")
    if empty > EMPTY_SHARE * documents:
        raise InputError(
            f"{empty:,} of the {documents:,} documents of '{name}' have neither title nor "
            "abstract. Are its fields named rightly? `platform collections show` shows one of them."
        )
    relevant = sorted(relevant_documents(qrels or {}))
    sample = sample_evenly(relevant, _LOOKED_UP)
    missing = [doc_id for doc_id in sample if not contains(doc_id)]
    if len(missing) > MISSING_SHARE * len(sample):
        of = "" if len(sample) == len(relevant) else f" (looked up, of {len(relevant):,})"
        raise InputError(
            f"{len(missing):,} of the {len(sample):,} relevant documents{of} of '{name}' are not "
            f"among its {documents:,} documents, '{missing[0]}' for one. The corpus is incomplete, "
            "or the judgments are another collection's."
        )


def warning_of_abstracts(
    collection: Collection, *, documents: int, titles: int, abstracts: int
) -> str:
    """What to tell about a corpus whose documents have titles but hardly abstracts, or ""."""
    if titles <= documents / 2 or abstracts >= documents / 2:
        return ""
    some = f"only {abstracts:,}" if abstracts else "none"
    return (
        f"WARNING: {some} of the {documents:,} documents of '{collection.id}' have an abstract. If "
        "they should, a field is named wrongly: 'text' in a corpus.jsonl, the key after 'abstract "
        "=' in a collection.toml."
    )


def _no_topics(topics: Sequence[str]) -> Iterator[Finding]:
    if not topics:
        yield Finding(
            "no topics", False, 0, "there are no topics: nothing can be run, only searched", ()
        )


def _check_topics(topics: list[str], qrels: Qrels) -> Iterator[Finding]:
    known = set(topics)
    unjudged = [topic for topic in topics if topic not in qrels]
    unknown = [topic for topic in qrels if topic not in known]
    without_relevant = [t for t in topics if t in qrels and max(qrels[t].values(), default=0) <= 0]
    for kind, ids, total in (
        ("topics without judgments", unjudged, len(topics)),
        ("judgments without topic", unknown, len(qrels)),
        ("topics without relevant documents", without_relevant, len(topics)),
    ):
        if ids:
            message = f"{kind}: {len(ids):,} of {total:,} topics"
            yield Finding(kind, len(ids) == total, len(ids), message, tuple(ids[:EXAMPLES]))


def _no_judgments() -> Iterator[Finding]:
    yield Finding("no judgments", False, 0, "there are no judgments: runs cannot be scored")
