"""A knowledge base of one's own: a table with id, name, kind, synonyms, parents, xrefs.

Synonyms, parents (ids) and xrefs (ids) are parted by `|`, and may be left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from irplatform.knowledge.formats.format import Format
from irplatform.knowledge.formats.tables import parts, rows
from irplatform.knowledge.ids import compact
from irplatform.knowledge.model import Concept, ConceptKind, Name, Relation
from irplatform.knowledge.names import is_abbreviation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_KINDS = get_args(ConceptKind)


def _read(path: Path) -> Iterator[Concept | Relation]:
    lines: dict[str, int] = {}
    for row in rows(path, ("id", "name", "kind")):
        concept_id, kind = row.needed("id"), row.needed("kind")
        if ":" not in concept_id:
            raise row.error(
                f"the id '{concept_id}' has no prefix. Write it as PREFIX:{concept_id}."
            )
        if kind not in _KINDS:
            raise row.error(f"the kind '{kind}' is none of {', '.join(_KINDS)}.")
        concept_id = compact(concept_id)
        if (first := lines.setdefault(concept_id, row.line)) != row.line:
            raise row.error(f"line {first} has the id '{concept_id}' too. Keep one of the two.")
        yield Concept(
            concept_id,
            row.needed("name"),
            cast("ConceptKind", kind),
            tuple(
                Name(text, "abbreviation" if is_abbreviation(text) else "synonym")
                for text in parts(row.get("synonyms", ""), "|")
            ),
            tuple(map(compact, parts(row.get("xrefs", ""), "|"))),
        )
        for parent in map(compact, parts(row.get("parents", ""), "|")):
            if parent == concept_id:
                raise row.error(f"'{concept_id}' is its own parent.")
            yield Relation(concept_id, parent, "is-a")


GENERIC = Format(
    "table",
    "",
    "a table with the columns id, name, kind, synonyms, parents, xrefs",
    lambda head: head.has_columns("id", "name", "kind") and "::" not in head.text,
    _read,
)
