"""Writes a knowledge base: concepts and relations, as importers yield them, into one SQLite file.

The same concept may come several times, from several files or lines: its names and cross-references
are united. So are the pieces of evidence of a relation. Everything is written in order of the ids,
so that the same input makes the same file.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import orjson

from irplatform.console import notice, progress
from irplatform.errors import counted
from irplatform.knowledge.formats.mesh import NAMED
from irplatform.knowledge.model import NAME_RANK, Concept
from irplatform.knowledge.names import stored_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from irplatform.knowledge.model import ConceptKind, NameKind, Relation

VERSION = 3
"""Of the file's format and of the normalization of names: raised when either changes."""

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


class _Gathered:
    __slots__ = ("kind", "name", "names", "xrefs")

    def __init__(self, name: str, kind: ConceptKind) -> None:
        self.name = name
        self.kind = kind
        self.names: dict[str, NameKind] = {}
        self.xrefs: dict[str, None] = {}


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
            gathered = self._concepts[concept.id] = _Gathered(concept.name, concept.kind)
            gathered.names[concept.name] = "preferred"
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

        A substance is a drug only where one of them is. Headings that are given by name get their
        ids; those that are not there go.
        """
        mapped: dict[str, list[str]] = {}
        by_name: dict[str, str] = {}
        missing = 0
        named = [key for key in self._relations if key[2].startswith(NAMED)]
        if named:
            by_name = {
                f"{NAMED}{concept.name}": concept_id
                for concept_id, concept in self._concepts.items()
            }
        for source, kind, target in named:
            evidence = self._relations.pop((source, kind, target))
            if heading := by_name.get(target):
                self._relations[source, kind, heading] = evidence
            else:
                missing += 1
        if missing:
            notice(
                f"left out: {counted(missing, 'mapping')} to headings that are not there by their "
                "names. Add d20XX.bin together with c20XX.bin."
            )
        for source, kind, target in self._relations:
            if kind == "mapped-to" and target in self._concepts:
                mapped.setdefault(source, []).append(self._concepts[target].kind)
        for source, kinds in mapped.items():
            record = self._concepts.get(source)
            if record is not None and record.kind == "drug" and "drug" not in kinds:
                record.kind = "disease" if set(kinds) == {"disease"} else "other"

    def write(self, path: Path) -> dict[str, dict[str, int]]:
        """Write the file.

        Returns:
            Counts of concepts per kind, of names per kind, and of relations per kind.
        """
        names: Counter[str] = Counter()
        with closing(sqlite3.connect(path)) as database:
            database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SCHEMA)
            order = sorted(self._concepts)
            database.executemany("INSERT INTO concept VALUES (?, ?, ?, ?, ?, ?)", self._rows(order))
            database.executemany(
                "INSERT INTO name VALUES (?, ?, ?)", sorted(self._keys(order, names))
            )
            database.executemany("INSERT INTO xref VALUES (?, ?)", sorted(self._targets(order)))
            database.executemany(
                "INSERT INTO relation VALUES (?, ?, ?, ?)",
                (
                    (*key, EVIDENCE_SEPARATOR.join(sorted(self._relations[key])))
                    for key in sorted(self._relations)
                ),
            )
            database.execute(_INDEX)
            database.commit()
            database.execute("ANALYZE")
            database.commit()
        counts: dict[str, Counter[str]] = {
            "concepts": Counter(concept.kind for concept in self._concepts.values()),
            "names": names,
            "relations": Counter(kind for _, kind, _ in self._relations),
        }
        return {what: dict(sorted(count.items())) for what, count in counts.items()}

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

    def _targets(self, order: list[str]) -> Iterator[tuple[str, int]]:
        for number, concept_id in enumerate(order):
            for xref in self._concepts[concept_id].xrefs:
                yield xref, number
