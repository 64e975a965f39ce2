"""The Disease Ontology as a JSON list of terms: id, name, synonyms, xrefs, relations.

A synonym is a text, or an object with its name and scope ("specificity").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.knowledge.formats import jsons
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.formats.ontology import cross_reference, synonym
from irplatform.knowledge.model import Concept, Name, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _recognizes(head: Head) -> bool:
    return head.text.startswith("[") and '"DOID:' in head.text


def _read(path: Path) -> Iterator[Concept | Relation]:
    for number, term in enumerate(jsons.load(path, list), start=1):
        place = f"term {number}"
        concept_id = jsons.text(term, "id", path, place)
        name = jsons.text(term, "name", path, place)
        relations = term.get("relations", {})
        synonyms, xrefs = term.get("synonyms", []), term.get("xrefs", [])
        former = jsons.texts(term.get("alt_ids"))
        if not isinstance(relations, dict) or not all(
            isinstance(v, list) for v in (synonyms, xrefs)
        ):
            raise InputError(
                f"{place} ({concept_id}): 'relations' is no object, or 'synonyms' or 'xrefs' no "
                "list.",
                path=path,
            )
        yield Concept(
            concept_id,
            name,
            "disease",
            (Name(name, "preferred"), *filter(None, map(_synonym, synonyms))),
            (
                *former,
                *(
                    cross_reference(str(xref["namespace"]), str(xref["id"]))
                    for xref in xrefs
                    if isinstance(xref, dict) and {"namespace", "id"} <= xref.keys()
                ),
            ),
        )
        for parent in jsons.texts(relations.get("is_a")):
            yield Relation(concept_id, parent, "is-a")


def _synonym(value: Any) -> Name | None:
    if isinstance(value, str):
        return synonym(value)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        scope = value.get("specificity") or value.get("scope") or "EXACT"
        return synonym(value["name"], str(scope), str(value.get("type") or ""))
    return None


DOID_JSON = Format(
    "doid-json", "doid", "terms of doid as a JSON list", _recognizes, _read, revision=2
)
