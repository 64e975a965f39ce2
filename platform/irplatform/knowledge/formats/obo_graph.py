"""The Disease Ontology as its makers publish it in JSON: doid.json, an OBO graph document.

OBO Graphs 0.3: nodes with `lbl` and `meta` (synonyms, xrefs, deprecated), edges `sub is_a obj`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.knowledge.formats import jsons
from irplatform.knowledge.formats.disease import cross_reference, synonym
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.model import Concept, Name, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BASE = "http://purl.obolibrary.org/obo/"
_ACRONYMS = ("OMO_0003000", "OMO_0003012")
_SCOPES = {"hasNarrowSynonym": "NARROW", "hasBroadSynonym": "BROAD", "hasRelatedSynonym": "RELATED"}


def _recognizes(head: Head) -> bool:
    return head.text.startswith("{") and '"graphs"' in head.text


def _read(path: Path) -> Iterator[Concept | Relation]:
    graphs = jsons.load(path, dict).get("graphs")
    graph = graphs[0] if isinstance(graphs, list) and graphs else None
    if not isinstance(graph, dict) or not isinstance(graph.get("nodes"), list):
        raise InputError("there is no graph with nodes in this OBO graph document.", path=path)
    concept_ids = set()
    for node in graph["nodes"]:
        concept = _concept(node)
        if concept is not None:
            concept_ids.add(concept.id)
            yield concept
    for edge in jsons.objects(graph.get("edges")):
        if edge.get("pred") == "is_a":
            source, target = _id(edge.get("sub")), _id(edge.get("obj"))
            if source in concept_ids and target in concept_ids:
                yield Relation(source, target, "is-a")


def _concept(node: Any) -> Concept | None:
    """A node's concept; None for what is no term of the ontology, or obsolete."""
    if not isinstance(node, dict) or not isinstance(node.get("lbl"), str):
        return None
    concept_id, name = _id(node.get("id")), node["lbl"].strip()
    if not name:
        return None
    meta = node.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    if not concept_id.startswith("DOID:") or meta.get("deprecated"):
        return None
    names = [Name(name, "preferred")]
    names += [
        synonym(
            entry["val"],
            _SCOPES.get(str(entry.get("pred")), "EXACT"),
            acronym=str(entry.get("synonymType", "")).endswith(_ACRONYMS),
        )
        for entry in jsons.objects(meta.get("synonyms"))
        if isinstance(entry.get("val"), str)
    ]
    former = [
        entry
        for entry in jsons.objects(meta.get("basicPropertyValues"))
        if str(entry.get("pred")).endswith("hasAlternativeId")
    ]
    xrefs = (
        xref["val"].partition(":")
        for xref in [*former, *jsons.objects(meta.get("xrefs"))]
        if isinstance(xref.get("val"), str)
    )
    return Concept(
        concept_id,
        name,
        "disease",
        tuple(names),
        tuple(cross_reference(space, rest) for space, colon, rest in xrefs if colon and rest),
    )


def _id(address: object) -> str:
    return str(address).removeprefix(_BASE).replace("_", ":", 1)


DOID_GRAPH = Format(
    "doid-graph",
    "doid",
    "the Disease Ontology's doid.json (OBO graph)",
    _recognizes,
    _read,
    revision=2,
)
