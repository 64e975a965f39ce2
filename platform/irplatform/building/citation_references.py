"""Articles in JATS and their reference lists: the identifiers of the articles that they cite.

Files that declare entities are refused: they could expand to anything. Characters of JATS's DTD
(`&alpha;`) are known by their names in HTML. Identifiers are written `pmid:123`, `pmcid:PMC123`,
`doi:10.1000/x` (in lower case) and `title:` with the title's words. They are in `pub-id` and
`object-id` elements, links to doi.org, PubMed and PMC, and in the text of a citation. A reference
may have parts (1a, 1b), which marks may name by their element's id or by their letter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.entities import html5
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.errors import InputError
from irplatform.runs.ids import DOI, doi_of, plain, pmcid_of, pmid_of, pmids_of
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
LONGEST_RANGE = 100
"""References; a longer range is a typesetter's error."""
MINIMUM_TITLE_WORDS = 5
"""Shorter titles ("Reply", "The cell cycle") are those of more than one article."""
_NOTES = ("fn", "table-fn", "aff", "corresp")
"""Types of marks, and elements, of notes outside the sentence."""
_CITATIONS = ("mixed-citation", "element-citation", "nlm-citation", "citation")
_KINDS = {
    "pmcid": "pmcid", "pmc": "pmcid", "pmid": "pmid", "pubmed": "pmid", "doi": "doi",
}  # fmt: skip
_READERS = {"pmid": pmid_of, "pmcid": pmcid_of, "doi": doi_of}
_NUMBER = re.compile(r"\d{1,6}")
_PRINTED = re.compile(
    r"(?P<address>(?:https?://|\b(?:[a-z0-9-]+\.)+(?:gov|org|com)/)\S+)"
    r"|(?P<pmcid>\bPMC(?:\s?ID\W{0,3})?(?:PMC)?\d+)"
    r"|(?P<pmid>\b(?:PMID|PubMed(?:\s?ID|\s?(?=[:#])))\W{0,3}\d+)"
    rf"|(?P<doi>{DOI})",
    re.IGNORECASE,
)
"""Identifiers that say what they are."""
_LETTER = re.compile(r"\W*\d{0,4}\W*([a-z])(?:\W*$|[).])")
"""At the beginning of a part of a reference."""
_LETTERS = re.compile(r"\W*\d{1,3}\W{0,2}([a-z](?:\s*[,–-]\s*[a-z])*)\W*")
"""The mark of parts: 1b, 2a,c, 3a–c."""


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
        self._by_letter: dict[tuple[int, str], int] = {}
        self._homes: dict[int, int] = {}
        self._notes = {note.get("id") for note in article.iter(*_NOTES)}
        elements = list(article.iter("ref"))
        self.count = len(elements)
        parts: list[Reference] = []
        for position, element in enumerate(elements):
            label = next(element.iter("label"), None)
            digits = None if label is None else _NUMBER.search(plain_text(label))
            number = int(digits[0]) if digits else None
            cited = [(citation, tuple(_works_of(citation))) for citation in _citations(element)]
            works = tuple(work for _, several in cited for work in several if work)
            self.references.append(Reference(number, works))
            if number is not None:
                self._by_number.setdefault(number, []).append(position)
            for inner in element.iter():
                if identifier := inner.get("id"):
                    self._by_id.setdefault(identifier, position)
            for citation, letter, several in _parts(cited):
                place = self.count + len(parts)
                parts.append(Reference(number, several))
                self._homes[place] = position
                self._by_letter[position, letter] = place
                ids = citation.xpath(".//@id | @id") if len(cited) > 1 else ()
                self._by_id.update(dict.fromkeys(ids, place))
        self.references += parts

    def are_meant(self, mark: Any) -> bool:
        """Return whether an `xref` is a reference mark, by its type or by its target."""
        kind = mark.get("ref-type")
        return kind in ("bibr", "ref") or bool(self.positions(mark.get("rid") or ""))

    def are_notes(self, mark: Any) -> bool:
        """Return whether an `xref` is the mark of a note, by its type or by its target."""
        return mark.get("ref-type") in _NOTES or mark.get("rid", "") in self._notes

    def positions(self, ids: str, label: str = "") -> list[int]:
        """The known references of a mark's `rid`, which may name several, or parts of them.

        A part is also meant by its letter in the `label` of a mark that points to the whole.
        """
        places = [self._by_id[name] for name in ids.split() if name in self._by_id]
        if len(places) != 1 or not (match := _LETTERS.fullmatch(label)):
            return places
        spans = re.findall(r"([a-z])(?:\s*[–-]\s*([a-z]))?", match[1])
        letters = [chr(n) for a, b in spans for n in range(ord(a), ord(b or a) + 1)]
        parts = [self._by_letter.get((places[0], letter)) for letter in letters]
        return [part for part in parts if part is not None] if None not in parts else places

    def home(self, position: int) -> int:
        """The position in the list of a reference, or of that which a part belongs to."""
        return self._homes.get(position, position)

    def beginning(self, positions: list[int], printed: list[tuple[int, int]]) -> int | None:
        """The position of number 0 in the list that a mark points into; None if unknown."""
        for position in positions:
            number = self.references[position].number or position + 1
            if any(first <= number <= last for first, last in printed):
                return self.home(position) - number
        first, last = printed[0][0], max(last for _, last in printed)
        is_first = self.references[positions[0]].number is None and last <= self.count
        return positions[0] - first if is_first else None

    def between(self, first: int, last: int) -> list[int]:
        """The references of a range of two marks, by their numbers or else by their order."""
        first, last = self.home(first), self.home(last)
        one, other = self.references[first].number, self.references[last].number
        if one is None or other is None:
            one, other = first, last
        if not one < other <= one + LONGEST_RANGE:
            return []
        if (one, other) == (first, last):
            return [*range(first + 1, last)]
        return self.numbered(one + 1, other - 1, first - one)

    def numbered(self, first: int, last: int, begin: int) -> list[int]:
        """The references printed with the numbers from `first` to `last`.

        `begin` is the position of number 0, see `beginning`. Of several lists that all begin with
        1, the best fit is taken. References without a number count by their order.
        """
        places = []
        for number in range(first, last + 1):
            if candidates := self._by_number.get(number):
                places.append(min(candidates, key=lambda place: abs(place - begin - number)))
            elif 0 <= (place := begin + number) < self.count:
                places += [place] if self.references[place].number is None else []
        return places


