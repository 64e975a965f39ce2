"""Reads PubMed's XML: what NLM distributes as baseline and update files, and what efetch returns.

The format is described at https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html. Articles
are streamed and forgotten, so that memory stays flat; references to entities and to other files are
not followed.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from irplatform.collections.pubmed.stream import documents
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from irplatform.collections.pubmed.record import Article, Deleted
    from irplatform.collections.pubmed.stream import CheckedStream

_ROOTS = ("PubmedArticleSet", "MedlineCitationSet", "PubmedBookArticleSet", "BookDocumentSet")
_INNER = {"MedlineCitation": "PubmedArticle", "BookDocument": "PubmedBookArticle"}
"""Records that can stand alone, and what is around them where they do not."""
_DELETIONS = ("DeleteCitation", "DeleteDocument")
_ENTRIES = (*_INNER, *_INNER.values(), *_DELETIONS)


def read_articles(
    stream: BinaryIO, path: Path | str, passed_over: Counter[str] | None = None
) -> Iterator[Article | Deleted]:
    """Yield the articles of a file in its order, and the deletions that it announces.

    Chapters of books, and books, are articles, too.

    Args:
        stream: the XML, unpacked: one document, or several one after the other.
        path: what to call it in errors.
        passed_over: counts the records that are neither, by the names of their elements.

    Raises:
        InputError: it is not PubMed's XML, ends too early, declares entities, or has an article
            without a number; with the line.
    """
    passed_over = Counter() if passed_over is None else passed_over
    document = None
    try:
        for document in documents(stream, path, _ROOTS):
            yield from _read_document(document, path, passed_over)
    except InputError as error:
        if document is None or document.first_line == 1 or error.line is None:
            raise
        line = document.first_line - 1 + error.line
        raise InputError(error.message, path=path, line=line) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"this is not a whole gzip file ({error}). Fetch the file again.",
            path=path,
            line=document.lines if document else 1,
        ) from error


def _read_document(
    document: CheckedStream, path: Path | str, passed_over: Counter[str]
) -> Iterator[Article | Deleted]:
    from lxml import etree

    from irplatform.collections.pubmed.extract import article, deletions

    try:
        entries = etree.iterparse(
            document,
            tag=_ENTRIES,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
        )
        for _, element in entries:
            parent = element.getparent()
            if _INNER.get(element.tag) == parent.tag:
                continue  # its turn comes with what is around it
            if element.tag in _DELETIONS:
                yield from deletions(element, path)
            else:
                yield article(element, path)
            _forget(element, parent, passed_over)
        passed_over.update(e.tag for e in entries.root if e.tag not in _ENTRIES)
    except etree.XMLSyntaxError as error:
        raise InputError(
            f"this is not well-formed XML ({_reason(error)}). Fetch the file again.",
            path=path,
            line=error.lineno,
        ) from error


def _forget(element: Any, parent: Any, passed_over: Counter[str]) -> None:
    """Free an entry and whatever was parsed before it; count what was no entry."""
    element.clear()
    while (previous := element.getprevious()) is not None:
        if previous.tag not in _ENTRIES:
            passed_over[previous.tag] += 1
        parent.remove(previous)


def _reason(error: Any) -> str:
    """The parser's message without the place, which is told apart."""
    return str(error.msg).rsplit(", line ", 1)[0]
