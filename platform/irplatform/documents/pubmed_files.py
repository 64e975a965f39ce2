"""PubMed's XML: NLM's baseline and update files, and what efetch returns.

https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html describes the format. A file can
hold several documents, as loops over efetch write them. Entities are refused: they could expand
without end. Worker processes read files from the newest to the oldest and hand over the latest
version of each article (`pack`); an article whose number was seen is skipped.
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
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import lz4.block
import orjson

from irplatform.data import Corpus, Document
from irplatform.documents.pubmed import FIELDS, Deleted
from irplatform.errors import InputError, unknown
from irplatform.files.digests import HashedFiles, fingerprint
from irplatform.files.reading import open_bytes
from irplatform.system.console import notice
from irplatform.workers.distribution import cluster, ordered_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.documents.pubmed import Article


_ROOTS = ("PubmedArticleSet", "MedlineCitationSet", "PubmedBookArticleSet", "BookDocumentSet")
_END = re.compile(rf"</(?:{'|'.join(_ROOTS)})\s*>".encode())
_LONGEST_TAG = 64
"""Bytes of the end tag of a root element, at most."""
_LONGEST_COMMENT = 1 << 20
_BETWEEN = re.compile(rb"(?:\s|\xef\xbb\xbf|<!--.*?-->)*", re.DOTALL)


class Part:
    """One XML document of a stream that may hold several; `lines` counts the lines read so far."""

    def __init__(self, stream: BinaryIO, beginning: bytes = b"", line: int = 1) -> None:
        self.first_line = self.lines = line
        self._stream = stream
        self._next = beginning
        self._tail = b""
        self._is_over = False

    def read(self, size: int = -1) -> bytes:
        """The next bytes, up to the end of the root element."""
        if self._is_over:
            return b""
        chunk, self._next = self._next or self._stream.read(size), b""
        window = self._tail + chunk
        self._tail = window[-_LONGEST_TAG:]
        if end := _END.search(window):
            self._is_over = True
            cut = end.end() - len(window) + len(chunk)
            chunk, self._next = chunk[:cut], chunk[cut:]
        self.lines += chunk.count(b"\n")
        return chunk

    def following(self) -> Part | None:
        """The next document, without white space and comments before it; None at the end."""
        rest = self._next
        while True:
            between = _BETWEEN.match(rest)
            content = rest[between.end() :] if between else rest
            if len(content) > _LONGEST_COMMENT or (content and not content.startswith(b"<!--")):
                break
            chunk = self._stream.read(1 << 16)
            if not chunk:
                break
            rest += chunk
        lines = self.lines + rest[: len(rest) - len(content)].count(b"\n")
        return Part(self._stream, content, lines) if content else None


_INNER = {"MedlineCitation": "PubmedArticle", "BookDocument": "PubmedBookArticle"}
"""Records that can stand alone, and the element around them where they do not."""
_DELETIONS = ("DeleteCitation", "DeleteDocument")
_ENTRIES = (*_INNER, *_INNER.values(), *_DELETIONS)


def read_articles(
    stream: BinaryIO, path: Path | str, ignored: Counter[str] | None = None
) -> Iterator[Article | Deleted]:
    """Yield the articles, books and chapters of a file, and the deletions that it announces.

    The unpacked XML has one document or several; `ignored` counts other records by name.

    Raises:
        InputError: it is not PubMed's XML, ends too early, declares entities, or has an article
            without a number; with the line.
    """
    ignored = Counter() if ignored is None else ignored
    part = Part(stream)
    try:
        document: Part | None = part.following() or part
        while document is not None:
            part = document
            yield from _read_document(part, path, ignored)
            document = part.following()
    except InputError as error:
        line = error.line and part.first_line - 1 + error.line
        raise InputError(error.message, path=path, line=line) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        wrong = f"this is not a whole gzip file ({error}). Fetch the file again."
        raise InputError(wrong, path=path, line=part.lines) from error


def _read_document(
    document: Part, path: Path | str, ignored: Counter[str]
) -> Iterator[Article | Deleted]:
    from lxml import etree

    from irplatform.documents.pubmed import article, deletions

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
        checked = False
        for _, element in entries:
            if not checked:
                _check_root(element.getroottree().getroot(), path)
                checked = True
            parent = element.getparent()
            if _INNER.get(element.tag) == parent.tag:
                continue  # comes with the element around it
            if element.tag in _DELETIONS:
                yield from deletions(element, path)
            else:
                yield article(element, path)
            element.clear()  # free it, and all that was parsed before it
            while (previous := element.getprevious()) is not None:
                if previous.tag not in _ENTRIES:
                    ignored[previous.tag] += 1
                parent.remove(previous)
        if not checked:
            _check_root(entries.root, path)
        ignored.update(e.tag for e in entries.root if e.tag not in _ENTRIES)
    except etree.XMLSyntaxError as error:
        reason = str(error.msg).rsplit(", line ", 1)[0]  # without the place
        wrong = f"this is not well-formed XML ({reason}). Fetch the file again."
        raise InputError(wrong, path=path, line=error.lineno) from error


def _check_root(root: Any, path: Path | str) -> None:
    if root.tag not in _ROOTS:
        raise InputError(
            f"this begins with <{root.tag}>, not with <PubmedArticleSet>, as PubMed's files do "
            "around their articles.",
            path=path,
            line=root.sourceline,
        )
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise InputError(
            "this file declares entities, which could expand to anything. PubMed's files have "
            "none; remove the declarations.",
            path=path,
        )


CHAPTER = "chapter of a book"
_CHUNK = 500
_GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""


@dataclass(frozen=True)
class Member:
    """A file inside another one, or on its way to another machine."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Packed:
    """The articles of a file, as chunks of compressed JSON in the file's order.

    `replaced` has the places of articles that come again later in the file, ascending; `deleted`
    the numbers that the file deletes; `others` counts chapters of books and other records.
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
        content = io.BytesIO(source.content)
        packed = source.content.startswith(_GZIP)
        with gzip.open(content) if packed else content as stream:
            yield cast("BinaryIO", stream), source.name


FORMAT = 3
"""Version of the mapping from XML to documents."""
DEFAULT_FIELDS = ("mesh", "mesh_major", "chemicals", "keywords", "publication_types", "year")
XML_ENDINGS = (".xml.gz", ".xml")
_NUMBERS = re.compile(r"(\d+)")


class PubmedCorpus(Corpus):
    """A corpus in files of PubMed's XML; the numbers in their names order them by age."""

    def __init__(
        self, name: str, files: Sequence[Path], fields: Sequence[str] = DEFAULT_FIELDS
    ) -> None:
        self.name = name
        self.files = tuple(sorted(files, key=age))
        self.fields = tuple(fields)
        self._hashed = HashedFiles(self.files)
        for field in fields:
            if field not in FIELDS:
                raise unknown("field", field, FIELDS, of="PubMed's articles")
        self._count: int | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Of the files' content, their order and the fields, not of where they lie."""
        return self._fingerprint_with(fields=[*self.fields])

    @cached_property
    def texts_fingerprint(self) -> str:
        """Likewise, without the fields."""
        return self._fingerprint_with()

    def _fingerprint_with(self, **more: object) -> str:
        return fingerprint(
            {"pubmed": FORMAT, "books": True, "files": self._hashed.digests(), **more}
        )

    def count(self) -> int | None:
        """The number of articles, once all have been read."""
        return self._count

    def __iter__(self) -> Iterator[Document]:
        """Stream the articles with all cores: newest file first, each in its own order.

        Raises:
            InputError: a file is not PubMed's XML, is damaged or cut off (with its line), or has
                changed since the fingerprint was taken.
        """
        for path in self.files:
            self._hashed.check(path)
        number = 0
        for document in latest(reversed(self.files), self.fields):
            yield document
            number += 1
        for path in self.files:
            self._hashed.check(path)
        self._count = number


