"""The SQLite file of a knowledge base, written once and then only read.

Importers may yield a concept or relation several times: its names, cross-references and evidence
are united. Everything is written in order of the ids, so the same input makes the same file. It is
opened as immutable: without locks, with one connection per thread.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import orjson

from irplatform.errors import InputError, counted
from irplatform.knowledge.formats.mesh import NAMED
from irplatform.knowledge.model import (
    NAME_RANK,
    Concept,
    ConceptKind,
    Name,
    NameKind,
    Relation,
    stored_key,
    stored_keys,
)
from irplatform.system.console import notice, progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


_CONCEPT = "SELECT c.id, c.name, c.kind, c.names, c.xrefs FROM concept c"
_NAMED = (
    "SELECT c.id, min(n.rank) FROM name n JOIN concept c ON c.number = n.concept "
    "WHERE n.key IN ({}) GROUP BY n.concept ORDER BY n.concept"
)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""SQLite's codes for files that are not a database, or lack a table."""
VERSION = 3
"""Of the file's format and of the keys of names; raised when either changes."""

SCHEMA = """
CREATE TABLE concept (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, kind TEXT NOT NULL,
    names BLOB NOT NULL, xrefs BLOB NOT NULL
);
CREATE TABLE name (
    key TEXT NOT NULL, concept INTEGER NOT NULL, rank INTEGER NOT NULL, PRIMARY KEY (key, concept)
) WITHOUT ROWID;
CREATE TABLE xref (
    id TEXT NOT NULL, concept INTEGER NOT NULL, PRIMARY KEY (id, concept)
) WITHOUT ROWID;
CREATE TABLE relation (
    source TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, evidence TEXT NOT NULL,
    PRIMARY KEY (source, kind, target)
) WITHOUT ROWID;
"""
_INDEX = "CREATE INDEX relation_target ON relation (target, kind)"

EVIDENCE_SEPARATOR = "; "
_AFTER_ALL = "\U0010ffff"
"""Sorts behind any other character."""
_Row = tuple[str, str, str, bytes, bytes]


class KnowledgeBase:
    """A knowledge base: its name, the fingerprint of its content, its concepts and relations."""

    def __init__(self, name: str, path: Path, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._path = path
        self._uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        self._local = threading.local()

    def matches(self, keys: Sequence[str]) -> list[tuple[str, int]]:
        """Ids of the concepts with a name that has one of these keys, in their order.

        Each comes with the rank (`NAME_RANK`) of the best kind of such a name.
        """
        marks = ",".join("?" * len(keys))
        return [*self._rows(_NAMED.format(marks), keys)]

    def concept(self, concept_id: str) -> Concept | None:
        """The concept with this id."""
        row = next(self._rows(f"{_CONCEPT} WHERE c.id = ?", (concept_id,)), None)
        return self._concept(row) if row else None

    def concepts(self) -> Iterator[Concept]:
        """All concepts, in order of their ids."""
        yield from map(self._concept, self._rows(f"{_CONCEPT} ORDER BY c.number"))

    def referring_to(self, concept_id: str) -> list[str]:
        """Ids of the concepts that have an id as a cross-reference."""
        query = (
            "SELECT c.id FROM xref JOIN concept c ON c.number = xref.concept WHERE xref.id = ? "
            "ORDER BY c.number"
        )
        return [row[0] for row in self._rows(query, (concept_id,))]

    def relations(self, concept_id: str, kind: str | None = None) -> list[Relation]:
        """Relations from and to an id, those from it first."""
        query = "SELECT source, target, kind, evidence FROM relation WHERE {} = ?{}"
        query += " ORDER BY kind, source, target"
        of_kind, values = (
            ("", [concept_id]) if kind is None else (" AND kind = ?", [concept_id, kind])
        )
        return [
            Relation(source, target, relation_kind, self.name, evidence)
            for end in ("source", "target")
            for source, target, relation_kind, evidence in self._rows(
                query.format(end, of_kind), values
            )
        ]

    def relation_ends(self) -> Iterator[tuple[str, str, str]]:
        """Source, target and kind of all relations, in order."""
        query = "SELECT source, target, kind FROM relation ORDER BY source, kind, target"
        yield from self._rows(query)

    def with_prefix(self, text: str, limit: int) -> list[tuple[str, str]]:
        """Keys of names that begin like a text, each with its concept's id."""
        start = stored_key(text)
        query = (
            "SELECT n.key, c.id FROM name n JOIN concept c ON c.number = n.concept "
            "WHERE n.key >= ? AND n.key < ? ORDER BY n.key, c.number LIMIT ?"
        )
        return [*self._rows(query, (start, start + _AFTER_ALL, limit))]

    def keys_with_prefix(self, start: str) -> list[str]:
        """Keys of names that begin with some characters."""
        query = "SELECT DISTINCT key FROM name WHERE key >= ? AND key < ?"
        return [row[0] for row in self._rows(query, (start, start + _AFTER_ALL))]

    def is_sound(self) -> bool:
        """Return whether SQLite finds the file intact."""
        try:
            for _ in self.concepts():  # reads the columns that SQLite takes for any bytes
                pass
            return [*self._rows("PRAGMA quick_check")] == [("ok",)]
        except InputError:
            return False

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
                tuple(
                    Name(text, cast("NameKind", name_kind))
                    for text, name_kind in orjson.loads(names)
                ),
                tuple(orjson.loads(xrefs)),
                self.name,
            )


