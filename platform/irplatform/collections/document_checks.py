"""What is wrong with the documents of a collection, told from one pass over them.

Documents are streamed; 8 bytes are held for each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform.collections.finding import EXAMPLES, Finding
from irplatform.collections.markup import first_markup
from irplatform.document_ids import DocumentIds
from irplatform.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.collections.collection import Corpus
    from irplatform.plugin import Document

MISSING_SHARE = 0.5
"""Share of the relevant documents that may be missing: sampled and closed-pool corpora lack some,
but a score on less than half of the relevant documents says nothing about a system."""
EMPTY_SHARE = 0.1
"""Share of documents that may have no text: MEDLINE has records without an abstract, and a few
without a title, but a tenth without both is a wrong field name or a broken copy."""


def check_documents(corpus: Corpus, judged: set[str], relevant: set[str]) -> Iterator[Finding]:
    """Read all documents and list what is wrong with them.

    Args:
        corpus: the documents.
        judged: ids of the documents that have a judgment.
        relevant: ids of those among them that are relevant to a topic.

    Raises:
        InputError: a file cannot be read.
    """
    seen = _Seen(missing=set(judged))
    for document in corpus:
        seen.add(document)
    if not len(seen.ids):
        yield Finding("no documents", True, 0, "there are no documents")
        return
    for problem in corpus.problems():
        yield Finding("keys that no document has", True, len(seen.ids), problem)
    yield from _texts(seen)
    if repeated := seen.ids.repeated(corpus):
        yield Finding(
            "duplicate ids",
            True,
            len(repeated),
            f"{counted(len(repeated), 'id')} of more than one document",
            tuple(repeated)[:EXAMPLES],
        )
    if seen.missing:
        yield _dangling(seen.missing, judged, relevant)


@dataclass
class _Tally:
    """How many documents have something, and the ids of the first few."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, doc_id: str) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(doc_id)


@dataclass
class _Seen:
    """What a pass over the documents has seen.

    Attributes:
        missing: ids of judged documents that have not come yet.
        markup: the first piece of it.
    """

    missing: set[str]
    ids: DocumentIds = field(default_factory=DocumentIds)
    titles: int = 0
    abstracts: int = 0
    empty: _Tally = field(default_factory=_Tally)
    marked: _Tally = field(default_factory=_Tally)
    markup: str = ""

    def add(self, document: Document) -> None:
        self.ids.add(document.id)
        self.missing.discard(document.id)
        has_title, has_abstract = bool(document.title.strip()), bool(document.abstract.strip())
        self.titles += has_title
        self.abstracts += has_abstract
        if not (has_title or has_abstract):
            self.empty.add(document.id)
        if markup := first_markup(document.title) or first_markup(document.abstract):
            self.markup = self.markup or markup
            self.marked.add(document.id)


def _texts(seen: _Seen) -> Iterator[Finding]:
    """What is wrong with titles and abstracts."""
    count = len(seen.ids)
    if seen.empty.count:
        yield Finding(
            "empty documents",
            seen.empty.count > EMPTY_SHARE * count,
            seen.empty.count,
            f"{seen.empty.count:,} of {count:,} documents have neither title nor abstract",
            tuple(seen.empty.examples),
        )
    if seen.abstracts < count / 2:
        yield Finding(
            "half-empty corpus",
            seen.abstracts == 0,
            count - seen.abstracts,
            f"only {seen.abstracts:,} of {count:,} documents have an abstract "
            f"({seen.titles:,} have a title)",
        )
    if seen.marked.count:
        yield Finding(
            "markup",
            False,
            seen.marked.count,
            f"{seen.marked.count:,} of {count:,} documents have markup, such as '{seen.markup}', "
            "that is searched as words; remove it from their files where that matters",
            tuple(seen.marked.examples),
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
