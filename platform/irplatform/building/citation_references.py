"""Articles in JATS and their reference lists: the identifiers of the articles that they cite.

Files that declare entities are refused: they could expand to anything. Characters of JATS's DTD
(`&alpha;`) are known by their names in HTML. Identifiers are written `pmid:123`, `pmcid:PMC123`,
`doi:10.1000/x` (in lower case) and `title:` with the title's words. They are in `pub-id` and
`object-id` elements, links to doi.org and PubMed, and DOIs printed after "doi:".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.entities import html5
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from irplatform.errors import InputError
from irplatform.text import tokenize
from irplatform.text.tokenizer import apart

if TYPE_CHECKING:
    from collections.abc import Iterator

MATHML = "{http://www.w3.org/1998/Math/MathML}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_BETWEEN = rb"(?:\s|\xef\xbb\xbf|<!--(?:(?!-->).)*+-->)*+"
_BEFORE = re.compile(_BETWEEN, re.DOTALL)
_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_NEXT_DOCUMENT = re.compile(
    rb"(</(?:[\w.-]+:)?(?:article|articles|pmc-articleset)\s*>)"
    + _BETWEEN
    + rb"(?=<(\?xml\s|!DOCTYPE|pmc-articleset|article\b))",
    re.DOTALL,
)
"""The end of an XML document before another one, as loops over efetch write them."""
MINIMUM_TITLE_WORDS = 5
"""Shorter titles ("Reply", "The cell cycle") are those of more than one article."""
_NOTES = ("fn", "table-fn", "aff", "corresp")
"""Types of marks, and elements, of notes outside the sentence."""
_CITATIONS = ("mixed-citation", "element-citation", "nlm-citation", "citation")
_KINDS = {"pmcid": "pmcid", "pmc": "pmcid", "pmid": "pmid", "doi": "doi"}
_NUMBER = re.compile(r"\d{1,6}")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"]+")
"""Up to the next space, as in "10.1002/…20:3<377::AID-SIM799>3.0.CO;2-N"."""
_OPENING = {")": "(", "]": "[", ">": "<"}
_HYPHENS = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
"""Characters that typesetters put for the hyphen in a DOI."""
_PMID_LINK = re.compile(
    r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/(?:entrez/)?pubmed)/(\d+)"
)
_PMID = re.compile(r"(?:(?:PMID|PubMed)\s*:?\s*)?0*([1-9][0-9]{0,7})(?:\.0)?", re.IGNORECASE)
"""One to eight digits; tables may have a decimal point behind numbers, and 0 for none."""
_PMCID = re.compile(r"(?:PMC\s*ID\s*:?\s*)?(?:PMC)?0*([1-9][0-9]*)(?:\.[0-9]+)?", re.IGNORECASE)
_PRINTED_DOI = re.compile(rf"\bdoi:?\s*({_DOI.pattern})", re.IGNORECASE)


def read_articles(content: bytes, name: str) -> list[Any]:
    """The `article` elements of a file, with names of JATS without a namespace.

    Raises:
        InputError: the file is not XML, declares entities, or holds no article.
    """
    articles = []
    for begin, end in _documents(content):
        try:
            articles += _read_document(content[begin:end], name)
        except InputError as error:
            line = content.count(b"\n", 0, begin)
            at = None if error.line is None else error.line + line
            raise InputError(error.message, path=name, line=at) from error
    return articles


def _documents(content: bytes) -> Iterator[tuple[int, int]]:
    """Where each XML document of a file begins and ends."""
    begin = _BEFORE.match(content).end()  # type: ignore[union-attr]
    for match in _NEXT_DOCUMENT.finditer(content, begin):
        root = _ROOT.search(content, begin)
        # Articles in a set follow each other, too.
        if match[2] != b"article" or (root and root[1] == b"article"):
            yield begin, match.end(1)
            begin = match.end()
    yield begin, len(content)


def _read_document(content: bytes, name: str) -> list[Any]:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        reason = (error.msg or "no content").partition(", line ")[0]
        raise InputError(
            f"this is not XML ({reason}). Fetch the file again.", path=name, line=error.lineno
        ) from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        at = content.find(b"<!ENTITY")
        raise InputError(
            "this file declares entities, which could expand to anything. Articles from PubMed "
            "Central have none; remove the declarations.",
            path=name,
            line=content.count(b"\n", 0, at) + 1 if at >= 0 else None,
        )
    for element in root.iter(etree.Element):
        if element.tag.startswith("{") and not element.tag.startswith(MATHML):
            element.tag = etree.QName(element).localname
    articles = [root] if root.tag == "article" else list(root.iter("article"))
    if not articles:
        raise InputError(
            f"this is XML, but not of an article in JATS: its root is <{root.tag}>.", path=name
        )
    return articles


def is_element(node: Any) -> bool:
    """Return whether a node is an element, not a processing instruction or an entity."""
    return isinstance(node.tag, str)


def character(node: Any) -> str:
    """The character that an entity names; "" for other nodes and unknown names."""
    name = getattr(node, "name", None)  # only entities have one
    return html5.get(f"{name};", "") if isinstance(name, str) else ""


def plain_text(element: Any, around: str = "") -> str:
    """All text of an element, white space collapsed, with `around` beside each element inside."""
    return " ".join("".join(_texts(element, around)).split())


def href(element: Any) -> str:
    """The target of a link, or ""."""
    return str(element.get(_HREF) or "").strip()


def _texts(element: Any, around: str = "") -> Iterator[str]:
    before = element.text or ""
    yield before
    for child in element:
        if is_element(child):
            text = "".join(_texts(child, around))
            yield around or (apart(before, text) if child.tag == "sup" else "")
            yield text
            yield around
        else:
            text = character(child)
            yield text
        yield child.tail or ""
        before = child.tail or text or before


@dataclass(frozen=True)
class Reference:
    """An entry of a reference list: its number, and the identifiers of each cited article."""

    number: int | None
    works: tuple[tuple[str, ...], ...]


class ReferenceList:
    """The references of an article, by the ids that the marks in its text use."""

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
        """Return whether an `xref` is a reference mark, by its type or by its target."""
        kind = mark.get("ref-type")
        return kind in ("bibr", "ref") or bool(self.positions(mark.get("rid") or ""))

    def are_notes(self, mark: Any) -> bool:
        """Return whether an `xref` is the mark of a note, by its type or by its target."""
        return mark.get("ref-type") in _NOTES or mark.get("rid", "") in self._notes

    def positions(self, ids: str) -> list[int]:
        """The known references of a mark's `rid`, which may name several."""
        return [self._by_id[name] for name in ids.split() if name in self._by_id]

    def beginning(self, positions: list[int], printed: list[tuple[int, int]]) -> int | None:
        """The position of number 0 in the list that a mark points into; None if unknown."""
        for position in positions:
            number = self.references[position].number or position + 1
            if any(first <= number <= last for first, last in printed):
                return position - number
        first, last = printed[0][0], max(last for _, last in printed)
        is_first = self.references[positions[0]].number is None and last <= len(self.references)
        return positions[0] - first if is_first else None

    def numbered(self, first: int, last: int, begin: int) -> list[int]:
        """The references printed with the numbers from `first` to `last`.

        `begin` is the position of number 0, see `beginning`. Of several lists that all begin with
        1, the best fit is taken. References without a number count by their order.
        """
        found = []
        for number in range(first, last + 1):
            if candidates := self._by_number.get(number):
                found.append(min(candidates, key=lambda place: abs(place - begin - number)))
            elif 0 <= (place := begin + number) < len(self.references):
                found += [place] if self.references[place].number is None else []
        return found


