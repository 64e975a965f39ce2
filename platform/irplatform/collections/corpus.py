"""Documents in JSON lines: one object a line, in one or more files, plain or gzipped.

The files are streamed and never held; what identifies them is their content and how their keys map
to a document, not where they lie, so that collections which search the same files share an index.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from irplatform import cache, storage
from irplatform.collections import jsonlines
from irplatform.collections.collection import Corpus
from irplatform.console import progress
from irplatform.digests import HashedFiles
from irplatform.errors import InputError, listing, unknown
from irplatform.plugin import Document, FieldValue
from irplatform.text_files import blocks_of_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

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
        cached = cache.artifact("fields", self.name, depends_on, look)
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
        return storage.fingerprint(
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
            for line, record in jsonlines.read(path):
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
            fields.update(jsonlines.metadata(record, names.metadata, path, line))
        for name in names.fields:
            if (value := jsonlines.field_value(record.get(name))) is not None:
                fields[name] = value
        return Document(
            id=jsonlines.identifier(record, names.id, path, line),
            title=jsonlines.text(record, names.title, path, line),
            abstract=jsonlines.text(record, names.abstract, path, line),
            fields=fields,
        )
