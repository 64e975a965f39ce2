"""JSON lines: reading values from them, and corpora of one object a line in one or more files.

Files, plain or gzipped, are streamed. The content of its files and the keys that make a document
identify a corpus, so collections over the same files share an index. Errors name file and line.
"""

from __future__ import annotations

import gzip
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from glob import glob
from typing import IO, TYPE_CHECKING, Any

import orjson

from irplatform.data import Corpus, Document, FieldValue, fault
from irplatform.documents.duplicates import HashSet
from irplatform.errors import InputError, counted, listing, quoted, unknown
from irplatform.files.cache import artifact
from irplatform.files.digests import HashedFiles, fingerprint
from irplatform.files.formats import parse_json
from irplatform.files.reading import blocks_of_lines, numbered_lines
from irplatform.files.writing import atomic_write
from irplatform.system.console import notice_once, progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


_HINT = "Every line needs one JSON object."
_WHOLE = "This file seems to hold one value over several lines."
_BY_LINE = "`jq -c '.[]'` writes each object of a list in a line."
_FORMAT = 1
"""Version of the mapping from JSON to documents."""
JSONL_ENDINGS = (".jsonl", ".jsonl.gz")
_LOOKED_AT = 100
"""Documents whose keys are named if a declared one is missing."""
_FIELDS = "fields.json"
_SOON_COUNTED = 64 << 20
"""Bytes of files whose lines are counted at once."""
_SMALL = 1 << 18
"""Bytes of files that are small enough to be read again instead of cached."""
PART = 10_000


def read(path: Path, *, otherwise: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the object of every line that is not blank, with the line's number."""
    for number, line in numbered_lines(path):
        hint = f"{_HINT} {otherwise}".rstrip()
        if line.rstrip()[-1:] in b"[{,:":
            hint = f"{_HINT} {_WHOLE} {otherwise or _BY_LINE}"
        elif line.lstrip()[:4].upper() == b"<DOC":
            hint = f"{_HINT} This is TREC's form of documents, which is not read: write JSON lines."
        record = parse_json(line, path, number, hint=hint)
        if not isinstance(record, dict):
            raise InputError(f"this line holds {kind(record)}. {hint}", path=path, line=number)
        yield number, record


def identifier(
    record: dict[str, Any], key: str, path: Path, line: int | None, *, otherwise: str = ""
) -> str:
    """The id under a key, see `irplatform.data`; a whole number becomes text."""
    value = record.get(key)
    if type(value) is int:  # True is an instance of int
        return str(value)
    if isinstance(value, str):
        check_id(value, path, line)
        return value
    if key in record:
        wrong = f"the id under '{key}' is {kind(value)}. Write it as a string."
    else:
        keys = ", ".join(f"'{name}'" for name in record) or "none"
        wrong = f"no id: the key '{key}' is missing (keys: {keys}). {otherwise}".rstrip()
    raise InputError(wrong, path=path, line=line)


def check_id(value: str, path: Path, line: int | None = None) -> None:
    """Refuse an id that cannot be a column of a TREC file."""
    if wrong := fault(value):
        raise InputError(f"the id {quoted(value)} {wrong}.", path=path, line=line)


def text(record: dict[str, Any], key: str, path: Path, line: int) -> str:
    """The text under a key; "" where it is missing or null."""
    value = record.get(key)
    if isinstance(value, str | None):
        return value or ""
    raise InputError(f"'{key}' is {kind(value)}, not text.", path=path, line=line)


def metadata(record: dict[str, Any], key: str, path: Path, line: int) -> dict[str, FieldValue]:
    """The entries of an object under a key, as fields; empty where it is missing or null."""
    value = record.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"'{key}' is {kind(value)}, not an object.", path=path, line=line)
    fields = ((name, field_value(entry)) for name, entry in value.items())
    return {name: entry for name, entry in fields if entry is not None}


def field_value(value: Any) -> FieldValue | None:
    """A JSON value as a field, with numbers and nested values as JSON; None for null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return tuple(_as_text(item) for item in value if item is not None)
    return _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def kind(value: Any) -> str:
    """The kind of a JSON value, in words."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"the number {value}"
    kinds = {type(None): "null", bool: "true or false", str: "a string", list: "a list"}
    return kinds.get(type(value), "an object")


def find_files(folder: Path, patterns: Iterable[str], endings: Sequence[str]) -> list[Path]:
    """Files that patterns name, relative to a folder; a folder stands for the files in it.

    Each file comes once, in the order of the patterns, then of the names. Hidden files are skipped,
    unless a pattern begins with a dot.
    """
    files: dict[Path, None] = {}
    for pattern in patterns:
        place = folder / pattern
        if place.is_file():
            paths = [place]
        elif place.is_dir():
            paths = [path for ending in endings for path in place.glob(f"[!.]*{ending}")]
        else:
            # No pattern is wrong here; Path.glob fails for one such as "**.xml.gz".
            names = glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207
            paths = [path for name in names if (path := folder / name).is_file()]
        if not paths:
            several = place.is_dir() or any(mark in pattern for mark in "*?[")
            raise InputError(f"there {'are no files' if several else 'is no file'} {place}.")
        files.update(dict.fromkeys(sorted(paths)))
    return list(files)


@dataclass(frozen=True)
class FieldNames:
    """The keys of an object that become each part of a document.

    `metadata` is the key of an object whose every entry is kept as a field. At least one document
    must have each key of `declared`.
    """

    id: str = "id"
    title: str = "title"
    abstract: str = "abstract"
    fields: tuple[str, ...] = ()
    metadata: str = ""
    declared: tuple[str, ...] = ()


