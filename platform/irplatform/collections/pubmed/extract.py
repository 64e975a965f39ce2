"""From an element of PubMed's XML to an article.

Texts are taken with all that is inside them: italics, super- and subscripts and formulas are text
too. Where an article has no abstract of its own, one from another source is taken (`OtherAbstract`,
in English if there is one).
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from irplatform.collections.pubmed.dates import children, publication_date
from irplatform.collections.pubmed.record import Article, Deleted
from irplatform.errors import InputError
from irplatform.text.superscripts import apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MATHML = "{http://www.w3.org/1998/Math/MathML}"
_REPEATED = {f"{_MATHML}annotation", f"{_MATHML}annotation-xml"}
"""What repeats a formula in another notation."""
_UNLABELLED = {"", "UNLABELLED", "UNLABELED", "UNASSIGNED"}
_NO_TITLE = {"[Not Available].", "[Not Available]", "Not Available", "Not Available."}


def article(element: Any, path: Path | str) -> Article:
    """The article of an entry: around a `MedlineCitation` or `BookDocument`, or one of these."""
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
        abstract=_abstract(inner.get("Abstract"))
        or _other_abstract([child for child in citation if child.tag == "OtherAbstract"]),
        mesh=_unique(name for name, _, _ in headings),
        mesh_major=_unique(name for name, major, _ in headings if major),
        mesh_qualified=_unique(pair for _, _, pairs in headings for pair in pairs),
        supplementary=_texts(part.get("SupplMeshList", ())),
        chemicals=_unique(
            _text(name)
            for chemical in part.get("ChemicalList", ())
            for name in chemical
            if name.tag == "NameOfSubstance"
        ),
        genes=_texts(part.get("GeneSymbolList", ())),
        publication_types=_texts(
            inner.get("PublicationTypeList", [e for e in body if e.tag == "PublicationType"])
        ),
        keywords=_unique(
            _text(keyword)
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
    """The title in English, else in whatever language it is; and the one in its own language."""
    title, vernacular = _text_of(inner, "ArticleTitle"), _text_of(inner, "VernacularTitle")
    if title in _NO_TITLE:
        title = ""
    elif language != ("eng",):
        title = _without_brackets(title)
    return title or vernacular, vernacular


def _without_brackets(title: str) -> str:
    """`[A title].` → `A title.`, if the brackets are around all of it."""
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
    """Sections with their labels, in a line; anything else (the copyright) is left out."""
    if element is None:
        return ""
    sections = []
    for child in element:
        if child.tag == "AbstractText" and (text := _text(child)):
            label = _flat(child.get("Label") or "").rstrip(":")
            sections.append(text if label.upper() in _UNLABELLED else f"{label}: {text}")
    return " ".join(sections)


def _other_abstract(elements: list[Any]) -> str:
    english = (e for e in elements if (e.get("Language") or "eng").lower() in ("eng", "en"))
    chosen = next(english, elements[0] if elements else None)
    return _abstract(chosen)


def _heading(heading: Any) -> tuple[str, bool, list[str]]:
    """The descriptor's name, whether it is a main subject, and the name with each qualifier."""
    name, major, pairs = "", False, []
    for child in heading:
        major = major or child.get("MajorTopicYN") == "Y"
        if child.tag == "DescriptorName":
            name = _text(child)
        elif child.tag == "QualifierName":
            pairs.append(f"{name}/{_text(child)}")
    return name, major, pairs


def _journal(journal: Any, medline: Any) -> str:
    inner, listed = children(journal), children(medline)
    texts = (
        _text_of(inner, "ISOAbbreviation"),
        _text_of(listed, "MedlineTA"),
        _text_of(inner, "Title"),
    )
    return next(filter(None, texts), "")


def _doi(body: Iterable[Any], listed: Iterable[Any]) -> str:
    """The first DOI that PubMed does not know to be wrong."""
    found = [e for e in body if e.tag == "ELocationID"]
    wrong = {_text(element).lower() for element in found if element.get("ValidYN") == "N"}
    dois = (*_identifiers(found, "doi"), *_identifiers(listed, "doi"))
    return next((doi for doi in dois if doi.lower() not in wrong), "")


def _identifiers(elements: Iterable[Any], kind: str) -> Iterator[str]:
    for element in elements:
        if kind in (element.get("EIdType"), element.get("IdType")) and (text := _text(element)):
            yield text


def _texts(elements: Iterable[Any]) -> tuple[str, ...]:
    return _unique(map(_text, elements))


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    unique = dict.fromkeys(texts)
    unique.pop("", None)
    return tuple(unique)


def _text_of(elements: dict[str, Any], tag: str) -> str:
    element = elements.get(tag)
    return "" if element is None else _text(element)


def _text(element: Any) -> str:
    """All text inside an element, with single spaces."""
    if len(element) == 0:
        text = element.text
        return " ".join(text.split()) if text else ""
    return _flat("".join(_pieces(element)))


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


def _flat(text: str) -> str:
    return " ".join(text.split())


def _line(element: Any) -> int | None:
    line: int | None = element.sourceline
    return line
