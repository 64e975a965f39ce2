"""Ontologies as OBO graphs, in JSON: doid.json, hp.json.

OBO Graphs 0.3: nodes with `lbl` and `meta` (synonyms, xrefs, deprecated), edges `sub is_a obj`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.knowledge.formats import jsons
from irplatform.knowledge.formats.ontology import Term, one_line, ontology_formats, synonym, term_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.formats.format import Head

_NOT_TERMS = {"PROPERTY", "INDIVIDUAL"}


def _recognizes(head: Head) -> bool:
    return head.text.startswith("{") and '"graphs"' in head.text


def _terms(path: Path) -> Iterator[Term]:
    graphs = jsons.objects(jsons.load(path, dict).get("graphs"))
    if not any(isinstance(graph.get("nodes"), list) for graph in graphs):
        raise InputError("there is no graph with nodes in this OBO graph document.", path=path)
    for graph in graphs:
        terms = {}
        for node in jsons.objects(graph.get("nodes")):
            if node.get("type") not in _NOT_TERMS and isinstance(node.get("id"), str):
                terms[node["id"]] = _term(node)
        for edge in jsons.objects(graph.get("edges")):
            if edge.get("pred") == "is_a" and edge.get("sub") in terms and edge.get("obj"):
                terms[edge["sub"]].parents.append(term_id(str(edge["obj"])))
        for same in jsons.objects(graph.get("equivalentNodesSets")):
            ids = jsons.texts(same.get("nodeIds"))
            for one in ids:
                if one in terms:
                    for other in ids:
                        terms[one].map_to(other, "equivalent")
        yield from terms.values()


def _term(node: dict[str, Any]) -> Term:
    meta = _meta(node)
    label = node.get("lbl")
    term = Term(
        term_id(node["id"]),
        one_line(label) if isinstance(label, str) else "",
        obsolete=meta.get("deprecated") is True,
    )
    for entry in jsons.objects(meta.get("synonyms")):
        if isinstance(entry.get("val"), str):
            scope = str(entry.get("pred")).removeprefix("has").removesuffix("Synonym")
            type_ = str(entry.get("synonymType", ""))
            term.names.append(synonym(one_line(entry["val"]), scope, type_))
    for xref in jsons.objects(meta.get("xrefs")):
        term.map_to(str(xref.get("val")), *(value for _, value in _properties(_meta(xref))))
    for predicate, value in _properties(meta):
        if predicate.endswith("hasAlternativeId"):
            term.former.append(term_id(value))
        elif predicate.endswith("hasOBONamespace"):
            term.namespace = value
        elif predicate.endswith("Match"):
            term.map_to(value, predicate)
    return term


def _meta(entry: dict[str, Any]) -> dict[str, Any]:
    meta = entry.get("meta")
    return meta if isinstance(meta, dict) else {}


def _properties(meta: dict[str, Any]) -> list[tuple[str, str]]:
    entries = jsons.objects(meta.get("basicPropertyValues"))
    return [(str(entry.get("pred")), str(entry.get("val"))) for entry in entries]


OBO_GRAPH, DOID_GRAPH = ontology_formats(
    "obo-graph",
    ("an ontology as OBO graph", "the Disease Ontology's doid.json (OBO graph)"),
    _recognizes,
    _terms,
    3,
)