BEIR = FieldNames(id="_id", title="title", abstract="text", metadata="metadata")


class JsonLinesCorpus(Corpus):
    """A corpus in files of JSON lines."""

    def __init__(self, name: str, files: Sequence[Path], names: FieldNames) -> None:
        self.name = name
        self.files = tuple(files)
        self.names = names
        self._hashed = HashedFiles(self.files)
        self.finds_fields = bool(names.metadata)
        self._count: int | None = None
        self._problems: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override] # read when it is asked for
        """Names of the documents' fields; for those of metadata all documents are read."""
        if not self.names.metadata:
            return self.names.fields
        if sum(path.stat().st_size for path in self.files if path.exists()) < _SMALL:
            return self._look_for_fields()

        def look(folder: Path) -> None:
            (folder / _FIELDS).write_bytes(orjson.dumps(self._look_for_fields()))

        depends_on = {"format": 1, "documents": self.fingerprint}
        cached = artifact("fields", self.name, depends_on, look)
        return tuple(orjson.loads((cached.path / _FIELDS).read_bytes()))

    @cached_property
    def fingerprint(self) -> str:
        """Of the files' content and the keys, not of where the files lie."""
        return self._fingerprint_with([*self.names.fields], self.names.metadata)

    @cached_property
    def texts_fingerprint(self) -> str:
        """Likewise, with only the keys of id, title and abstract."""
        return self._fingerprint_with()

    def _fingerprint_with(self, *fields: object) -> str:
        names = self.names
        return fingerprint(
            {
                "format": _FORMAT,
                "files": self._hashed.digests(),
                "names": [names.id, names.title, names.abstract, *fields],
            }
        )

    def count(self) -> int | None:
        """The number of documents, once all have been read."""
        return self._count

    def size_hint(self) -> int | None:
        """Likewise, or the number of lines if the files are not large."""
        return self._lines if self._count is None else self._count

    @cached_property
    def _lines(self) -> int | None:
        sizes = [path.stat().st_size for path in self.files if path.exists()]
        if sum(sizes) > _SOON_COUNTED:
            return None
        with suppress(InputError):  # reading the documents reports it
            blocks = (block for file in self.files for block in blocks_of_lines(file))
            return sum(block.count(b"\n") + (not block.endswith(b"\n")) for block in blocks)
        return None

    def problems(self) -> Sequence[str]:
        """Declared keys that no document has."""
        return self._problems

    def __iter__(self) -> Iterator[Document]:
        """Stream the documents in the order of the files; one that comes again counts once.

        Raises:
            InputError: with file and line, if a line is not a JSON object, or its id, title or
                abstract is missing or wrong; or a file has changed since the fingerprint was taken.
        """
        number = again = 0
        example, hashes = "", HashSet()
        missing, keys = set(self.names.declared), set[str]()
        for path in self.files:
            self._hashed.check(path)
            for line, record in read(path):
                if missing:
                    missing -= record.keys()
                    if number < _LOOKED_AT:
                        keys |= record.keys()
                document = self._document(record, path, line)
                fields = tuple(document.fields.items())
                if hashes.add(hash((document.id, document.title, document.abstract, fields))):
                    yield document
                    number += 1
                else:
                    again, example = again + 1, example or document.id
            self._hashed.check(path)
        self._count = number
        if again:
            notice_once(
                f"{self.name}: {counted(again, 'line')} with a document that came before, such as "
                f"'{example}': each document counts once."
            )
        of = f"the {number:,} documents in {listing(map(str, self.files), most=1)}"
        declared = (key for key in self.names.declared if key in missing)
        self._problems = tuple(str(unknown("key", key, keys, of=of)) for key in declared)

    def _look_for_fields(self) -> tuple[str, ...]:
        fields = dict.fromkeys(self.names.fields)
        with progress(f"looking for fields in {self.name}", unit="documents") as advance:
            for document in self:
                fields.update(dict.fromkeys(document.fields))
                advance(1)
        return tuple(fields)

    def _document(self, record: dict[str, Any], path: Path, line: int) -> Document:
        names = self.names
        fields: dict[str, FieldValue] = {}
        if names.metadata:
            fields.update(metadata(record, names.metadata, path, line))
        for name in names.fields:
            if (value := field_value(record.get(name))) is not None:
                fields[name] = value
        return Document(
            id=identifier(record, names.id, path, line),
            title=text(record, names.title, path, line),
            abstract=text(record, names.abstract, path, line),
            fields=fields,
        )


@dataclass(frozen=True)
class DocumentFiles:
    """Files of documents: their names, the documents' fields and number."""

    files: tuple[str, ...]
    fields: tuple[str, ...]
    count: int


def write_documents(
    documents: Iterable[Document], folder: Path, *, part: int = PART
) -> DocumentFiles:
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
    return DocumentFiles(tuple(files), tuple(sorted(fields)), count)


def json_line(document: Document) -> bytes:
    """A document as a line of JSON."""
    parts = {"id": document.id, "title": document.title, "abstract": document.abstract}
    return orjson.dumps({**document.fields, **parts}) + b"\n"


def pack(raw: IO[bytes], *, level: int = 9) -> gzip.GzipFile:
    """A gzip file that depends on nothing but its content: no name in it, and no time."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=raw, mtime=0)
