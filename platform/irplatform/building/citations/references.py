"""The reference list of an article: what each reference says about the article that it cites.

Identifiers are written `pmid:123`, `pmcid:PMC123`, `doi:10.1000/x` (lower case: a DOI's case means
nothing) and, to find an article in a corpus that has it without an identifier, `title:` with the
title's words. They come from `pub-id` and `object-id` elements, from links to doi.org and PubMed,
and from a DOI that is printed after "doi:".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from irplatform.building.citations.xml import href, parted_text, plain_text
from irplatform.lucene.dates import year_of
from irplatform.system.console import progress
from irplatform.text import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.data import Corpus, Document


MINIMUM_TITLE_WORDS = 5
"""Shorter titles ("Reply", "The cell cycle") are those of more than one article."""

_NOTES = ("fn", "table-fn", "aff", "corresp")
"""Types of marks, and elements, of notes that are no part of a sentence."""
_CITATIONS = ("mixed-citation", "element-citation", "nlm-citation", "citation")
_NUMBER = re.compile(r"\d{1,6}")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"]+")
"""With whatever follows: of "10.1002/…20:3<377::AID-SIM799>3.0.CO;2-N" all belongs to the DOI."""
_OPENING = {")": "(", "]": "[", ">": "<"}
_HYPHENS = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
"""What typesetters make of the hyphen in a DOI."""
_PMID_LINK = re.compile(
    r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/(?:entrez/)?pubmed)/(\d+)"
)
_PMID = re.compile(r"(?:(?:PMID|PubMed)\s*:?\s*)?0*([1-9][0-9]{0,7})(?:\.0)?", re.IGNORECASE)
"""One to eight digits; tables have a decimal point behind numbers, and 0 where there is none."""
_PMCID = re.compile(r"(?:PMC\s*ID\s*:?\s*)?(?:PMC)?0*([1-9][0-9]*)(?:\.[0-9]+)?", re.IGNORECASE)
_PRINTED_DOI = re.compile(rf"\bdoi:?\s*({_DOI.pattern})", re.IGNORECASE)


@dataclass(frozen=True)
class Reference:
    """An entry of a reference list.

    Attributes:
        number: the number that it is printed with, if it has one.
        works: the identifiers of each article that it cites; usually one.
    """

    number: int | None
    works: tuple[tuple[str, ...], ...]


class ReferenceList:
    """The references of an article, by the ids that the marks in its text use.

    Args:
        article: an `article` element.
    """

    def __init__(self, article: Any) -> None:
        self.references: list[Reference] = []
        self._by_id: dict[str, int] = {}
        self._by_number: dict[int, list[int]] = {}
        self._notes = {note.get("id") for note in article.iter(*_NOTES)}
        for position, element in enumerate(article.iter("ref")):
            label = next(element.iter("label"), None)
            digits = None if label is None else _NUMBER.search(plain_text(label))
            number = int(digits[0]) if digits else None
            self.references.append(Reference(number, tuple(_works(element))))
            if number is not None:
                self._by_number.setdefault(number, []).append(position)
            for inner in element.iter():
                if identifier := inner.get("id"):
                    self._by_id.setdefault(identifier, position)

    def are_meant(self, mark: Any) -> bool:
        """Whether an `xref` is a reference mark: its type says so, or it points to a reference."""
        kind = mark.get("ref-type")
        return kind in ("bibr", "ref") or bool(self.positions(mark.get("rid") or ""))

    def are_notes(self, mark: Any) -> bool:
        """Whether an `xref` is the mark of a note, by its type or by what it points to."""
        return mark.get("ref-type") in _NOTES or mark.get("rid", "") in self._notes

    def positions(self, ids: str) -> list[int]:
        """The references of a mark's `rid`, which may name several; unknown ids are left out."""
        return [self._by_id[name] for name in ids.split() if name in self._by_id]

    def beginning(self, positions: list[int], printed: list[tuple[int, int]]) -> int | None:
        """Where number 0 stands in the list that a mark points into; None if it cannot be told.

        Args:
            positions: the references that the mark points to.
            printed: first and last number of the ranges that the mark prints.
        """
        for position in positions:
            number = self.references[position].number or position + 1
            if any(first <= number <= last for first, last in printed):
                return position - number
        first, last = printed[0][0], max(last for _, last in printed)
        is_first = self.references[positions[0]].number is None and last <= len(self.references)
        return positions[0] - first if is_first else None

    def numbered(self, first: int, last: int, begin: int) -> list[int]:
        """The references printed with the numbers from `first` to `last`.

        Args:
            first: a number.
            last: a number.
            begin: where number 0 stands in the list that is meant, if it is numbered in order: of
                several lists that all begin with 1, the one that fits best is taken. References
                without a number count by their order.
        """
        found = []
        for number in range(first, last + 1):
            if candidates := self._by_number.get(number):
                found.append(min(candidates, key=lambda place: abs(place - begin - number)))
            elif 0 <= (place := begin + number) < len(self.references):
                found += [place] if self.references[place].number is None else []
        return found


