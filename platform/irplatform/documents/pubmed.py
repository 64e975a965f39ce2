"""Articles of PubMed, made of elements of its XML.

Texts include italics, super- and subscripts and formulas. An article without an abstract gets one
of another source (`OtherAbstract`, in English if there is one). A journal issue's date may be free
text ("1998 Dec-1999 Jan", "Spring 1994", "2000 Dec 23-30"): its year is the first, its month that
of the first day, if days are given, or the only one.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Any

from irplatform.data import Document
from irplatform.errors import InputError
from irplatform.runs.ids import doi_of
from irplatform.text.tokenizer import apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from irplatform.data import FieldValue

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_MONTH = (
    r"\b(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t|tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_TO = r"\s*(?:[-–—/&]|to\b|and\b)"
_MONTH_FIRST = re.compile(rf"{_MONTH},?\s+(\d{{4}})(?!\d)", re.IGNORECASE)
_FREE = re.compile(
    rf"(\d{{4}})[\s,;:-]+{_MONTH}(?!{_TO})(?:\s+(\d{{1,2}})(?!\w|{_TO}))?", re.IGNORECASE
)
"""Of ranges, one of days has a month, its first, and one of months has none."""
_NOT_FIELDS = ("pmid", "version", "title", "abstract")
_MATHML = "{http://www.w3.org/1998/Math/MathML}"
_REPEATED = {f"{_MATHML}annotation", f"{_MATHML}annotation-xml"}
"""Elements that repeat a formula in another notation."""
_UNLABELLED = {"", "UNLABELLED", "UNLABELED", "UNASSIGNED"}
_NO_TITLE = {"[Not Available].", "[Not Available]", "Not Available", "Not Available."}


@dataclass(frozen=True, slots=True)
class Article:
    """An article; fields that its record lacks are empty.

    Attributes:
        title: in English, without the brackets that mark a translation.
        abstract: its sections with their labels ("METHODS: …"), without a copyright notice.
        mesh_major: descriptors that are its main subjects, by themselves or by a qualifier.
        mesh_qualified: descriptors with a qualifier, as in "Neoplasms/genetics".
        supplementary: MeSH supplementary concepts (rare diseases, protocols, organisms).
        genes: symbols in old records (1991 to 1995).
        journal: its abbreviated title, as in "N Engl J Med".
        date: of publication as far as it is known: "2017", "2017-03" or "2017-03-09".
        language: three-letter codes.
        book: the book that it is a chapter of, or that it is.
    """

    pmid: str
    version: int = 1
    title: str = ""
    abstract: str = ""
    mesh: tuple[str, ...] = ()
    mesh_major: tuple[str, ...] = ()
    mesh_qualified: tuple[str, ...] = ()
    supplementary: tuple[str, ...] = ()
    chemicals: tuple[str, ...] = ()
    genes: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    journal: str = ""
    year: str = ""
    date: str = ""
    language: tuple[str, ...] = ()
    vernacular_title: str = ""
    doi: str = ""
    pmc: str = ""
    book: str = ""

    def document(self, names: tuple[str, ...] | None = None) -> Document:
        """The article as a document with its PMID as id."""
        values: dict[str, FieldValue] = {}
        for name in FIELDS if names is None else names:
            if value := getattr(self, name):
                values[name] = value
        return Document(self.pmid, self.title, self.abstract, values)


FIELDS = tuple(field.name for field in fields(Article) if field.name not in _NOT_FIELDS)


@dataclass(frozen=True, slots=True)
class Deleted:
    """An article that was removed from PubMed."""

    pmid: str


def article(element: Any, path: Path | str) -> Article:
    """The article of an entry: a `MedlineCitation` or `BookDocument`, or an element around one."""
    outer = {element.tag: element, **children(element)}
    citation = outer.get("MedlineCitation", outer.get("BookDocument"))
    if citation is None:
        raise InputError(
            "an article without a MedlineCitation or BookDocument.", path=path, line=_line(element)
        )
    part = children(citation)
    body = citation if citation.tag == "BookDocument" else part.get("Article", ())
    inner = children(body)
    data = {**inner, **children(outer.get("PubmedData", outer.get("PubmedBookData")))}
    book = children(inner.get("Book"))
    pmid, version = _number(part.get("PMID"), citation, path)
    language = tuple(text for child in body if child.tag == "Language" and (text := _text(child)))
    title, vernacular = _titles({"ArticleTitle": book.get("BookTitle"), **inner}, language)
    headings = [_heading(heading) for heading in part.get("MeshHeadingList", ())]
    date = publication_date(inner, data)
    return Article(
        pmid=pmid,
        version=version,
        title=title,
        abstract=_abstract(inner.get("Abstract")) or _other_abstract(citation),
        mesh=_unique(name for name, _, _ in headings),
        mesh_major=_unique(name for name, major, _ in headings if major),
        mesh_qualified=_unique(pair for _, _, pairs in headings for pair in pairs),
        supplementary=_texts(part.get("SupplMeshList", ())),
        chemicals=_texts(
            name
            for chemical in part.get("ChemicalList", ())
            for name in chemical
            if name.tag == "NameOfSubstance"
        ),
        genes=_texts(part.get("GeneSymbolList", ())),
        publication_types=_texts(
            inner.get("PublicationTypeList", [e for e in body if e.tag == "PublicationType"])
        ),
        keywords=_texts(
            keyword
            for keywords in citation
            if keywords.tag == "KeywordList"
            for keyword in keywords
        ),
        journal=_journal(inner.get("Journal"), part.get("MedlineJournalInfo")),
        year=date[:4],
        date=date,
        language=language,
        vernacular_title=vernacular,
        doi=_doi(body, data.get("ArticleIdList", ())),
        pmc=next(_identifiers(data.get("ArticleIdList", ()), "pmc"), ""),
        book=_text_of(book, "BookTitle"),
    )


def deletions(element: Any, path: Path | str) -> Iterator[Deleted]:
    """The articles that a `DeleteCitation` names."""
    for child in element:
        pmid, _ = _number(child, element, path)
        yield Deleted(pmid)


def publication_date(inner: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The date ("2017-03-09") of the issue or book, else the electronic version, else the entry."""
    issue = children(children(inner.get("Journal")).get("JournalIssue")).get("PubDate")
    entered = (e for e in data.get("History", ()) if e.get("PubStatus") == "pubmed")
    book = children(inner.get("Book")).get("PubDate")
    for element in chain((issue, book, inner.get("ArticleDate")), entered):
        if element is not None and (date := _date(element)):
            return date
    return ""