def normalized(kind: str, value: str) -> str | None:
    """A "pmid", "pmcid" or "doi" in the form that is compared; None for another kind of value."""
    name = _READERS[kind](value)
    return f"{kind}:{name.lower() if kind == 'doi' else name}" if name else None


def identifiers(text: str, kind: str = "") -> list[str]:
    """The identifiers that a text spells, given its kind, or that say what they are."""
    if kind == "pmid":
        numbers, others = pmids_of(text)
        if numbers and not others:
            return [f"pmid:{number}" for number in numbers]
    if kind == "pmcid" and (name := normalized(kind, text)):
        return [name]
    names = []
    for match in _PRINTED.finditer(plain(text)):
        kinds = [match.lastgroup or ""]
        if kinds == ["address"]:
            kinds = ["pmid", "pmcid", *(["doi"] if "doi.org/" in match[0].lower() else [])]
        names += [name for scheme in kinds if (name := normalized(scheme, match[0]))][:1]
    return names


def title_key(title: str) -> str | None:
    """A title as an identifier: its words; None if it is too short to identify an article."""
    words = tokenize(title)
    return f"title:{' '.join(words)}" if len(words) >= MINIMUM_TITLE_WORDS else None


def _citations(reference: Any) -> list[Any]:
    """The citations of a reference; two renderings of one, for print and machines, are one."""
    tags = (*_CITATIONS, "citation-alternatives")
    return [child for child in reference if child.tag in tags] or [reference]


_Works: TypeAlias = tuple[tuple[str, ...], ...]


def _parts(cited: list[tuple[Any, _Works]]) -> Iterator[tuple[Any, str, _Works]]:
    """The parts of a reference with their letters: its citations, or the works after (a), (b)."""
    if len(cited) > 1:
        for citation, several in cited:
            label = citation.find("label")
            letter = _LETTER.match(plain_text(citation if label is None else label))
            yield citation, letter[1] if letter else "", several
        return
    for citation, several in cited:
        letters = re.findall(r"\(([a-z])\)", plain_text(citation))
        if len(several) > 1 and letters == [*ascii_lowercase[: len(several)]]:
            for letter, work in zip(letters, several, strict=True):
                yield citation, letter, (work,)


def _works_of(citation: Any) -> list[tuple[str, ...]]:
    """The identifiers of each work of a citation, titles last.

    Most cite one work. In "(a) …; (b) …", the second begins with the first identifier of a kind
    that the work before has already.
    """
    ids = list(_identifiers(citation))
    works: list[dict[str, None]] = [{}]
    if any(_differ(one, other) for one in ids for other in ids if not _is_title(one)):
        for identifier in ids:
            if matches := [work for work in works if identifier in work]:
                works.remove(matches[0])
                works.append(matches[0])
            elif any(_differ(identifier, other) for other in works[-1]):
                works.append({})
            works[-1][identifier] = None
    else:
        works = [dict.fromkeys(ids)]
    # Elements stand side by side: "<fpage>e307</fpage><comment>doi:10.1371/…</comment>".
    printed = dict.fromkeys(identifiers(plain_text(citation, around=" ")))
    for kind in _READERS:
        if not any(identifier.startswith(f"{kind}:") for identifier in ids):
            names = [name for name in printed if name.startswith(f"{kind}:")]
            works += [{} for _ in range(len(names) - len(works))]
            for work, name in zip(works, names, strict=False):
                work[name] = None
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
            if identifier:
                yield identifier
        else:
            type_ = element.get("pub-id-type") or element.get("ext-link-type")
            kind = _KINDS.get(str(type_).lower(), "")
            yield from identifiers(href(element), kind) or identifiers(plain_text(element), kind)
