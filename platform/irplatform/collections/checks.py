"""What is wrong with a collection: `check` reads all of it, `refuse_broken` asks an index.

A score on half a corpus looks like a score. What can be told from the data is therefore told:
judgments of documents that are not there, documents without text, ids that come twice, topics that
nobody judged, partners that cannot train. Documents are streamed; 8 bytes are held for each.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from irplatform.collections.finding import Finding
from irplatform.collections.markup import first_markup
from irplatform.collections.partners import check_measures, check_sampled, check_training
from irplatform.document_ids import DocumentIds
from irplatform.errors import InputError
from irplatform.thinning import thinned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from irplatform.collections.collection import Collection, Corpus, Qrels
    from irplatform.evaluation.measures import MeasureFunction

_EXAMPLES = 5
_MISSING_SHARE = 0.5
"""Share of the relevant documents that may be missing: sampled and closed-pool corpora lack some,
but a score on less than half of the relevant documents says nothing about a system."""
_EMPTY_SHARE = 0.1
"""Share of documents that may have no text: MEDLINE has records without an abstract, and a few
without a title, but a tenth without both is a wrong field name or a broken copy."""
_LOOKED_UP = 2_000
"""Relevant documents that are looked up in an index, evenly spread over all of them."""


def check(
    collection: Collection, extra: Mapping[str, MeasureFunction] | None = None
) -> list[Finding]:
    """Read a whole collection and list what is wrong with it.

    Args:
        collection: the collection.
        extra: measures of plugins.

    Raises:
        InputError: a file cannot be read.
    """
    topics = [topic.id for topic in collection.load_topics()]
    qrels = collection.load_qrels() if collection.load_qrels else None
    judged = {doc_id for grades in (qrels or {}).values() for doc_id in grades}
    findings = [
        *_check_documents(collection.corpus, judged, _relevant(qrels)),
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

    Args:
        collection: what is about to be searched.
        qrels: its judgments, where it has any.
        contains: whether the index has a document; asked for at most 2,000 ids.
        documents: how many documents were indexed.
        empty: how many of them have neither title nor abstract.

    Raises:
        InputError: there are no documents, more than a tenth of them are empty, or more than half
            of the relevant ones are missing.
    """
    name = collection.id
    if documents == 0:
        raise InputError(f"the corpus of '{name}' has no documents.")
    if empty > _EMPTY_SHARE * documents:
        raise InputError(
            f"{empty:,} of the {documents:,} documents of '{name}' have neither title nor "
            "abstract. Are its fields named rightly? `platform collections show` shows one of them."
        )
    relevant = sorted(_relevant(qrels))
    asked = thinned(relevant, _LOOKED_UP)
    missing = [doc_id for doc_id in asked if not contains(doc_id)]
    if len(missing) > _MISSING_SHARE * len(asked):
        of = "" if len(asked) == len(relevant) else f" (looked up, of {len(relevant):,})"
        raise InputError(
            f"{len(missing):,} of the {len(asked):,} relevant documents{of} of '{name}' are not "
            f"among its {documents:,} documents, '{missing[0]}' for one. The corpus is incomplete, "
            "or the judgments are another collection's."
        )


def warning_of_abstracts(
    collection: Collection, *, documents: int, titles: int, abstracts: int
) -> str:
    """What to tell about a corpus whose documents have titles but hardly abstracts, or "".

    Args:
        collection: what is searched.
        documents: how many documents it has.
        titles: how many of them have a title.
        abstracts: how many have an abstract.
    """
    if titles <= documents / 2 or abstracts >= documents / 2:
        return ""
    some = f"only {abstracts:,}" if abstracts else "none"
    return (
        f"WARNING: {some} of the {documents:,} documents of '{collection.id}' have an abstract. If "
        "they should, a field is named wrongly: 'text' in a corpus.jsonl, the key after 'abstract "
        "=' in a collection.toml."
    )


def _check_documents(corpus: Corpus, judged: set[str], relevant: set[str]) -> Iterator[Finding]:
    ids = DocumentIds()
    missing = set(judged)
    empty: list[str] = []
    marked: list[str] = []
    markup = ""
    titles = abstracts = empty_count = marked_count = 0
    for document in corpus:
        ids.add(document.id)
        missing.discard(document.id)
        has_title, has_abstract = bool(document.title.strip()), bool(document.abstract.strip())
        titles += has_title
        abstracts += has_abstract
        if not (has_title or has_abstract):
            empty_count += 1
            if len(empty) < _EXAMPLES:
                empty.append(document.id)
        if found := first_markup(document.title) or first_markup(document.abstract):
            markup = markup or found
            marked_count += 1
            if len(marked) < _EXAMPLES:
                marked.append(document.id)
    count = len(ids)
    if not count:
        yield Finding("no documents", True, 0, "there are no documents")
        return
    for problem in corpus.problems():
        yield Finding("keys that no document has", True, count, problem)
    if empty_count:
        yield Finding(
            "empty documents",
            empty_count > _EMPTY_SHARE * count,
            empty_count,
            f"{empty_count:,} of {count:,} documents have neither title nor abstract",
            tuple(empty),
        )
    if abstracts < count / 2:
        yield Finding(
            "half-empty corpus",
            abstracts == 0,
            count - abstracts,
            f"only {abstracts:,} of {count:,} documents have an abstract ({titles:,} have a title)",
        )
    if marked_count:
        yield Finding(
            "markup",
            False,
            marked_count,
            f"{marked_count:,} of {count:,} documents have markup, such as '{markup}', that is "
            "searched as words; remove it from their files where that matters",
            tuple(marked),
        )
    if repeated := ids.repeated(corpus):
        yield Finding(
            "duplicate ids",
            True,
            len(repeated),
            f"{len(repeated):,} ids belong to more than one document",
            tuple(repeated)[:_EXAMPLES],
        )
    if missing:
        yield _dangling(missing, judged, relevant)


def _dangling(missing: set[str], judged: set[str], relevant: set[str]) -> Finding:
    lost = len(missing & relevant)
    return Finding(
        "dangling judgments",
        lost > _MISSING_SHARE * len(relevant),
        len(missing),
        f"{len(missing):,} of {len(judged):,} judged documents are not in the corpus, among them "
        f"{lost:,} of the {len(relevant):,} relevant ones",
        _some(missing),
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
            yield Finding(kind, len(ids) == total, len(ids), message, tuple(ids[:_EXAMPLES]))


def _no_judgments() -> Iterator[Finding]:
    yield Finding("no judgments", False, 0, "there are no judgments: runs cannot be scored")


def _relevant(qrels: Qrels | None) -> set[str]:
    return {
        doc_id for grades in (qrels or {}).values() for doc_id, grade in grades.items() if grade > 0
    }


def _some(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice(sorted(ids), _EXAMPLES))
