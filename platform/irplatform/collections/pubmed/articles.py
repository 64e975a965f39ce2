"""Reads PubMed's XML: what NLM distributes as baseline and update files, and what efetch returns.

The format is described at https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html. Articles
are streamed and forgotten, so that memory stays flat; references to entities and to other files are
not followed.
"""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, Any

from irplatform.collections.pubmed.stream import CheckedStream
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from irplatform.collections.pubmed.record import Article, Deleted

_ROOTS = frozenset({"PubmedArticleSet", "MedlineCitationSet", "PubmedBookArticleSet"})
_ENTRIES = ("PubmedArticle", "MedlineCitation", "DeleteCitation", "PubmedBookArticle")


def read_articles(stream: BinaryIO, path: Path | str) -> Iterator[Article | Deleted]:
    """Yield the articles of a file in its order, and the deletions that it announces.

    Chapters of books (`PubmedBookArticle`) are passed over: they are not part of MEDLINE.

    Args:
        stream: the XML, unpacked.
        path: what to call it in errors.

    Raises:
        InputError: it is not PubMed's XML, ends too early, declares entities, or has an article
            without a number; with the line.
    """
    from lxml import etree

    from irplatform.collections.pubmed.extract import article, deletions

    checked = CheckedStream(stream, path, _ROOTS)
    try:
        entries = etree.iterparse(
            checked,
            tag=_ENTRIES,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
        )
        for _, element in entries:
            parent = element.getparent()
            if element.tag == "MedlineCitation" and parent.tag == "PubmedArticle":
                continue  # its turn comes with the data of PubMed around it
            if element.tag == "DeleteCitation":
                yield from deletions(element, path)
            elif element.tag != "PubmedBookArticle":
                yield article(element, path)
            _forget(element, parent)
    except etree.XMLSyntaxError as error:
        raise InputError(
            f"this is not well-formed XML ({_reason(error)}). Fetch the file again.",
            path=path,
            line=error.lineno,
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"this is not a whole gzip file ({error}). Fetch the file again.",
            path=path,
            line=checked.lines,
        ) from error


def _forget(element: Any, parent: Any) -> None:
    """Free an entry and whatever was parsed before it."""
    element.clear()
    while (previous := element.getprevious()) is not None:
        parent.remove(previous)


def _reason(error: Any) -> str:
    """The parser's message without the place, which is told apart."""
    return str(error.msg).rsplit(", line ", 1)[0]