def children(element: Iterable[Any] | None) -> dict[str, Any]:
    """An element's children by name, the first of each."""
    by_name: dict[str, Any] = {}
    for child in () if element is None else element:
        by_name.setdefault(child.tag, child)
    return by_name


def _date(element: Any) -> str:
    part = {child.tag: (child.text or "").strip() for child in element}
    month = part.get("Month", "")
    if month.isdecimal() and 1 <= int(month) <= 12:
        month = _MONTHS[int(month) - 1]
    text = part.get("MedlineDate") or f"{part.get('Year', '')} {month} {part.get('Day', '')}"
    if not (match := _YEAR.search(text)):
        return ""
    free = _FREE.match(_MONTH_FIRST.sub(r"\2 \1", text).strip())
    if not free or free[1] != match[1]:
        return match[1]
    date = f"{free[1]}-{_MONTHS.index(free[2][:3].lower()) + 1:02}"
    return f"{date}-{int(free[3]):02}" if free[3] and 1 <= int(free[3]) <= 31 else date


def _number(element: Any, around: Any, path: Path | str) -> tuple[str, int]:
    pmid = _text(element) if element is not None else ""
    version = (element.get("Version") or "1") if element is not None else "1"
    if not _is_number(pmid) or not _is_number(version):
        raise InputError(
            f"an article without a number: its PMID is {pmid!r}, version {version!r}."
            if pmid
            else "an article without a PMID.",
            path=path,
            line=_line(around if element is None else element),
        )
    return str(int(pmid)), int(version)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _titles(inner: dict[str, Any], language: tuple[str, ...]) -> tuple[str, str]:
    """The title in English, or else in its own language; and the title in its own language."""
    title, vernacular = _text_of(inner, "ArticleTitle"), _text_of(inner, "VernacularTitle")
    if title in _NO_TITLE:
        title = ""
    elif language != ("eng",):
        title = _without_brackets(title)
    return title or vernacular, vernacular


