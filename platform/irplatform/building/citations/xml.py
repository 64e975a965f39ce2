"""JATS XML, read without trusting it: no entity is expanded, no other file is opened.

PubMed Central's files name an external DTD and declare no entities of their own. A file that does
could expand to anything; it is refused. Characters that the DTD defines (`&alpha;`) are known
without it, by their names in HTML.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.text.tokenizer import apart

if TYPE_CHECKING:
    from collections.abc import Iterator

MATHML = "{http://www.w3.org/1998/Math/MathML}"
_HREF = "{http://www.w3.org/1999/xlink}href"


_BETWEEN = rb"(?:\s|\xef\xbb\xbf|<!--(?:(?!-->).)*+-->)*+"
"""What may stand before and behind a document and is none."""
_BEFORE = re.compile(_BETWEEN, re.DOTALL)
_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_NEXT_DOCUMENT = re.compile(
    rb"(</(?:[\w.-]+:)?(?:article|articles|pmc-articleset)\s*>)"
    + _BETWEEN
    + rb"(?=<(\?xml\s|!DOCTYPE|pmc-articleset|article\b))",
    re.DOTALL,
)
"""The end of an XML document that another one follows, as loops over efetch write them."""


def read_articles(content: bytes, name: str) -> list[Any]:
    """The `article` elements of a file: one, or several in a collection of articles.

    Args:
        content: the file's bytes.
        name: what to call it in errors.

    Returns:
        lxml elements; those of JATS have names without a namespace.

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
        # Articles in a set follow one another, too
        if match[2] != b"article" or _root(content, begin) == b"article":
            yield begin, match.end(1)
            begin = match.end()
    yield begin, len(content)


def _root(content: bytes, begin: int) -> bytes:
    """The name of the first element from a place on, without its name space."""
    root = _ROOT.search(content, begin)
    return root[1] if root else b""


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
    """Whether a node is an element, not a processing instruction or an entity."""
    return isinstance(node.tag, str)


def character(node: Any) -> str:
    """The character that an entity names; "" for other nodes and unknown names."""
    name = getattr(node, "name", None)  # only entities have one
    return html5.get(f"{name};", "") if isinstance(name, str) else ""


def plain_text(element: Any) -> str:
    """All text of an element, white space collapsed."""
    return " ".join("".join(_texts(element)).split())


def parted_text(element: Any) -> str:
    """All text of an element, white space collapsed, with a space around each element inside."""
    return " ".join("".join(_texts(element, around=" ")).split())


def href(element: Any) -> str:
    """Where a link leads; "" if nowhere."""
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
