"""Reads PubMed's XML: what NLM distributes as baseline and update files, and what efetch returns.

The format is described at https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html. Articles
are streamed and forgotten, so that memory stays flat. A file can hold several documents, one after
the other, as loops over efetch write them. Entities can be made to grow without end ("billion
laughs") or to name other files, and PubMed's files declare none: a file that does is refused before
it reaches the parser. So is one with another root element.

Worker processes read files and hand over a small form of them (`pack`): the highest version of each
article, without those that the file deletes. Articles travel as JSON compressed with LZ4, at half
their size and next to no cost, so that many files can wait for their turn.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from array import array
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, cast
from xml.parsers import expat

import lz4.block
import orjson

from irplatform.collections.pubmed import Deleted
from irplatform.data import Document
from irplatform.errors import InputError
from irplatform.system.reading import open_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from irplatform.collections.pubmed import Article


_LONGEST_TAG = 64
"""Bytes of the end tag of a root element, at most."""
_LONGEST_COMMENT = 1 << 20
_BETWEEN = re.compile(rb"(?:\s|\xef\xbb\xbf|<!--.*?-->)*", re.DOTALL)
"""White space and comments between documents."""


def documents(
    stream: BinaryIO, path: Path | str, roots: Collection[str]
) -> Iterator[CheckedStream]:
    """The XML documents of a file, each to be read to its end before the next one."""
    before = CheckedStream(stream, path, roots)
    rest = before.rest()
    document = CheckedStream(stream, path, roots, rest, before.lines)
    yield document
    while rest := document.rest():
        document = CheckedStream(stream, path, roots, rest, document.lines)
        yield document


class CheckedStream:
    """A document of XML whose beginning is checked; `lines` counts the lines read so far."""

    def __init__(
        self,
        stream: BinaryIO,
        path: Path | str,
        roots: Collection[str],
        beginning: bytes = b"",
        line: int = 1,
    ) -> None:
        self.path = path
        self.first_line = self.lines = line
        self._stream = stream
        self._roots = roots
        self._next = beginning
        self._end = re.compile(rf"</(?:{'|'.join(roots)})\s*>".encode())
        self._tail = b""
        self._is_over = False
        parser = expat.ParserCreate()
        parser.EntityDeclHandler = self._refuse_entity
        parser.StartElementHandler = self._check_root
        self._parser: expat.XMLParserType | None = parser

    def read(self, size: int = -1) -> bytes:
        """Some of the document."""
        chunk = self._read(size)
        if (parser := self._parser) is not None:
            try:
                parser.Parse(chunk, not chunk)
            except expat.ExpatError as error:
                if self._parser is not None:  # errors after the root are for the real parser
                    raise InputError(
                        f"this is not XML ({expat.ErrorString(error.code)}). Fetch the file again.",
                        path=self.path,
                        line=error.lineno,
                    ) from error
            except (LookupError, ValueError) as error:  # of the encoding that it declares
                raise InputError(
                    f"cannot be read: {error}. Save it as UTF-8.", path=self.path
                ) from error
        self.lines += chunk.count(b"\n")
        return chunk

    def rest(self) -> bytes:
        """The beginning of the rest of the file; empty at its end."""
        rest = self._next
        while True:
            between = _BETWEEN.match(rest)
            left = rest[between.end() :] if between else rest
            if len(left) > _LONGEST_COMMENT or (left and not left.startswith(b"<!--")):
                break
            chunk = self._stream.read(1 << 16)
            if not chunk:
                break
            rest += chunk
        self.lines += rest[: len(rest) - len(left)].count(b"\n")
        return left

    def _read(self, size: int) -> bytes:
        """The next bytes, up to the end of the root element."""
        if self._is_over:
            return b""
        chunk, self._next = self._next or self._stream.read(size), b""
        window = self._tail + chunk
        self._tail = window[-_LONGEST_TAG:]
        if end := self._end.search(window):
            self._is_over = True
            cut = end.end() - len(window) + len(chunk)
            chunk, self._next = chunk[:cut], chunk[cut:]
        return chunk

    def _refuse_entity(self, name: str, *_: object) -> NoReturn:
        line = self._parser.CurrentLineNumber if self._parser else None
        raise InputError(
            f"the entity '{name}' is declared here. PubMed's files declare none, and entities can "
            "fill the memory: the file is not read.",
            path=self.path,
            line=line,
        )

    def _check_root(self, name: str, _: object) -> None:
        parser, self._parser = self._parser, None
        if parser is None:
            return
        parser.StartElementHandler = None
        if name not in self._roots:
            raise InputError(
                f"this begins with <{name}>, not with <PubmedArticleSet>, as PubMed's files do "
                "around their articles.",
                path=self.path,
                line=parser.CurrentLineNumber,
            )


_ROOTS = ("PubmedArticleSet", "MedlineCitationSet", "PubmedBookArticleSet", "BookDocumentSet")
_INNER = {"MedlineCitation": "PubmedArticle", "BookDocument": "PubmedBookArticle"}
"""Records that can stand alone, and the element around them where they do not."""
_DELETIONS = ("DeleteCitation", "DeleteDocument")
_ENTRIES = (*_INNER, *_INNER.values(), *_DELETIONS)


def read_articles(
    stream: BinaryIO, path: Path | str, passed_over: Counter[str] | None = None
) -> Iterator[Article | Deleted]:
    """Yield the articles of a file in its order, and the deletions that it announces.

    Chapters of books, and books, are articles, too.

    Args:
        stream: the XML, unpacked: one document, or several one after the other.
        path: its name in errors.
        passed_over: counts other records, by the names of their elements.

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

    from irplatform.collections.pubmed import article, deletions

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
                continue  # comes with the element around it
            if element.tag in _DELETIONS:
                yield from deletions(element, path)
            else:
                yield article(element, path)
            _forget(element, parent, passed_over)
        passed_over.update(e.tag for e in entries.root if e.tag not in _ENTRIES)
    except etree.XMLSyntaxError as error:
        reason = str(error.msg).rsplit(", line ", 1)[0]  # without the place
        raise InputError(
            f"this is not well-formed XML ({reason}). Fetch the file again.",
            path=path,
            line=error.lineno,
        ) from error