def _without_brackets(title: str) -> str:
    """`[A title].` → `A title.`, if the brackets enclose all of it."""
    inside = title.removesuffix(".")
    if not (inside.startswith("[") and inside.endswith("]")):
        return title
    depth = 0
    for place, character in enumerate(inside):
        depth += (character == "[") - (character == "]")
        if depth == 0 and place < len(inside) - 1:
            return title
    end = "" if inside[-2] in ".?!" or inside == title else "."
    return f"{inside[1:-1].strip()}{end}"


def _abstract(element: Any) -> str:
    """Sections with their labels, in a line; other elements (the copyright) are left out."""
    if element is None:
        return ""
    sections = []
    for child in element:
        if child.tag == "AbstractText" and (text := _text(child)):
            label = " ".join((child.get("Label") or "").split()).rstrip(":")
            sections.append(text if label.upper() in _UNLABELLED else f"{label}: {text}")
    return " ".join(sections)


def _other_abstract(citation: Any) -> str:
    others = [child for child in citation if child.tag == "OtherAbstract"]
    english = (e for e in others if (e.get("Language") or "eng").lower() in ("eng", "en"))
    return _abstract(next(english, others[0] if others else None))


def _heading(heading: Any) -> tuple[str, bool, list[str]]:
    """The descriptor's name, True for a main subject, and the name with each qualifier."""
    name, major, pairs = "", False, []
    for child in heading:
        major = major or child.get("MajorTopicYN") == "Y"
        if child.tag == "DescriptorName":
            name = _text(child)
        elif child.tag == "QualifierName":
            pairs.append(f"{name}/{_text(child)}")
    return name, major, pairs


def _journal(journal: Any, medline: Any) -> str:
    inner = children(journal)
    short = _text_of(inner, "ISOAbbreviation") or _text_of(children(medline), "MedlineTA")
    return short or _text_of(inner, "Title")


def _doi(body: Iterable[Any], article_ids: Iterable[Any]) -> str:
    """The first DOI that PubMed does not know to be wrong."""
    elements = [e for e in body if e.tag == "ELocationID"]
    marked = [element for element in elements if element.get("ValidYN") == "N"]
    wrong = {doi.lower() for doi in _identifiers(marked, "doi")}
    dois = (*_identifiers(elements, "doi"), *_identifiers(article_ids, "doi"))
    return next((doi for doi in dois if doi.lower() not in wrong), "")


def _identifiers(elements: Iterable[Any], kind: str) -> Iterator[str]:
    for element in elements:
        if kind in (element.get("EIdType"), element.get("IdType")) and (text := _text(element)):
            yield text if kind != "doi" or text.startswith("10.") else doi_of(text) or text


def _texts(elements: Iterable[Any]) -> tuple[str, ...]:
    return _unique(map(_text, elements))


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))


def _text_of(elements: dict[str, Any], tag: str) -> str:
    element = elements.get(tag)
    return "" if element is None else _text(element)


def _text(element: Any) -> str:
    """All text inside an element, with single spaces."""
    text = "".join(_pieces(element)) if len(element) else element.text or ""
    return " ".join(text.split())


def _pieces(element: Any) -> Iterator[str]:
    before = element.text or ""
    yield before
    for child in element:
        if not isinstance(child.tag, str):  # a character's name, as in &eacute;
            before = html.unescape(child.text or "")
            yield before
        elif child.tag not in _REPEATED:
            text = "".join(_pieces(child))
            if child.tag == "sup":
                yield apart(before, text)
            yield text
            before = text or before
        if child.tail:
            yield child.tail
            before = child.tail


def _line(element: Any) -> int | None:
    line: int | None = element.sourceline
    return line
