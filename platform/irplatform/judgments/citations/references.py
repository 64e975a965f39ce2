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

_CITATIONS = ("mixed-citation", "element-citation", "nlm-citation", "citation")
_NUMBER = re.compile(r"\d+")
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
        for position, element in enumerate(article.iter("ref")):
            label = element.find("label")
            digits = None if label is None else _NUMBER.search(plain_text(label))
            number = int(digits[0]) if digits else None
            self.references.append(Reference(number, tuple(_works(element))))
            if number is not None:
                self._by_number.setdefault(number, []).append(position)
            for inner in element.iter():
                if identifier := inner.get("id"):
                    self._by_id.setdefault(identifier, position)

    def positions(self, ids: str) -> list[int]:
        """The references of a mark's `rid`, which may name several; unknown ids are left out."""
        return [self._by_id[name] for name in ids.split() if name in self._by_id]

    def numbered(self, first: int, last: int, begin: int) -> list[int]:
        """The references printed with the numbers from `first` to `last`.

        Args:
            first: a number.
            last: a number.
            begin: where number 0 would stand in the list that is meant, if it is numbered in order:
                of several lists that all begin with 1, the one that fits best is taken.
        """
        return [
            min(candidates, key=lambda position: abs(position - begin - number))
            for number in range(first, last + 1)
            if (candidates := self._by_number.get(number))
        ]


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
        if identifiers := tuple(dict.fromkeys(_identifiers(citation))):
            yield identifiers


def _identifiers(citation: Any) -> Iterator[str]:
    candidates = [
        *(_declared(e) for name in ("pub-id", "object-id") for e in citation.iter(name)),
        *(_linked(href(e)) for name in ("ext-link", "uri") for e in citation.iter(name)),
    ]
    identifiers = [identifier for identifier in candidates if identifier]
    yield from identifiers
    if not any(identifier.startswith("doi:") for identifier in identifiers):
        # Elements stand side by side: "<fpage>e307</fpage><comment>doi:10.1371/…</comment>".
        printed = _PRINTED_DOI.search(parted_text(citation))
        if printed and (doi := normalized("doi", printed[1])):
            yield doi
    for title in citation.iter("article-title"):
        if key := title_key(plain_text(title)):
            yield key


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
