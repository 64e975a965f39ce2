"""Ontologies in OBO, as OBO graphs and in OWL.

fastobo reads OBO 1.4, but gets only the lines that are used here, so a malformed date does no harm.
OBO graphs 0.3 are JSON. Of OWL as RDF/XML, the labels, synonyms and cross-references of classes are
read with the axioms about them. Labels in other languages than English are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.knowledge.formats.reading import elements, load, objects_of, texts_of
from irplatform.knowledge.formats.terms import Term, one_line, ontology_formats, synonym, term_id
from irplatform.system.reading import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lxml.etree import _Element

    from irplatform.knowledge.formats.reading import Head


_OBO_TAGS = {
    "alt_id", "equivalent_to", "id", "is_a", "is_obsolete", "name", "namespace", "property_value",
    "synonym", "xref",
}  # fmt: skip
_LINES = 1 << 16
"""Lines that fastobo gets at a time, at least."""
_ESCAPED = re.compile(r"\\(.)")
_NO_SCOPE = re.compile(r'(synonym:\s*"(?:[^"\\]|\\.)*")\s*(?=\[)')
"""A synonym without a scope, as OBO 1.2 allows it."""


def _is_obo(head: Head) -> bool:
    return any(f"\n{start}" in f"\n{head.text}" for start in ("format-version:", "[Term]"))


def _terms_of_obo(path: Path) -> Iterator[Term]:
    import fastobo

    namespace = ""
    for first, lines in _blocks(path):
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
        yield from (_term_of_obo(frame, namespace) for frame in document)


def _blocks(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the terms in blocks of whole terms, each with its first line."""
    first, lines, wanted = 1, [""], {"default-namespace"}
    term, named = 0, True
    for number, raw in numbered_lines(path):
        line = decoded(raw, path, number).strip()
        tag, colon, _ = line.partition(":")
        if line.startswith("["):
            _check_id(path, term, named)
            is_term = line.startswith("[Term]")
            if is_term and number - first > _LINES:
                yield first, [*lines, ""]
                first, lines = number, []
            term, named, wanted = (number, False, _OBO_TAGS) if is_term else (0, True, set())
        elif not colon and not line.startswith("!"):
            raise InputError(f"'{line[:60]}' is not tag: value.", path=path, line=number)
        named = named or tag == "id"
        lines += [""] * (number - first - len(lines))
        if line.startswith("[Term]") or tag in wanted:
            lines.append(_NO_SCOPE.sub(r"\1 RELATED ", line))
    _check_id(path, term, named)
    yield first, [*lines, ""]


def _check_id(path: Path, term: int, named: bool) -> None:
    if not named:
        raise InputError("the term that begins here has no id.", path=path, line=term)


def _term_of_obo(frame: Any, namespace: str) -> Term:
    term = Term(term_id(_plain(frame.id)), namespace=namespace)
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
            term.former.append(term_id(_plain(clause.alt_id)))
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
            term.parents.append(term_id(_plain(clause.term)))
        elif tag == "is_obsolete":
            term.obsolete = clause.obsolete
    return term


def _plain(identifier: Any) -> str:
    """An identifier without the escapes of the format."""
    return _ESCAPED.sub(r"\1", str(identifier))


OBO, DOID_OBO = ontology_formats(
    "obo", ("an ontology in OBO", "the Disease Ontology's doid.obo"), _is_obo, _terms_of_obo, 3
)


_NOT_TERMS = {"PROPERTY", "INDIVIDUAL"}


def _is_graph(head: Head) -> bool:
    return head.text.startswith("{") and '"graphs"' in head.text


def _terms_of_graph(path: Path) -> Iterator[Term]:
    graphs = objects_of(load(path, dict).get("graphs"))
    if not any(isinstance(graph.get("nodes"), list) for graph in graphs):
        raise InputError("there is no graph with nodes in this OBO graph document.", path=path)
    for graph in graphs:
        terms = {}
        for node in objects_of(graph.get("nodes")):
            if node.get("type") not in _NOT_TERMS and isinstance(node.get("id"), str):
                terms[node["id"]] = _term_of_graph(node)
        for edge in objects_of(graph.get("edges")):
            if edge.get("pred") == "is_a" and edge.get("sub") in terms and edge.get("obj"):
                terms[edge["sub"]].parents.append(term_id(str(edge["obj"])))
        for same in objects_of(graph.get("equivalentNodesSets")):
            ids = texts_of(same.get("nodeIds"))
            for one in ids:
                if one in terms:
                    for other in ids:
                        terms[one].map_to(other, "equivalent")
        yield from terms.values()


def _term_of_graph(node: dict[str, Any]) -> Term:
    meta = _meta(node)
    label = node.get("lbl")
    term = Term(
        term_id(node["id"]),
        one_line(label) if isinstance(label, str) else "",
        obsolete=meta.get("deprecated") is True,
    )
    for entry in objects_of(meta.get("synonyms")):
        if isinstance(entry.get("val"), str):
            scope = str(entry.get("pred")).removeprefix("has").removesuffix("Synonym")
            type_ = str(entry.get("synonymType", ""))
            term.names.append(synonym(one_line(entry["val"]), scope, type_))
    for xref in objects_of(meta.get("xrefs")):
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
    entries = objects_of(meta.get("basicPropertyValues"))
    return [(str(entry.get("pred")), str(entry.get("val"))) for entry in entries]


