"""Diseases and headings: MeSH as a table, Gilda's MeSH mappings, the Disease Ontology as a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.knowledge import Concept, ConceptKind, Format, Head, Name, Relation
from irplatform.knowledge.formats import reading as jsons
from irplatform.knowledge.formats.mesh import Descriptors, entry_term
from irplatform.knowledge.formats.ontology import cross_reference, synonym
from irplatform.knowledge.formats.reading import lines_of_cells, parts
from irplatform.knowledge.model import compact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UI = re.compile(r"D\d{6,9}")
_MAPPING_COLUMNS = 6
_MAPPED_KINDS: dict[str, ConceptKind] = {"CHEBI": "drug", "DOID": "disease", "HGNC": "gene"}


def _is_mesh(head: Head) -> bool:
    return len(head.columns) == 5 and _UI.fullmatch(head.columns[0]) is not None


def _mesh(path: Path) -> Iterator[Concept | Relation]:
    """Read lines of id, name, entry terms, tree numbers (both separated by `|`), and taxon."""
    descriptors = Descriptors()
    for number, (ui, name, terms, trees, _) in lines_of_cells(path, columns=5):
        if not _UI.fullmatch(ui) or not name:
            raise InputError(
                f"'{ui[:40]}' and '{name[:40]}' are not a descriptor's id (D008545) and name.",
                path=path,
                line=number,
            )
        yield descriptors.concept(
            ui, name, [entry_term(term) for term in parts(terms, "|")], parts(trees, "|")
        )
    yield from descriptors.relations()


def _is_mappings(head: Head) -> bool:
    return len(head.columns) == _MAPPING_COLUMNS and head.columns[0] == "MESH"


def _mappings(path: Path) -> Iterator[Concept]:
    """Read lines of MESH, id, name, name space, id, name.

    Gyori, Hoyt, Steppi, Bioinformatics Advances 2022.
    """
    lines = lines_of_cells(path, _MAPPING_COLUMNS)
    for number, (space, ui, name, other_space, other_id, _) in lines:
        if space != "MESH" or not ui or not name or not other_id:
            raise InputError(
                "this line is not: MESH, id, name, name space, id, name.", path=path, line=number
            )
        xref = other_id if other_id.startswith(f"{other_space}:") else f"{other_space}:{other_id}"
        kind = _MAPPED_KINDS.get(other_space, "other")
        yield Concept(f"MESH:{ui}", name, kind, (), (compact(xref),))


def _is_doid(head: Head) -> bool:
    return head.text.startswith("[") and '"DOID:' in head.text


def _doid(path: Path) -> Iterator[Concept | Relation]:
    """Read terms with id, name, synonyms, xrefs and relations."""
    for number, term in enumerate(jsons.load(path, list), start=1):
        place = f"term {number}"
        concept_id = jsons.text(term, "id", path, place)
        name = jsons.text(term, "name", path, place)
        relations = term.get("relations", {})
        synonyms, xrefs = term.get("synonyms", []), term.get("xrefs", [])
        if not isinstance(relations, dict) or not all(
            isinstance(v, list) for v in (synonyms, xrefs)
        ):
            raise InputError(
                f"{place} ({concept_id}): 'relations' is no object, or 'synonyms' or 'xrefs' no "
                "list.",
                path=path,
            )
        same = [
            cross_reference(str(xref["namespace"]), str(xref["id"]))
            for xref in jsons.objects(xrefs)
            if {"namespace", "id"} <= xref.keys()
        ]
        yield Concept(
            concept_id,
            name,
            "disease",
            (Name(name, "preferred"), *filter(None, map(_synonym, synonyms))),
            (*jsons.texts(term.get("alt_ids")), *same),
        )
        for parent in jsons.texts(relations.get("is_a")):
            yield Relation(concept_id, parent, "is-a")


def _synonym(value: Any) -> Name | None:
    """A synonym, which is a text, or an object with a name and a scope ("specificity")."""
    if isinstance(value, str):
        return synonym(value)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        scope = value.get("specificity") or value.get("scope") or "EXACT"
        return synonym(value["name"], str(scope), str(value.get("type") or ""))
    return None


FORMATS = (
    Format(
        "mesh-table",
        "mesh",
        "descriptors as id, name, entry terms, tree numbers, taxon, without a header",
        _is_mesh,
        _mesh,
        revision=3,
    ),
    Format("doid-json", "doid", "terms of doid as a JSON list", _is_doid, _doid, revision=2),
    Format("mesh-mappings", "mesh-xrefs", "Gilda's MeSH mappings", _is_mappings, _mappings),
)
