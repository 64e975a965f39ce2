"""Writes a collection's documents: JSON lines in gzipped parts, the same bytes each time."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import orjson

from irplatform import storage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from irplatform.plugin import Document

PART = 10_000
"""Documents in a file."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    files: tuple[str, ...]
    fields: tuple[str, ...]
    count: int


def write_documents(documents: Iterable[Document], folder: Path, *, part: int = PART) -> Written:
    """Write documents to `part-1.jsonl.gz`, `part-2.jsonl.gz`, … in their order."""
    files: list[str] = []
    fields: set[str] = set()
    count = 0
    with ExitStack() as last:  # the part that is being written; an error leaves it unwritten
        for document in documents:
            if count % part == 0:
                last.close()
                files.append(f"part-{len(files) + 1}.jsonl.gz")
                raw = last.enter_context(storage.atomic_write(folder / files[-1], "wb"))
                packed = last.enter_context(pack(raw))
            packed.write(json_line(document))
            fields.update(document.fields)
            count += 1
    return Written(tuple(files), tuple(sorted(fields)), count)


def json_line(document: Document) -> bytes:
    """A document as a line of JSON."""
    parts = {"id": document.id, "title": document.title, "abstract": document.abstract}
    return orjson.dumps({**document.fields, **parts}) + b"\n"


def pack(raw: IO[bytes], *, level: int = 9) -> gzip.GzipFile:
    """A gzip file that depends on nothing but its content: no name in it, and no time."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=raw, mtime=0)
