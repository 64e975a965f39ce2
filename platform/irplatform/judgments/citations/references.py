"""The reference list of an article: what each reference says about the article that it cites.

Identifiers are written `pmid:123`, `pmcid:PMC123`, `doi:10.1000/x` (lower case: a DOI's case means
nothing) and, to find an article in a corpus that has it without an identifier, `title:` with the
title's words. They come from `pub-id` and `object-id` elements, from links to doi.org and PubMed,
and from a DOI that is printed after "doi:".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from irplatform.judgments.citations.xml import href, parted_text, plain_text
from irplatform.text import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator

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