OBO_GRAPH, DOID_GRAPH = ontology_formats(
    "obo-graph",
    ("an ontology as OBO graph", "the Disease Ontology's doid.json (OBO graph)"),
    _is_graph,
    _terms_of_graph,
    3,
)


_OWL = "{http://www.w3.org/2002/07/owl#}"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_XML = "{http://www.w3.org/XML/1998/namespace}"
_OWL_TAGS = (f"{_OWL}Class", f"{_OWL}Axiom", f"{_RDF}Description")
_SCOPES = {
    "hasExactSynonym": "EXACT", "hasNarrowSynonym": "NARROW", "hasBroadSynonym": "BROAD",
    "hasRelatedSynonym": "RELATED", "altLabel": "EXACT", "alternative_term": "EXACT",
    "alternative_label": "EXACT", "IAO_0000118": "EXACT",
}  # fmt: skip


def _is_owl(head: Head) -> bool:
    return head.text.startswith("<") and "<rdf:RDF" in head.text and "owl#" in head.text


def _terms_of_owl(path: Path) -> Iterator[Term]:
    """The classes that have an address, in the file's order; an axiom may stand anywhere."""
    classes: dict[str, list[tuple[str, str]]] = {}
    said: dict[tuple[str, str], list[str]] = {}
    for element in elements(path, _OWL_TAGS, entities=True):
        if element.tag == f"{_OWL}Axiom":
            place, words = _axiom(element)
            if words:
                said.setdefault(place, []).extend(words)
            continue
        for part in element.iter(f"{_OWL}Class", f"{_RDF}Description"):
            address = _address(part)
            if address and len(part) and _is_class(part):
                classes.setdefault(address, []).extend(_class_properties(part))
    if not classes:
        raise InputError("there is no class (owl:Class) in this file.", path=path)
    for address, properties in classes.items():
        yield _term_of_owl(address, properties, said)


def _term_of_owl(
    address: str, properties: list[tuple[str, str]], said: Mapping[tuple[str, str], list[str]]
) -> Term:
    term = Term(term_id(address))
    for name in ("label", "label-foreign", "prefLabel", "prefLabel-foreign"):
        term.name = term.name or next((text for each, text in properties if each == name), "")
    for name, text in properties:
        words = said.get((address, text), [])
        if name in _SCOPES:
            term.names.append(synonym(text, _SCOPES[name], *words))
        elif name == "hasDbXref" or name.endswith("Match"):
            term.map_to(text, *words, name)
        elif name == "equivalentClass":
            term.map_to(text, name)
        elif name == "hasAlternativeId":
            term.former.append(term_id(text))
        elif name == "hasOBONamespace":
            term.namespace = text
        elif name == "subClassOf":
            term.parents.append(term_id(text))
        elif name == "deprecated":
            term.obsolete = text == "true"
    return term


def _class_properties(element: _Element) -> Iterator[tuple[str, str]]:
    """Names of a class's properties, without name spaces, and their texts or addresses."""
    for child in element.iterchildren(tag="*"):
        name = child.tag.rpartition("}")[2]
        text = one_line(child.text or "") or _address(child)
        if not text and (named := next(child.iterchildren(f"{_OWL}Class"), None)) is not None:
            text = _address(named)
        foreign = child.get(f"{_XML}lang", "en").lower().partition("-")[0] != "en"
        if text and not (foreign and name in _SCOPES):
            yield f"{name}-foreign" if foreign else name, text


def _axiom(element: _Element) -> tuple[tuple[str, str], list[str]]:
    """The class and the value that an axiom is about, and its words on that value."""
    about = target = ""
    words = []
    for name, text in _class_properties(element):
        if name == "annotatedSource":
            about = text
        elif name == "annotatedTarget":
            target = text
        elif name in {"source", "hasSynonymType"}:
            words.append(text)
    return (about, target), words


def _address(element: _Element) -> str:
    """The address that an element is about, or names; "" for none."""
    address = element.get(f"{_RDF}about") or element.get(f"{_RDF}resource")
    if not address and (own := element.get(f"{_RDF}ID")):
        address = f"#{own}"
    if address and address.startswith("#"):
        address = f"{(element.base or '').rstrip('#')}{address}"
    return (address or "").strip()


def _is_class(element: _Element) -> bool:
    return element.tag == f"{_OWL}Class" or any(
        (kind.get(f"{_RDF}resource") or "").endswith("owl#Class")
        for kind in element.iterchildren(f"{_RDF}type")
    )


OWL, DOID_OWL = ontology_formats(
    "owl",
    ("an ontology in OWL (RDF/XML)", "the Disease Ontology's doid.owl"),
    _is_owl,
    _terms_of_owl,
)
