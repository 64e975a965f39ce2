"""A knowledge base of one's own: a table with id, name, kind, synonyms, parents, xrefs.

Synonyms, parents (ids) and xrefs (ids) are parted by `|`, and may be left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast, get_args

from irplatform.errors import InputError, listing
from irplatform.knowledge.formats import reading as jsons
from irplatform.knowledge.formats.reading import Format, Head, Row, lines_of_cells, rows
from irplatform.knowledge.formats.semantic_types import kind_of_types
from irplatform.knowledge.model import (
    Concept,
    ConceptKind,
    Name,
    Relation,
    compact,
    kind_of_synonym,
    stored_keys,
)
from irplatform.system.console import notice
from irplatform.system.formats import parse_json
from irplatform.system.reading import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_KINDS = get_args(ConceptKind)
_NEEDED = ("id", "name", "kind")
_COLUMNS = (*_NEEDED, "synonyms", "parents", "xrefs")


def _read(path: Path) -> Iterator[Concept | Relation]:
    lines: dict[str, int] = {}
    parents: dict[str, None] = {}
    _check_header(path)
    for row in rows(path, _NEEDED, spelled=str.lower):
        concept_id, kind = _identifier(row, row.needed("id")), row.needed("kind").lower()
        if kind not in _KINDS:
            raise row.error(f"the kind '{kind}' is none of {', '.join(_KINDS)}.")
        if (first := lines.setdefault(concept_id, row.line)) != row.line:
            raise row.error(f"line {first} has the id '{concept_id}' too. Keep one of the two.")
        yield Concept(
            concept_id,
            _name(row, row.needed("name")),
            cast("ConceptKind", kind),
            tuple(
                Name(_name(row, text), kind_of_synonym(text))
                for text in row.pieces("|", "synonyms")
            ),
            tuple(_identifier(row, xref) for xref in row.pieces("|", "xrefs")),
        )
        for text in row.pieces("|", "parents"):
            parent = _identifier(row, text)
            parents[parent] = None
            yield Relation(concept_id, parent, "is-a")
    if elsewhere := [parent for parent in parents if parent not in lines]:
        notice(
            f"{path}: {len(elsewhere):,} of {len(parents):,} parents not in this table "
            f"({listing(elsewhere)}): each counts only where another knowledge base has it."
        )


def _recognizes(head: Head) -> bool:
    columns = {column.lower() for column in head.columns}
    return columns.issuperset(_NEEDED) and "::" not in head.text  # as nodes of Hetionet have it


def _check_header(path: Path) -> None:
    """Refuse columns that stand twice."""
    line, columns = next(lines_of_cells(path), (1, []))
    header = [column.lower() for column in columns]
    if twice := next((column for column in _COLUMNS if header.count(column) > 1), None):
        raise InputError(f"the header has the column '{twice}' twice.", path=path, line=line)


def _name(row: Row, text: str) -> str:
    if not stored_keys(text):
        raise row.error(
            f"the name '{text}' has no letter or digit, so that nobody would find it. Write "
            "another; leave the cell of synonyms empty where there are none."
        )
    return text


def _identifier(row: Row, text: str) -> str:
    prefix, colon, rest = text.partition(":")
    if not colon:
        raise row.error(f"the id '{text}' has no prefix. Write it as PREFIX:{text}.")
    if not prefix.strip() or not rest.strip():
        raise row.error(f"nothing stands on one side of the colon in the id '{text}'.")
    return compact(text)


GENERIC = Format(
    "table",
    "",
    "a table with the columns id, name, kind, synonyms, parents, xrefs",
    _recognizes,
    _read,
    revision=2,
)


# Concepts as scispaCy distributes them: JSON lines made from UMLS, MeSH, RxNorm, HPO or GO.
#
# Each line has `concept_id`, `canonical_name`, `aliases`, and `types`, the semantic types that say
# what kind of thing it is (https://github.com/allenai/scispacy, `scispacy.linking_utils.Entity`).

_SPACES = (
    (re.compile(r"C\d{7}"), "UMLS"),
    (re.compile(r"[CD]\d{6,9}"), "MESH"),
    (re.compile(r"\d+"), "RXNORM"),
)


def _read_umls_jsonl(path: Path) -> Iterator[Concept]:
    for line, content in numbered_lines(path):
        record = parse_json(content, path, line)
        place = f"line {line}"
        name = jsons.text(record, "canonical_name", path, place)
        types = jsons.texts(record.get("types"))
        yield Concept(
            _compact(jsons.text(record, "concept_id", path, place)),
            name,
            kind_of_types(types),
            tuple(
                Name(alias, kind_of_synonym(alias))
                for alias in map(str.strip, jsons.texts(record.get("aliases")))
                if alias and alias != name
            ),
        )


def _compact(concept_id: str) -> str:
    if ":" in concept_id:
        return concept_id
    space = next((name for form, name in _SPACES if form.fullmatch(concept_id)), "CONCEPT")
    return f"{space}:{concept_id}"


UMLS_JSONL = Format(
    "umls-jsonl",
    "umls",
    "scispaCy's JSON lines of concepts (umls_2022_ab_cat0129.jsonl)",
    lambda head: '"concept_id"' in head.line and '"canonical_name"' in head.line,
    _read_umls_jsonl,
)
