"""Reads one installed knowledge base.

Its SQLite file never changes, so it is opened as immutable: no locks, and one connection for every
thread that reads.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import orjson

from irplatform.errors import InputError
from irplatform.knowledge.model import Concept, ConceptKind, Name, NameKind, Relation
from irplatform.knowledge.names import stored_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_CONCEPT = "SELECT c.id, c.name, c.kind, c.names, c.xrefs FROM concept c"
_NAMED = (
    "SELECT c.id, min(n.rank) FROM name n JOIN concept c ON c.number = n.concept "
    "WHERE n.key IN ({}) GROUP BY n.concept ORDER BY n.concept"
)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""SQLite's codes of files that are none, or lack a table."""
_AFTER_ALL = "\U0010ffff"
_Row = tuple[str, str, str, bytes, bytes]


class KnowledgeBase:
    """A knowledge base in a file.

    Attributes:
        name: the name under which it was added.
        fingerprint: stands for its content.
    """

    def __init__(self, name: str, path: Path, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._path = path
        self._uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        self._local = threading.local()

    def named(self, wanted: Sequence[str]) -> list[tuple[str, int]]:
        """Ids of the concepts with a name that has one of these keys, in their order.

        Returns:
            Each with the rank (`NAME_RANK`) of the best kind of name that it is to the concept.
        """
        marks = ",".join("?" * len(wanted))
        return [*self._rows(_NAMED.format(marks), wanted)]

    def concept(self, concept_id: str) -> Concept | None:
        """The concept with this id."""
        row = next(self._rows(f"{_CONCEPT} WHERE c.id = ?", (concept_id,)), None)
        return self._concept(row) if row else None

    def concepts(self) -> Iterator[Concept]:
        """All concepts, in order of their ids."""
        yield from map(self._concept, self._rows(f"{_CONCEPT} ORDER BY c.number"))

    def referring_to(self, concept_id: str) -> list[str]:
        """Ids of the concepts that give an id as a cross-reference."""
        query = (
            "SELECT c.id FROM xref JOIN concept c ON c.number = xref.concept WHERE xref.id = ? "
            "ORDER BY c.number"
        )
        return [row[0] for row in self._rows(query, (concept_id,))]

    def relations(self, concept_id: str, kind: str | None = None) -> list[Relation]:
        """Relations from and to an id, those from it first."""
        relations = []
        for end in ("source", "target"):
            query = f"SELECT source, target, kind, evidence FROM relation WHERE {end} = ?"
            values = [concept_id]
            if kind is not None:
                query, values = f"{query} AND kind = ?", [concept_id, kind]
            order = " ORDER BY kind, source, target"
            for source, target, what, evidence in self._rows(query + order, values):
                relations.append(Relation(source, target, what, self.name, evidence))
        return relations

    def relation_ends(self) -> Iterator[tuple[str, str, str]]:
        """Source, target and kind of all relations, in order."""
        query = "SELECT source, target, kind FROM relation ORDER BY source, kind, target"
        yield from self._rows(query)

    def with_prefix(self, text: str, limit: int) -> list[tuple[str, str]]:
        """Normalized names that begin as a text does, each with its concept's id."""
        start = stored_key(text)
        query = (
            "SELECT n.key, c.id FROM name n JOIN concept c ON c.number = n.concept "
            "WHERE n.key >= ? AND n.key < ? ORDER BY n.key, c.number LIMIT ?"
        )
        return [*self._rows(query, (start, start + _AFTER_ALL, limit))]

    def keys_with_prefix(self, start: str) -> list[str]:
        """Normalized names that begin with some characters."""
        query = "SELECT DISTINCT key FROM name WHERE key >= ? AND key < ?"
        return [row[0] for row in self._rows(query, (start, start + _AFTER_ALL))]

    def is_sound(self) -> bool:
        """Whether all of the file can be read.

        Raises:
            InputError: it cannot.
        """
        for _ in self.concepts():  # what SQLite takes for any bytes is checked there
            pass
        return [*self._rows("PRAGMA quick_check")] == [("ok",)]

    def _rows(self, query: str, values: Sequence[object] = ()) -> Iterator[Any]:
        with self._reading():
            yield from self._connection().execute(query, tuple(values))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
            if code not in _DAMAGED:
                raise InputError(f"cannot be read: {error}.", path=self._path) from error
            raise InputError(
                f"this knowledge base is damaged ({error}). Add '{self.name}' again: `platform kb "
                f"add {self.name} FILE`.",
                path=self._path,
            ) from error

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._uri, uri=True, check_same_thread=False)
            self._local.connection = connection
        return connection

    def _concept(self, row: _Row) -> Concept:
        concept_id, name, kind, names, xrefs = row
        with self._reading():
            return Concept(
                concept_id,
                name,
                cast("ConceptKind", kind),
                tuple(Name(text, cast("NameKind", what)) for text, what in orjson.loads(names)),
                tuple(orjson.loads(xrefs)),
                self.name,
            )
