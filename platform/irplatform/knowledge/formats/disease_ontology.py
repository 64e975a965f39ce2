"""Ontologies in OBO, the flat file format 1.4, as fastobo reads it: doid.obo, hp.obo, go.obo.

fastobo gets only the lines that say something here: a date that is not one is no reason to refuse
an ontology.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.knowledge.formats import reading as jsons
from irplatform.knowledge.formats.ontology import Term, one_line, ontology_formats, synonym, term_id
from irplatform.system.reading import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.formats.reading import Head


_TAGS = {
    "alt_id", "equivalent_to", "id", "is_a", "is_obsolete", "name", "namespace", "property_value",
    "synonym", "xref",
}  # fmt: skip
_LINES = 1 << 16
"""Lines of the file that fastobo gets at a time, at least."""
_ESCAPED = re.compile(r"\\(.)")
_NO_SCOPE = re.compile(r'(synonym:\s*"(?:[^"\\]|\\.)*")\s*(?=\[)')
"""As OBO 1.2 allows it."""


def _recognizes(head: Head) -> bool:
    return any(f"\n{start}" in f"\n{head.text}" for start in ("format-version:", "[Term]"))


def _terms(path: Path) -> Iterator[Term]:
    import fastobo

    namespace = ""
    for first, lines in _parts(path):
        try:
            document = fastobo.loads("\n".join(lines))
        except SyntaxError as error:
            place = (error.lineno or 1) - 1
            raise InputError(
                f"'{lines[place][:60]}' is not OBO (fastobo: {error.msg}).",
                path=path,
                line=first + place,
            ) from error
        for clause in document.header:
            namespace = clause.raw_value()
        yield from (_term(frame, namespace) for frame in document)


def _parts(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the terms in parts of whole terms, each with its first line."""
    first, lines, wanted = 1, [""], {"default-namespace"}
    term, named = 0, True
    for number, raw in numbered_lines(path):
        line = decoded(raw, path, number).strip()
        tag, colon, _ = line.partition(":")
        if line.startswith("["):
            _check(path, term, named)
            is_term = line.startswith("[Term]")
            if is_term and number - first > _LINES:
                yield first, [*lines, ""]
                first, lines = number, []
            term, named, wanted = (number, False, _TAGS) if is_term else (0, True, set())
        elif not colon and not line.startswith("!"):
            raise InputError(f"'{line[:60]}' is not tag: value.", path=path, line=number)
        named = named or tag == "id"
        lines += [""] * (number - first - len(lines))
        if line.startswith("[Term]") or tag in wanted:
            lines.append(_NO_SCOPE.sub(r"\1 RELATED ", line))
    _check(path, term, named)
    yield first, [*lines, ""]


def _check(path: Path, term: int, named: bool) -> None:
    if not named:
        raise InputError("the term that begins here has no id.", path=path, line=term)


def _term(frame: Any, namespace: str) -> Term:
    term = Term(_id(frame.id), namespace=namespace)
    for clause in frame:
        tag = clause.raw_tag()
        if tag == "name":
            term.name = term.name or one_line(clause.name)
        elif tag == "namespace":
            term.namespace = str(clause.namespace)
        elif tag == "synonym":
            given = clause.synonym
            term.names.append(synonym(one_line(given.desc), given.scope, str(given.type or "")))
        elif tag == "alt_id":
            term.former.append(_id(clause.alt_id))
        elif tag == "xref":
            strengths = [qualifier.value for qualifier in clause.qualifiers or ()]
            term.map_to(_plain(clause.xref.id), *strengths)
        elif tag == "equivalent_to":
            term.map_to(_plain(clause.term), "equivalent")
        elif tag == "property_value":
            given = clause.property_value
            if str(given.relation).endswith("Match"):
                term.map_to(_plain(given.value), str(given.relation))
        elif tag == "is_a":
            term.parents.append(_id(clause.term))
        elif tag == "is_obsolete":
            term.obsolete = clause.obsolete
    return term


def _id(identifier: Any) -> str:
    return term_id(_plain(identifier))


def _plain(identifier: Any) -> str:
    """An identifier without the escapes of the format."""
    return _ESCAPED.sub(r"\1", str(identifier))


OBO, DOID_OBO = ontology_formats(
    "obo", ("an ontology in OBO", "the Disease Ontology's doid.obo"), _recognizes, _terms, 3
)


# Ontologies as OBO graphs, in JSON: doid.json, hp.json.
#
# OBO Graphs 0.3: nodes with `lbl` and `meta` (synonyms, xrefs, deprecated), edges `sub is_a obj`.

_NOT_TERMS = {"PROPERTY", "INDIVIDUAL"}


def _recognizes_obo_graph(head: Head) -> bool:
    return head.text.startswith("{") and '"graphs"' in head.text


def _terms_obo_graph(path: Path) -> Iterator[Term]:
    graphs = jsons.objects(jsons.load(path, dict).get("graphs"))
    if not any(isinstance(graph.get("nodes"), list) for graph in graphs):
        raise InputError("there is no graph with nodes in this OBO graph document.", path=path)
    for graph in graphs:
        terms = {}
        for node in jsons.objects(graph.get("nodes")):
            if node.get("type") not in _NOT_TERMS and isinstance(node.get("id"), str):
                terms[node["id"]] = _term_obo_graph(node)
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


def _term_obo_graph(node: dict[str, Any]) -> Term:
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
    _recognizes_obo_graph,
    _terms_obo_graph,
    3,
)
