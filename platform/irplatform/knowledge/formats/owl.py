"""Ontologies in OWL, as RDF/XML: mondo.owl, efo.owl, ordo.owl.

A class's label, synonyms and cross-references are read with what its axioms say of them. Labels in
other languages than English are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats.ontology import Term, one_line, ontology_formats, synonym, term_id
from irplatform.knowledge.formats.xmls import elements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lxml.etree import _Element

    from irplatform.knowledge.formats.reading import Head

_OWL = "{http://www.w3.org/2002/07/owl#}"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_XML = "{http://www.w3.org/XML/1998/namespace}"
_TAGS = (f"{_OWL}Class", f"{_OWL}Axiom", f"{_RDF}Description")
_SCOPES = {
    "hasExactSynonym": "EXACT", "hasNarrowSynonym": "NARROW", "hasBroadSynonym": "BROAD",
    "hasRelatedSynonym": "RELATED", "altLabel": "EXACT", "alternative_term": "EXACT",
    "alternative_label": "EXACT", "IAO_0000118": "EXACT",
}  # fmt: skip
_OTHER_SYNTAXES = {
    "Prefix(": "functional syntax", "Ontology(": "functional syntax", "@prefix": "Turtle",
    "Prefix:": "Manchester syntax", "<Ontology": "OWL/XML",
}  # fmt: skip


def other_syntax(head: Head) -> str:
    """What to do with an ontology in OWL that is not RDF/XML; "" for any other file."""
    text = head.text.partition("?>")[2].lstrip() if head.text.startswith("<?xml") else head.text
    named = (name for start, name in _OTHER_SYNTAXES.items() if text.startswith(start))
    name = next(named, "")
    return name and f"This is OWL in {name}. ROBOT makes OBO of it: robot convert -i FILE -o X.obo"


def _recognizes(head: Head) -> bool:
    return head.text.startswith("<") and "<rdf:RDF" in head.text and "owl#" in head.text


def _terms(path: Path) -> Iterator[Term]:
    """The classes that have an address, in the file's order.

    They wait for the end of the file, since an axiom on one of them may stand anywhere.
    """
    classes: dict[str, list[tuple[str, str]]] = {}
    said: dict[tuple[str, str], list[str]] = {}
    for element in elements(path, _TAGS, entities=True):
        if element.tag == f"{_OWL}Axiom":
            place, words = _axiom(element)
            if words:
                said.setdefault(place, []).extend(words)
            continue
        for part in element.iter(f"{_OWL}Class", f"{_RDF}Description"):
            address = _address(part)
            if address and len(part) and _is_class(part):
                classes.setdefault(address, []).extend(_properties(part))
    if not classes:
        raise InputError("there is no class (owl:Class) in this file.", path=path)
    for address, properties in classes.items():
        yield _term(address, properties, said)


def _term(
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


def _properties(element: _Element) -> Iterator[tuple[str, str]]:
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
    """The class that an axiom is about and the value there, and what it says of that value."""
    about = target = ""
    words = []
    for name, text in _properties(element):
        if name == "annotatedSource":
            about = text
        elif name == "annotatedTarget":
            target = text
        elif name in {"source", "hasSynonymType"}:
            words.append(text)
    return (about, target), words


def _address(element: _Element) -> str:
    """What an element is about, or names; "" for nothing."""
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
    _recognizes,
    _terms,
)
