"""JSON lines, and what is taken from them: ids, texts, fields. Errors name file and line."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from glob import glob
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.data import Corpus, Document, FieldValue, fault
from irplatform.errors import InputError, listing, quoted, unknown
from irplatform.system.cache import artifact
from irplatform.system.console import progress
from irplatform.system.digests import HashedFiles, fingerprint
from irplatform.system.formats import parse_json
from irplatform.system.reading import blocks_of_lines, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


_HINT = "Every line needs one JSON object."
_WHOLE = "This file seems to hold one value over several lines."
_BY_LINE = "`jq -c '.[]'` writes each object of a list in a line."


def read(path: Path, *, otherwise: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the object of every line that is not blank, with the line's number.

    Raises:
        InputError: the file cannot be read, or a line is not a JSON object.
    """
    for number, line in numbered_lines(path):
        goes_on = line.rstrip()[-1:] in b"[{,:"
        hint = f"{_HINT} {otherwise}".rstrip()
        if goes_on:
            hint = f"{_HINT} {_WHOLE} {otherwise or _BY_LINE}"
        record = parse_json(line, path, number, hint=hint)
        if not isinstance(record, dict):
            raise InputError(f"this line holds {kind(record)}. {hint}", path=path, line=number)
        yield number, record


def identifier(
    record: dict[str, Any], key: str, path: Path, line: int | None, *, otherwise: str = ""
) -> str:
    """The id under a key: text that can be an id, see `irplatform.data`.

    A whole number, as tools for BEIR write PMIDs, is the text of its decimal digits.
    """
    value = record.get(key)
    if type(value) is int:  # True is an instance of int
        return str(value)
    if value is None and key in record:
        raise InputError(f"no id: '{key}' is null.", path=path, line=line)
    if value is None:
        keys = ", ".join(f"'{name}'" for name in record) or "none"
        message = f"no id: the key '{key}' is missing (keys: {keys}). {otherwise}".rstrip()
        raise InputError(message, path=path, line=line)
    if not isinstance(value, str):
        raise InputError(
            f"the id under '{key}' is {kind(value)}. Write it as a string.", path=path, line=line
        )
    check_id(value, path, line)
    return value


def check_id(value: str, path: Path, line: int | None = None) -> None:
    """Refuse an id that could not be a column of a TREC file.

    Raises:
        InputError: the id is empty or too long, or has white space or a control character in it.
    """
    if wrong := fault(value):
        raise InputError(f"the id {quoted(value)} {wrong}.", path=path, line=line)


def text(record: dict[str, Any], key: str, path: Path, line: int) -> str:
    """The text under a key; "" where it is missing or null."""
    value = record.get(key)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
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
    """A JSON value as a field: text, or several texts; None for null.

    Numbers are written as JSON writes them, and so is anything nested.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return tuple(_as_text(item) for item in value if item is not None)
    return _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return f"the number {value}"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


# Files of documents that patterns name, in an order that does not depend on the file system.


def find_files(folder: Path, patterns: Iterable[str], endings: Sequence[str]) -> list[Path]:
    """Files that patterns name, relative to a folder; a folder stands for the files in it.

    Hidden files are passed over, unless a pattern begins with a dot as they do.

    Returns:
        Each file once, in the order of the patterns; those of one pattern by their names.

    Raises:
        InputError: a pattern names no file.
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


# Documents in JSON lines: one object a line, in one or more files, plain or gzipped.
#
# The files are streamed and never held; what identifies them is their content and how their keys
# map to a document, not where they lie, so that collections which search the same files share an
# index.

_FORMAT = 1
"""Version of the mapping from JSON to documents: a change of it makes other documents."""
JSONL_ENDINGS = (".jsonl", ".jsonl.gz")
"""Of the files in a folder of documents."""
_LOOKED_AT = 100
"""Documents whose keys are named where a declared one is not found."""
_FIELDS = "fields.json"
_SOON_COUNTED = 64 << 20
"""Bytes of files whose lines are counted sooner than a user asks how many there are."""
_SMALL = 16 << 20
"""Bytes of files that are read again sooner than something is kept in the cache."""


@dataclass(frozen=True)
class FieldNames:
    """Which keys of an object become which part of a document."""

    id: str = "id"
    title: str = "title"
    abstract: str = "abstract"
    fields: tuple[str, ...] = ()
    metadata: str = ""
    """The key of an object whose every entry is kept as a field, or ""."""
    declared: tuple[str, ...] = ()
    """Those of the keys that somebody wrote down, so that some document must have them."""


BEIR = FieldNames(id="_id", title="title", abstract="text", metadata="metadata")
"""The keys of a BEIR corpus."""


class JsonLinesCorpus(Corpus):
    """A corpus in files of JSON lines."""

    def __init__(self, name: str, files: Sequence[Path], names: FieldNames) -> None:
        self.name = name
        self.files = tuple(files)
        self.names = names
        self._hashed = HashedFiles(self.files)
        self.finds_fields = bool(names.metadata)
        self.promises_titles = names.title in names.declared
        self._count: int | None = None
        self._problems: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override] # read when it is asked for
        """Names of the documents' fields; for metadata, all documents are read."""
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
        """Of the files' content and the keys, wherever the files lie."""
        return self._fingerprint_with([*self.names.fields], self.names.metadata)

    @cached_property
    def texts_fingerprint(self) -> str:
        """Likewise, of the keys of id, title and abstract alone."""
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
        """The number of documents, once they have all been read."""
        return self._count

    def size_hint(self) -> int | None:
        """Likewise, or the number of lines, where these are soon counted."""
        return self._lines if self._count is None else self._count

    @cached_property
    def _lines(self) -> int | None:
        sizes = [path.stat().st_size for path in self.files if path.exists()]
        if sum(sizes) > _SOON_COUNTED:
            return None
        with suppress(InputError):  # it is told when documents are read
            blocks = (block for file in self.files for block in blocks_of_lines(file))
            return sum(block.count(b"\n") + (not block.endswith(b"\n")) for block in blocks)
        return None

    def problems(self) -> Sequence[str]:
        """Declared keys that no document has."""
        return self._problems

    def __iter__(self) -> Iterator[Document]:
        """Stream the documents in the order of the files.

        Raises:
            InputError: naming file and line: not JSON, not an object, no id, an id that is neither
                a string nor a whole number or cannot be one, or a title or abstract that is not
                text. Or a file is not what the fingerprint stands for any more.
        """
        number = 0
        missing, keys = set(self.names.declared), set[str]()
        for path in self.files:
            self._hashed.check(path)
            for line, record in read(path):
                if missing:
                    missing -= record.keys()
                    if number < _LOOKED_AT:
                        keys |= record.keys()
                yield self._document(record, path, line)
                number += 1
            self._hashed.check(path)
        self._count = number
        self._problems = tuple(
            str(unknown("key", key, keys, of=f"the {number:,} documents in {self._place()}"))
            for key in self.names.declared
            if key in missing
        )

    def _place(self) -> str:
        """The files as they were named, or the first of many."""
        return listing(map(str, self.files), most=1)

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
