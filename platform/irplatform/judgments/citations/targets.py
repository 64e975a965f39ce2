"""The documents that references point to: in a collection, or PMIDs and DOIs where there is none.

A document is found by its id (a PMID, PMC id or DOI), by its fields `pmid`, `pmc`, `pmcid` and
`doi`, and, if that is asked for, by its title: the same words, in no other document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform.console import progress
from irplatform.judgments.citations.references import normalized, title_key
from irplatform.retrieval.dates import year_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.collections import Corpus
    from irplatform.plugin import Document

_FIELDS = {"pmid": "pmid", "pmc": "pmcid", "pmcid": "pmcid", "doi": "doi"}


@dataclass(frozen=True, slots=True)
class Target:
    """A document that can be cited.

    Attributes:
        id: its id.
        words: of title and abstract, or None where there is no collection.
        year: of its publication, or "".
    """

    id: str
    words: int | None = None
    year: str = ""


@dataclass
class Targets:
    """Which document an identifier stands for.

    Attributes:
        same: identifiers to others of the same article, from a table.
        by_identifier: identifiers to documents of a collection; None: there is no collection.
        titles: whether documents are sought by title, too.
    """

    same: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_identifier: dict[str, Target] | None = None
    titles: bool = False

    def identified(self, work: Sequence[str]) -> bool:
        """Whether a work has a PMID or DOI, in the file or through the table."""
        return any(i.startswith(("pmid:", "doi:")) for i in self._names(work))

    def find(self, work: Sequence[str]) -> Target | None:
        """The document of a work.

        Args:
            work: the identifiers of a cited article.
        """
        names = list(self._names(work))
        if self.by_identifier is None:
            for kind in ("pmid:", "doi:"):
                if identifier := next((name for name in names if name.startswith(kind)), None):
                    return Target(identifier.removeprefix(kind))
            return None
        return next((self.by_identifier[n] for n in names if n in self.by_identifier), None)

    def _names(self, work: Sequence[str]) -> Iterator[str]:
        """All names of a work: its own, those of the table, its title last."""
        identifiers = [name for name in work if not name.startswith("title:")]
        yield from identifiers
        for name in identifiers:
            yield from self.same.get(name, ())
        if self.titles:
            yield from (name for name in work if name.startswith("title:"))


def search_corpus(corpus: Corpus, wanted: set[str]) -> dict[str, Target]:
    """Find the documents that some identifiers stand for, in one pass over a corpus.

    Args:
        corpus: the documents.
        wanted: identifiers, see `references`; titles only if documents are sought by title.

    Returns:
        Identifiers to documents; a title that several documents have stands for none.
    """
    targets: dict[str, Target] = {}
    ambiguous: set[str] = set()
    titles = any(identifier.startswith("title:") for identifier in wanted)
    with progress(
        f"looking for cited articles in {corpus.name}", corpus.size_hint(), "documents"
    ) as advance:
        for document in corpus:
            advance(1)
            names = [name for name in _names(document, titles=titles) if name in wanted]
            if not names:
                continue
            target = Target(document.id, len(document.text.split()), year_of(document))
            for name in names:
                if name in targets and name.startswith("title:"):
                    ambiguous.add(name)
                targets.setdefault(name, target)
    return {name: target for name, target in targets.items() if name not in ambiguous}


def _names(document: Document, *, titles: bool) -> Iterator[str]:
    if document.id.isdecimal():
        kinds = [("pmid", document.id)]
    else:
        kinds = [("pmcid" if document.id.startswith("PMC") else "doi", document.id)]
    for name, kind in _FIELDS.items():
        kinds += [(kind, value) for value in document.values(name)]
    yield from filter(None, (normalized(kind, value) for kind, value in kinds))
    if titles and (key := title_key(document.title)):
        yield key
