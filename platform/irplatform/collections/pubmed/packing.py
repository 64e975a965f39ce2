"""A file of articles, read by a worker process and handed over in a small form.

What a worker sends is a file's last word on each of its articles: the highest version that it has,
less those that it deletes. Articles travel as JSON compressed with LZ4, at half their size and next
to no cost, so that many files can wait for their turn.
"""

from __future__ import annotations

import gzip
import io
from array import array
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import lz4.block
import orjson

from irplatform.collections.pubmed.articles import read_articles
from irplatform.collections.pubmed.record import Deleted
from irplatform.plugin import Document
from irplatform.text_files import open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

CHAPTER = "chapter of a book"
_CHUNK = 500
"""Articles that are packed together."""


@dataclass(frozen=True)
class Member:
    """A compressed file that lies inside another one."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Packed:
    """The articles of a file.

    Attributes:
        chunks: articles as compressed JSON, in the file's order.
        replaced: places of those that come again later in the same file, ascending.
        deleted: numbers of the articles that the file deletes.
        others: how many chapters of books and what else there was, by their names.
    """

    chunks: tuple[bytes, ...]
    replaced: tuple[int, ...]
    deleted: array[int]
    others: Counter[str]

    def documents(self) -> Iterator[tuple[int, Document]]:
        """The articles with their numbers; nothing that the file itself replaces or deletes."""
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
    """Read a file."""
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