def _forget(element: Any, parent: Any, passed_over: Counter[str]) -> None:
    """Free an entry and all that was parsed before it; count what was no entry."""
    element.clear()
    while (previous := element.getprevious()) is not None:
        if previous.tag not in _ENTRIES:
            passed_over[previous.tag] += 1
        parent.remove(previous)


CHAPTER = "chapter of a book"
_CHUNK = 500
"""Articles that are packed together."""


@dataclass(frozen=True)
class Member:
    """A compressed file inside another one."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Packed:
    """The articles of a file.

    Attributes:
        chunks: articles as compressed JSON, in the file's order.
        replaced: places of those that come again later in the same file, ascending.
        deleted: numbers of the articles that the file deletes.
        others: counts of chapters of books and of other records, by name.
    """

    chunks: tuple[bytes, ...]
    replaced: tuple[int, ...]
    deleted: array[int]
    others: Counter[str]

    def documents(self) -> Iterator[tuple[int, Document]]:
        """The articles with their numbers, without those that the file replaces or deletes."""
        skipped = set(self.replaced)
        place = 0
        for chunk in self.chunks:
            for pmid, title, abstract, fields in orjson.loads(lz4.block.decompress(chunk)):
                if place not in skipped:
                    values = {
                        name: value if isinstance(value, str) else tuple(value)
                        for name, value in fields.items()
                    }
                    yield int(pmid), Document(pmid, title, abstract, values)
                place += 1


def pack(source: Path | Member, fields: tuple[str, ...]) -> Packed:
    """Read a file in a worker process."""
    latest: dict[str, tuple[int, int]] = {}  # PMID → version, place
    replaced: list[int] = []
    deleted = array("q")
    chunks: list[bytes] = []
    waiting: list[object] = []
    others = Counter[str]()
    place = 0
    with _opened(source) as (stream, name):
        for entry in read_articles(stream, name, others):
            before = latest.get(entry.pmid)
            if isinstance(entry, Deleted):
                deleted.append(int(entry.pmid))
                if before:
                    replaced.append(before[1])
                    del latest[entry.pmid]
                continue
            if before:
                replaced.append(before[1] if entry.version >= before[0] else place)
            if before is None or entry.version >= before[0]:
                latest[entry.pmid] = entry.version, place
            others[CHAPTER] += bool(entry.book)
            document = entry.document(fields)
            waiting.append([entry.pmid, document.title, document.abstract, dict(document.fields)])
            place += 1
            if len(waiting) == _CHUNK:
                chunks.append(_compressed(waiting))
                waiting = []
    if waiting:
        chunks.append(_compressed(waiting))
    return Packed(tuple(chunks), tuple(sorted(replaced)), deleted, others)


def _compressed(records: list[object]) -> bytes:
    packed: bytes = lz4.block.compress(orjson.dumps(records))
    return packed


@contextmanager
def _opened(source: Path | Member) -> Iterator[tuple[BinaryIO, Path | str]]:
    if isinstance(source, Path):
        with open_bytes(source) as stream:
            yield cast("BinaryIO", stream), source
    else:
        with gzip.open(io.BytesIO(source.content)) as stream:
            yield cast("BinaryIO", stream), source.name
