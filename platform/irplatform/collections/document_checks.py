"""Checks of a collection's documents, in one pass over them, with 16 bytes held for each.

Markup is text that is searched as words: `<b>` as "b", `&amp;` as "amp". Only known tags of HTML
and JATS and entities with their semicolon count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform.collections.identical_ids import advice, is_document
from irplatform.documents.duplicates import Repeats
from irplatform.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.data import Corpus, Document, Qrels, Topic

_TAGS = (
    "a abstracttext b big blockquote body bold br center code dd div dl dt em font h[1-6] head hr "
    "html i img italic jats:[a-z-]+ li ol p pre sc script sec small span strong style sub sup "
    "table tbody td th thead title tr tt u ul xref"
)
_MARKUP = re.compile(
    rf"</?(?:{'|'.join(_TAGS.split())})(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?>"
    r"|&(?:[a-z][a-z0-9]{1,7}|#x?[0-9a-f]{1,6});",
    re.IGNORECASE,
)
EXAMPLES = 5
"""Ids that a finding shows, at most."""
MISSING_SHARE = 0.5
"""Share of the relevant documents that may be missing, as in sampled and closed-pool corpora."""
_LOST = "\ufffd"
EMPTY_SHARE = 0.1
"""Share of documents that may have no text; more is a wrong field name or a broken copy."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with documents, topics or judgments; `serious` spoils the scores.

    `kind` is a stable word or two for programs, `examples` are some ids.
    """

    kind: str
    serious: bool
    count: int
    message: str
    examples: tuple[str, ...] = ()


def check_documents(
    corpus: Corpus, qrels: Qrels, topics: Mapping[str, Topic] | None = None
) -> Iterator[Finding]:
    """Read all documents and list what is wrong with them; `topics` are by id."""
    judged = {doc_id for grades in qrels.values() for doc_id in grades}
    counts = _Counts(missing=set(judged), topics=topics or {})
    for document in corpus:
        counts.add(document)
    if not len(counts.ids):
        yield Finding("no documents", True, 0, "there are no documents")
        return
    for problem in corpus.problems():
        yield Finding("keys that no document has", True, len(counts.ids), problem)
    yield from _texts(counts)
    if repeated := counts.ids.groups(corpus):
        yield Finding(
            "duplicate ids",
            True,
            len(repeated),
            f"{counted(len(repeated), 'id')} of more than one document",
            tuple(repeated)[:EXAMPLES],
        )
    groups = [ids for group in counts.texts.groups(corpus).values() if len(ids := set(group)) > 1]
    if groups:
        documents = sum(map(len, groups))
        first, second = sorted(groups[0])[:2]
        yield Finding(
            "identical documents",
            False,
            documents,
            f"{documents:,} documents have the title and text of another, such as {second} of "
            f"{first}",
            tuple(sorted(doc_id for ids in groups[:EXAMPLES] for doc_id in ids)[:EXAMPLES]),
        )
    if counts.missing:
        yield _dangling(counts.missing, judged, relevant_documents(qrels))


def relevant_documents(qrels: Qrels) -> set[str]:
    """The ids of the documents that are relevant to a topic."""
    return {doc_id for grades in qrels.values() for doc_id, grade in grades.items() if grade > 0}


def first_markup(text: str) -> str:
    """The first tag or entity of a text; "" if it has none."""
    match = _MARKUP.search(text)
    return match[0] if match else ""


@dataclass
class _Tally:
    """The number of some documents, and the ids of the first few."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, doc_id: str) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(doc_id)

    def finding(self, kind: str, serious: bool, message: str) -> Iterator[Finding]:
        if self.count:
            message = f"{self.count:,} of {message}"
            yield Finding(kind, serious, self.count, message, tuple(self.examples))


@dataclass
class _Counts:
    """The counts of a pass over the documents."""

    missing: set[str]
    topics: Mapping[str, Topic]
    ids: Repeats = field(default_factory=Repeats)
    texts: Repeats = field(default_factory=lambda: Repeats(_text))
    titles: int = 0
    abstracts: int = 0
    empty: _Tally = field(default_factory=_Tally)
    marked: _Tally = field(default_factory=_Tally)
    lost: _Tally = field(default_factory=_Tally)
    topic_documents: _Tally = field(default_factory=_Tally)
    markup: str = ""

    def add(self, document: Document) -> None:
        self.ids.add(document)
        self.texts.add(document)
        self.missing.discard(document.id)
        has_title, has_abstract = bool(document.title.strip()), bool(document.abstract.strip())
        self.titles += has_title
        self.abstracts += has_abstract
        if not (has_title or has_abstract):
            self.empty.add(document.id)
        if markup := first_markup(document.title) or first_markup(document.abstract):
            self.markup = self.markup or markup
            self.marked.add(document.id)
        if document.id in self.topics and is_document(self.topics[document.id], document):
            self.topic_documents.add(document.id)
        if _LOST in document.title or _LOST in document.abstract:
            self.lost.add(document.id)


def _text(document: Document) -> str | None:
    return " ".join(document.text.split()) or None


def _texts(counts: _Counts) -> Iterator[Finding]:
    count = len(counts.ids)
    yield from counts.empty.finding(
        "empty documents",
        counts.empty.count > EMPTY_SHARE * count,
        f"{count:,} documents have neither title nor abstract",
    )
    if counts.abstracts < count / 2:
        yield Finding(
            "half-empty corpus",
            counts.abstracts == 0,
            count - counts.abstracts,
            f"only {counts.abstracts:,} of {count:,} documents have an abstract "
            f"({counts.titles:,} have a title)",
        )
    yield from counts.marked.finding(
        "markup",
        False,
        f"{count:,} documents have markup, such as '{counts.markup}', that is searched as words; "
        "remove it from their files if that matters",
    )
    yield from counts.topic_documents.finding(
        "topics that are documents",
        False,
        f"{counted(len(counts.topics), 'topic')} have the id and words of a document, which comes "
        f"first for itself: {advice()}",
    )
    yield from counts.lost.finding(
        "lost characters",
        False,
        f"{count:,} documents have U+FFFD, which stands where a character was lost",
    )


def _dangling(missing: set[str], judged: set[str], relevant: set[str]) -> Finding:
    lost = len(missing & relevant)
    return Finding(
        "dangling judgments",
        lost > MISSING_SHARE * len(relevant),
        len(missing),
        f"{len(missing):,} of {len(judged):,} judged documents are not in the corpus, among them "
        f"{lost:,} of the {len(relevant):,} relevant ones",
        tuple(sorted(missing)[:EXAMPLES]),
    )