def normalized(kind: str, value: str) -> str | None:
    """An identifier in the one form that is compared; None if it is not one of its kind.

    Args:
        kind: "pmid", "pmcid" or "doi".
        value: as it is written somewhere.
    """
    value = value.strip()
    if kind == "pmid":
        match = _PMID.fullmatch(value)
        return f"pmid:{match[1]}" if match else None
    if kind == "pmcid":
        match = _PMCID.fullmatch(value)
        return f"pmcid:PMC{match[1]}" if match else None
    match = _DOI.search(unquote(value).translate(_HYPHENS))
    return f"doi:{_without_end(match[0]).lower()}" if match else None


def _without_end(doi: str) -> str:
    """A DOI without what a sentence puts behind it: stops, and brackets that it does not open."""
    while doi[-1] in ".,;:'”’" or doi.count(_OPENING.get(doi[-1], doi[-1])) < doi.count(doi[-1]):
        doi = doi[:-1]
    return doi


def title_key(title: str) -> str | None:
    """A title as an identifier: its words; None if it is too short to tell articles apart."""
    words = tokenize(title)
    return f"title:{' '.join(words)}" if len(words) >= MINIMUM_TITLE_WORDS else None


def _works(reference: Any) -> Iterator[tuple[str, ...]]:
    citations = [child for child in reference if child.tag in _CITATIONS]
    # The same citation in two renderings (for print, for machines) is one work.
    alternatives = reference.find("citation-alternatives")
    if alternatives is not None:
        citations.append(alternatives)
    for citation in citations or [reference]:
        yield from filter(None, _works_of(citation))


def _works_of(citation: Any) -> list[tuple[str, ...]]:
    """The identifiers of each work of a citation, titles last.

    Most cite one work. In "(a) …; (b) …", the second begins with the first identifier of a kind
    that the work before has already.
    """
    found = list(_identifiers(citation))
    works: list[dict[str, None]] = [{}]
    if any(_differ(one, other) for one in found for other in found if not _is_title(one)):
        for identifier in found:
            if known := [work for work in works if identifier in work]:
                works.remove(known[0])
                works.append(known[0])
            elif any(_differ(identifier, other) for other in works[-1]):
                works.append({})
            works[-1][identifier] = None
    else:
        works = [dict.fromkeys(found)]
    if not any(identifier.startswith("doi:") for identifier in found):
        # Elements stand side by side: "<fpage>e307</fpage><comment>doi:10.1371/…</comment>".
        printed = [match[1] for match in _PRINTED_DOI.finditer(parted_text(citation))]
        dois = dict.fromkeys(doi for text in printed if (doi := normalized("doi", text)))
        works += [{} for _ in range(len(dois) - len(works))]
        for work, doi in zip(works, dois, strict=False):
            work[doi] = None
    return [tuple(sorted(work, key=_is_title)) for work in works]


def _is_title(identifier: str) -> bool:
    return identifier.startswith("title:")


def _differ(one: str, other: str) -> bool:
    """Whether two identifiers are of the same kind and of two works; a DOI's link may go on."""
    short, long = sorted((one, other), key=len)
    goes_on = long.startswith(short) and not long[len(short) :][:1].isalnum()
    return one.partition(":")[0] == other.partition(":")[0] and not goes_on


def _identifiers(citation: Any) -> Iterator[str]:
    """Identifiers and titles, in the citation's order."""
    for element in citation.iter("pub-id", "object-id", "ext-link", "uri", "article-title"):
        if element.tag == "article-title":
            identifier = title_key(plain_text(element))
        elif element.tag in ("pub-id", "object-id"):
            identifier = _declared(element)
        else:
            identifier = _linked(href(element))
        if identifier:
            yield identifier


def _declared(element: Any) -> str | None:
    kind = str(element.get("pub-id-type") or "").lower()
    kind = {"pmcid": "pmcid", "pmc": "pmcid", "pmid": "pmid", "doi": "doi"}.get(kind, "")
    return normalized(kind, plain_text(element)) if kind else None


def _linked(address: str) -> str | None:
    if pubmed := _PMID_LINK.search(address):
        return normalized("pmid", pubmed[1])
    if "doi.org/" in address:
        return normalized("doi", address)
    return None


# The documents that references point to: in a collection, or PMIDs and DOIs where there is none.
#
# A document is found by its id (a PMID, PMC id or DOI), by its fields `pmid`, `pmc`, `pmcid` and
# `doi`, and, if that is asked for, by its title: the same words, in no other document.

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