def normalized(kind: str, value: str) -> str | None:
    """A "pmid", "pmcid" or "doi" in the form that is compared; None for another kind of value."""
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
    """A DOI without stops, and without closing brackets that it does not open."""
    while doi[-1] in ".,;:'”’" or doi.count(_OPENING.get(doi[-1], doi[-1])) < doi.count(doi[-1]):
        doi = doi[:-1]
    return doi


def title_key(title: str) -> str | None:
    """A title as an identifier: its words; None if it is too short to identify an article."""
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
        printed = [match[1] for match in _PRINTED_DOI.finditer(plain_text(citation, around=" "))]
        dois = dict.fromkeys(doi for text in printed if (doi := normalized("doi", text)))
        works += [{} for _ in range(len(dois) - len(works))]
        for work, doi in zip(works, dois, strict=False):
            work[doi] = None
    return [tuple(sorted(work, key=_is_title)) for work in works]


def _is_title(identifier: str) -> bool:
    return identifier.startswith("title:")


def _differ(one: str, other: str) -> bool:
    """Return whether two identifiers of one kind are of two works; a DOI's link may be longer."""
    short, long = sorted((one, other), key=len)
    goes_on = long.startswith(short) and not long[len(short) :][:1].isalnum()
    return one.partition(":")[0] == other.partition(":")[0] and not goes_on


def _identifiers(citation: Any) -> Iterator[str]:
    """Identifiers and titles, in the citation's order."""
    for element in citation.iter("pub-id", "object-id", "ext-link", "uri", "article-title"):
        if element.tag == "article-title":
            identifier = title_key(plain_text(element))
        elif element.tag in ("pub-id", "object-id"):
            kind = _KINDS.get(str(element.get("pub-id-type")).lower())
            identifier = kind and normalized(kind, plain_text(element))
        else:
            identifier = _linked(href(element))
        if identifier:
            yield identifier


def _linked(address: str) -> str | None:
    if pubmed := _PMID_LINK.search(address):
        return normalized("pmid", pubmed[1])
    if "doi.org/" in address:
        return normalized("doi", address)
    return None