def latest(
    sources: Iterable[Path | Member], fields: tuple[str, ...], *, workers: int | None = None
) -> Iterator[Document]:
    """The articles of files that amend each other, each once."""
    numbers = NumberSet()
    others = Counter[str]()
    if cluster() is not None:
        sources = map(_with_content, sources)
    for packed in ordered_map(partial(pack, fields=fields), sources, workers=workers):
        for number, document in packed.documents():
            if numbers.add(number):
                yield document
        for number in packed.deleted:
            numbers.add(number)
        others += packed.others
    if chapters := others.pop(CHAPTER, 0):
        notice(f"chapters of books, and books, among the articles: {chapters:,}")
    if others:
        kinds = ", ".join(f"{number:,} <{name}>" for name, number in others.most_common())
        notice(f"ignored records of other kinds than PubMed's articles: {kinds}")


def _with_content(source: Path | Member) -> Member:
    """A file for a worker on another machine."""
    return Member(str(source), source.read_bytes()) if isinstance(source, Path) else source


class NumberSet:
    """A set of numbers, a bit for each up to the largest: 16 MB for all of PubMed."""

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, number: int) -> bool:
        """Add a number; return True if it is new."""
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self._bits):
            self._bits.extend(bytes(place + (1 << 16) - len(self._bits)))
        if self._bits[place] & bit:
            return False
        self._bits[place] |= bit
        return True


def age(path: Path) -> tuple[tuple[int | str, ...], str]:
    """The sort key of a file, old to new: by the numbers in its name, `pubmed24n0002.xml.gz`."""
    parts = _NUMBERS.split(path.name)
    return tuple(int(part) if part.isdecimal() else part for part in parts), str(path)