@dataclass(slots=True)
class _Gathered:
    name: str
    kind: ConceptKind
    names: dict[str, NameKind]
    xrefs: dict[str, None] = field(default_factory=dict)


class Builder:
    """Gathers concepts and relations, then writes them."""

    def __init__(self) -> None:
        self._concepts: dict[str, _Gathered] = {}
        self._relations: dict[tuple[str, str, str], dict[str, None]] = {}

    def __bool__(self) -> bool:
        return bool(self._concepts or self._relations)

    def extend(self, records: Iterable[Concept | Relation]) -> int:
        """Take what an importer yields, and count it."""
        number = 0
        for record in records:
            number += 1
            if isinstance(record, Concept):
                self._add_concept(record)
            elif record.source_id != record.target_id:  # nothing is its own parent or partner
                key = (record.source_id, record.kind, record.target_id)
                evidence = self._relations.setdefault(key, {})
                if record.evidence:
                    evidence[record.evidence] = None
        return number

    def _add_concept(self, concept: Concept) -> None:
        gathered = self._concepts.get(concept.id)
        if gathered is None:
            gathered = _Gathered(concept.name, concept.kind, {concept.name: "preferred"})
            self._concepts[concept.id] = gathered
        elif gathered.kind == "other":
            gathered.kind = concept.kind
        for name in concept.names:
            kind: NameKind = "synonym" if name.kind == "preferred" else name.kind
            previous = gathered.names.get(name.text)
            if name.text and (previous is None or NAME_RANK[kind] < NAME_RANK[previous]):
                gathered.names[name.text] = kind
        if concept.name != gathered.name:
            gathered.names.setdefault(concept.name, "synonym")
        gathered.xrefs.update(dict.fromkeys(concept.xrefs))
        gathered.xrefs.pop(concept.id, None)

    def settle(self) -> None:
        """Complete the supplementary records of MeSH from the headings that they are mapped to.

        A substance is a drug only if one of its headings is. Names of headings become ids.
        """
        mapped: dict[str, list[str]] = {}
        missing = 0
        keys = [key for key in self._relations if key[2].startswith(NAMED)]
        concepts = self._concepts.items() if keys else ()
        by_name = {f"{NAMED}{concept.name}": concept_id for concept_id, concept in concepts}
        for source, kind, target in keys:
            evidence = self._relations.pop((source, kind, target))
            if heading := by_name.get(target):
                self._relations[source, kind, heading] = evidence
            else:
                missing += 1
        if missing:
            notice(
                f"left out: {counted(missing, 'mapping')} to headings that are not there. Add "
                "d20XX.bin together with c20XX.bin."
            )
        for source, kind, target in self._relations:
            if kind == "mapped-to" and target in self._concepts:
                mapped.setdefault(source, []).append(self._concepts[target].kind)
        for source, kinds in mapped.items():
            record = self._concepts.get(source)
            if record is not None and record.kind == "drug" and "drug" not in kinds:
                record.kind = "disease" if set(kinds) == {"disease"} else "other"

    def write(self, path: Path) -> dict[str, dict[str, int]]:
        """Write the file; return the counts of concepts, names and relations, each per kind."""
        names: Counter[str] = Counter()
        path.touch()  # SQLite does not say why it cannot
        with closing(sqlite3.connect(path)) as database:
            database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SCHEMA)
            order = sorted(self._concepts)
            keys = sorted(self._keys(order, names))
            xrefs = ((xref, n) for n, id_ in enumerate(order) for xref in self._concepts[id_].xrefs)
            relations = (
                (*key, EVIDENCE_SEPARATOR.join(sorted(self._relations[key])))
                for key in sorted(self._relations)
            )
            database.executemany("INSERT INTO concept VALUES (?, ?, ?, ?, ?, ?)", self._rows(order))
            database.executemany("INSERT INTO name VALUES (?, ?, ?)", keys)
            database.executemany("INSERT INTO xref VALUES (?, ?)", sorted(xrefs))
            database.executemany("INSERT INTO relation VALUES (?, ?, ?, ?)", relations)
            database.execute(_INDEX)
            database.commit()
            database.execute("ANALYZE")
            database.commit()
        counts: dict[str, Counter[str]] = {
            "concepts": Counter(concept.kind for concept in self._concepts.values()),
            "names": names,
            "relations": Counter(kind for _, kind, _ in self._relations),
        }
        return {table: dict(sorted(count.items())) for table, count in counts.items()}

    def _rows(self, order: list[str]) -> Iterator[tuple[int, str, str, str, bytes, bytes]]:
        for number, concept_id in enumerate(order):
            gathered = self._concepts[concept_id]
            names = sorted(gathered.names.items(), key=lambda item: NAME_RANK[item[1]])
            yield (
                number,
                concept_id,
                gathered.name,
                gathered.kind,
                orjson.dumps(names),
                orjson.dumps(sorted(gathered.xrefs)),
            )

    def _keys(self, order: list[str], counts: Counter[str]) -> list[tuple[str, int, int]]:
        """Keys, each with the concept's number and the rank of its best kind of name."""
        keys: list[tuple[str, int, int]] = []
        with progress("writing names", len(order), "concepts") as advance:
            for number, concept_id in enumerate(order):
                best: dict[str, int] = {}
                for text, kind in self._concepts[concept_id].names.items():
                    counts[kind] += 1
                    for key in stored_keys(text):
                        best[key] = min(NAME_RANK[kind], best.get(key, NAME_RANK[kind]))
                keys.extend((key, number, rank) for key, rank in best.items())
                if number % 1000 == 999:
                    advance(1000)
        return keys
