"""Ontologies in OBO, as OBO graphs and in OWL.

fastobo reads OBO 1.4, but gets only the lines that are used here, so a malformed date does no harm.
A line that it refuses is left out. OBO graphs 0.3 are JSON. Of OWL as RDF/XML, the labels, synonyms
and cross-references of classes are read with the axioms about them. Labels in other languages than
English are left out.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.errors import InputError
from irplatform.files.reading import decoded, numbered_lines
from irplatform.knowledge.formats.reading import Unread, elements, load, objects_of, texts_of
from irplatform.knowledge.formats.terms import (
    Term,
    is_true,
    one_line,
    ontology_formats,
    synonym,
    term_id,
)
from irplatform.workers.distribution import batched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lxml.etree import _Element

    from irplatform.knowledge.formats.reading import Head


_OBO_TAGS = {
    "alt_id", "equivalent_to", "id", "is_a", "is_obsolete", "name", "namespace", "property_value",
    "replaced_by", "synonym", "use_term", "xref", "broad_synonym", "exact_synonym",
    "narrow_synonym", "related_synonym",
}  # fmt: skip
_AT_ONCE = 4096
"""Terms that fastobo gets at a time."""
_ESCAPED = re.compile(r"\\(.)")
_STANZA = re.compile(r"\[(\w+)\]\s*(?:!.*)?")
_SYNONYM = re.compile(
    r'(?:(\w+)_)?synonym:\s*"(.*?)(?<!\\)"\s*(?:(exact|narrow|broad|related)\b)?\s*([^"\[{!]*)'
    r"(?:[\[{!].*)?",
    re.IGNORECASE,
)
"""A synonym, also without a scope, as OBO 1.2 allows it; its sources are not used here."""
_QUALIFIED_TWICE = re.compile(r'(?<=")\s*\}\s*\{')
_BRACE, _ESCAPE = re.compile(r"(?<!\\)([{}])"), r"\\\1"
_BEHIND = re.compile(r"\s*(?:\{[^{}]*\}\s*)?(?:!.*)?$")
_FREE_OF_QUALIFIERS = ("id", "name", "is_a", "alt_id", "namespace", "replaced_by")
"""Tags whose qualifiers and comments say nothing here."""


_Frame: TypeAlias = list[tuple[int, str]]
"""The lines of a term, with their numbers."""


def _is_obo(head: Head) -> bool:
    return any(f"\n{start}" in f"\n{head.text}" for start in ("format-version:", "[Term]"))


def _terms_of_obo(path: Path) -> Iterator[Term]:
    unread = Unread(path)
    for frames in batched(_frames(path, unread), _AT_ONCE):
        yield from map(_term_of_obo, _parsed(frames, unread))
    unread.tell()


def _frames(path: Path, unread: Unread) -> Iterator[_Frame]:
    """The lines of each term that are used here, the first is its id, the last its namespace."""
    default: list[tuple[int, str]] = []
    frame: _Frame | None = None
    begin, within = 0, "header"
    for number, raw in chain(numbered_lines(path), [(0, b"[End]")]):
        line = ""
        with unread:
            line = decoded(raw, path, number).strip()
        tag, colon, value = line.partition(":")
        stanza = _STANZA.fullmatch(line)
        # A second id begins a term that lacks its [Term].
        if stanza or (tag == "id" and frame and frame[0][1].startswith("id:")):
            if frame and not frame[0][1].startswith("id:"):
                unread.add("the term that begins here has no id.", begin)
            elif frame:
                yield frame
            within = stanza[1].lower() if stanza else within
            frame = [*default] if within == "term" else None
            begin = number
        if tag == "default-namespace" and within == "header":
            default = [(number, f"namespace: {name}") for name in value.split()[:1]]
        if frame is None or stanza or not line or line.startswith("!"):
            continue
        if not colon:
            unread.add(f"'{line[:60]}' is not tag: value.", number)
        elif tag in _OBO_TAGS:
            frame.insert(0 if tag == "id" else len(frame), (number, _of_today(line, tag, value)))


def _of_today(line: str, tag: str, value: str) -> str:
    """A line as OBO 1.4 has it, without parts of it that are not used here."""
    if tag == "is_obsolete":
        word = value.replace('"', " ").split()[:1]
        return f"{tag}: {str(any(map(is_true, word))).lower()}"
    if tag == "use_term":
        return f"replaced_by:{value}"
    if match := _SYNONYM.fullmatch(line):
        old_scope, text, scope, kind = match.groups(default="")
        text = re.sub(r'(?<!\\)"', r"\"", text)
        kind = kind.strip() if len(kind.split()) == 1 else ""
        return f'synonym: "{text}" {(old_scope or scope or "RELATED").upper()} {kind} []'
    return _QUALIFIED_TWICE.sub(", ", line)


def _parsed(frames: Sequence[_Frame], unread: Unread) -> Iterator[Any]:
    """Terms; of one that fastobo refuses, the lines that it takes."""
    import fastobo

    def parsed(terms: Iterable[Iterable[str]]) -> Any:
        return fastobo.loads("\n".join(chain(*(("[Term]", *lines, "") for lines in terms))))

    try:
        yield from parsed((line for _, line in frame) for frame in frames)
    except SyntaxError:
        if len(frames) > 1:
            half = len(frames) // 2
            yield from chain(_parsed(frames[:half], unread), _parsed(frames[half:], unread))
            return
        clauses: list[str] = []
        for number, line in frames[0]:
            for form in (line, _bare(line)):
                try:
                    parsed([[*clauses[:1], form]])
                except SyntaxError as error:
                    wrong = f"'{line[:60]}' is not OBO (fastobo: {error.msg})."
                    continue
                clauses.append(form)
                break
            else:
                unread.add(wrong, number)
            if not clauses:  # without an id
                return
        yield from parsed([clauses])


def _bare(line: str) -> str:
    """A line without what stands behind its value, if that says nothing here."""
    tag, _, value = line.partition(":")
    if tag not in _FREE_OF_QUALIFIERS:
        return line
    bare = _BEHIND.sub("", value.strip())
    return f"{tag}: {_BRACE.sub(_ESCAPE, bare)}"


def _term_of_obo(frame: Any) -> Term:
    term = Term(term_id(_plain(frame.id)))
    for clause in frame:
        tag = clause.raw_tag()
        if tag == "name":
            term.name = term.name or one_line(clause.name)
        elif tag == "synonym":
            entry = clause.synonym
            term.names.append(synonym(one_line(entry.desc), entry.scope, str(entry.type or "")))
        elif tag == "xref":
            strengths = [qualifier.value for qualifier in clause.qualifiers or ()]
            term.map_to(_plain(clause.xref.id), *strengths)
        elif tag == "property_value":
            statement = clause.property_value
            term.say(_plain(statement.relation), _plain(statement.value))
        else:
            term.say(tag, _plain(clause.raw_value()))
    return term


def _plain(identifier: Any) -> str:
    """An identifier without the escapes of the format."""
    return _ESCAPED.sub(r"\1", str(identifier))


OBO, DOID_OBO = ontology_formats(
    "obo", ("an ontology in OBO", "the Disease Ontology's doid.obo"), _is_obo, _terms_of_obo, 4
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
    term = Term(term_id(node["id"]), one_line(label) if isinstance(label, str) else "")
    term.say("deprecated", str(meta.get("deprecated")))
    for entry in objects_of(meta.get("synonyms")):
        if isinstance(entry.get("val"), str):
            scope = str(entry.get("pred")).removeprefix("has").removesuffix("Synonym")
            type_ = str(entry.get("synonymType", ""))
            term.names.append(synonym(one_line(entry["val"]), scope, type_))
    for xref in objects_of(meta.get("xrefs")):
        inner = _meta(xref)
        sources = [source.get("val") for source in objects_of(inner.get("xrefs"))]
        words = texts_of([*sources, *texts_of(inner.get("xrefs"))])
        term.map_to(str(xref.get("val")), *words, *(value for _, value in _properties(inner)))
    for predicate, value in _properties(meta):
        term.say(predicate, value)
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
    4,
)


_OWL = "{http://www.w3.org/2002/07/owl#}"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_XML = "{http://www.w3.org/XML/1998/namespace}"
_CLASSES = (f"{_OWL}Class", f"{_OWL}DeprecatedClass")
_OWL_TAGS = (*_CLASSES, f"{_OWL}Axiom", f"{_RDF}Description")
_NO_WORDS = {"annotatedProperty", "comment", "definition", "description", "label", "type"}
"""Properties of an axiom that do not say how it is meant."""
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
    qualifiers: dict[tuple[str, str], list[str]] = {}
    for element in elements(path, _OWL_TAGS, entities=True):
        if _is(element, "Axiom"):
            place, words = _axiom(element)
            if words:
                qualifiers.setdefault(place, []).extend(words)
            continue
        for part in element.iter(*_CLASSES, f"{_RDF}Description"):
            address = _address(part)
            if address and len(part) and (_is(part, "Class") or _is(part, "DeprecatedClass")):
                classes.setdefault(address, []).extend(_class_properties(part))
    if not classes:
        raise InputError("there is no class (owl:Class) in this file.", path=path)
    for address, properties in classes.items():
        yield _term_of_owl(address, properties, qualifiers)


def _term_of_owl(
    address: str, properties: list[tuple[str, str]], qualifiers: Mapping[tuple[str, str], list[str]]
) -> Term:
    term = Term(term_id(address))
    for name in ("label", "label-foreign", "prefLabel", "prefLabel-foreign"):
        term.name = term.name or next((text for key, text in properties if key == name), "")
    for name, text in properties:
        words = qualifiers.get((address, text), [])
        if name in _SCOPES:
            term.names.append(synonym(text, _SCOPES[name], *words))
        elif name == "hasDbXref":
            term.map_to(text, *words)
        else:
            term.say(name, text)
    return term


def _class_properties(element: _Element) -> Iterator[tuple[str, str]]:
    """Names of a class's properties, without name spaces, and their texts or addresses."""
    if _is(element, "DeprecatedClass"):
        yield "deprecated", "true"
    for child in element.iterchildren(tag="*"):
        name = child.tag.rpartition("}")[2]
        text = one_line(child.text or "") or _address(child)
        if not text and (owl_class := next(child.iterchildren(f"{_OWL}Class"), None)) is not None:
            text = _address(owl_class)
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
        elif name not in _NO_WORDS:
            words.append(text)
    return (about, target), words


def _address(element: _Element) -> str:
    """The address that an element is about, or names; "" for none."""
    address = element.get(f"{_RDF}about") or element.get(f"{_RDF}resource")
    if not address and (fragment := element.get(f"{_RDF}ID")):
        address = f"#{fragment}"
    if address and address.startswith("#"):
        address = f"{(element.base or '').rstrip('#')}{address}"
    return (address or "").strip()


def _is(element: _Element, kind: str) -> bool:
    """Return whether an element is of a kind of OWL's, by its tag or its type."""
    return element.tag == f"{_OWL}{kind}" or any(
        (child.get(f"{_RDF}resource") or "").endswith(f"owl#{kind}")
        for child in element.iterchildren(f"{_RDF}type")
    )


OWL, DOID_OWL = ontology_formats(
    "owl",
    ("an ontology in OWL (RDF/XML)", "the Disease Ontology's doid.owl"),
    _is_owl,
    _terms_of_owl,
    2,
)
