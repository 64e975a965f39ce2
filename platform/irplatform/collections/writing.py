"""Writes the files of a folder in BEIR layout, as `beir` reads them.

Everything is written as it comes: memory holds nothing that grows with queries or judgments.
"""

from __future__ import annotations

import gzip
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import orjson

from irplatform.system.writing import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Self

    from irplatform.data import Document


# Writes a collection's documents: JSON lines in gzipped parts, the same bytes each time.

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
                raw = last.enter_context(atomic_write(folder / files[-1], "wb"))
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


MEASURES_FILE = "measures.txt"
QRELS_HEADER = b"query-id\tcorpus-id\tscore\n"
LEVELS_HEADER = b"query-id\tcorpus-id\tlevel\n"
"""Of judgments that may have decimals, see `read_qrels`."""


class BeirWriter:
    """Writes `queries.jsonl` and `qrels/<split>.tsv`, within a `with` block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open = ExitStack()
        self._qrels: dict[str, IO[bytes]] = {}

    def __enter__(self) -> Self:
        (self.folder / "qrels").mkdir(parents=True, exist_ok=True)
        self._queries = self._open.enter_context((self.folder / "queries.jsonl").open("wb"))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def query(self, query_id: str, text: str, metadata: Mapping[str, object] | None = None) -> None:
        """Write a query; metadata become fields of the topic."""
        query = {"_id": query_id, "text": text}
        record = query if metadata is None else {**query, "metadata": dict(metadata)}
        self._queries.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))

    def judge(self, split: str, query_id: str, grades: Mapping[str, float]) -> None:
        """Write the judgments of a query: document id to grade, or to level, which is a float."""
        levels = any(isinstance(grade, float) for grade in grades.values())
        self.qrels(split, levels=levels).writelines(
            f"{query_id}\t{doc_id}\t{grade:.12g}\n".encode() for doc_id, grade in grades.items()
        )

    def qrels(self, split: str, *, levels: bool = False) -> IO[bytes]:
        """A split's file, for those who write its three columns themselves.

        It is made when it is first asked for.
        """
        if split not in self._qrels:
            self._qrels[split] = self._open.enter_context(qrels_path(self.folder, split).open("wb"))
            self._qrels[split].write(LEVELS_HEADER if levels else QRELS_HEADER)
        return self._qrels[split]


def qrels_path(folder: Path, split: str) -> Path:
    """Where a split's judgments lie."""
    return folder / "qrels" / f"{split}.tsv"


def write_measures(folder: Path, measures: Iterable[str]) -> None:
    """Write the names of the measures that are reported by default."""
    text = "".join(f"{measure}\n" for measure in measures)
    (folder / MEASURES_FILE).write_text(text, encoding="utf-8")


@contextmanager
def corpus_writer(folder: Path, *, fields: bool = True) -> Iterator[Callable[[Document], None]]:
    """Write `corpus.jsonl.gz`."""

    def write(document: Document) -> None:
        named = {"_id": document.id, "title": document.title, "text": document.abstract}
        held = {**named, "metadata": dict(document.fields)} if fields else named
        file.write(orjson.dumps(held, option=orjson.OPT_APPEND_NEWLINE))

    with (folder / "corpus.jsonl.gz").open("wb") as raw, pack(raw) as file:
        yield write
