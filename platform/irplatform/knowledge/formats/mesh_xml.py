"""MeSH as NLM publishes it in XML: desc20XX.xml (descriptors), supp20XX.xml (supplementary).

Read record by record. Entities are not resolved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.formats.mesh import Descriptors, entry_term, kind_of_substance
from irplatform.knowledge.formats.xmls import elements
from irplatform.knowledge.model import Concept, ConceptKind, Name, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lxml.etree import _Element

_KINDS: dict[str, ConceptKind] = {"1": "drug", "3": "disease"}
"""Of supplementary records, by class; protocols, organisms and populations are something else."""
_HEADING = "HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo"
_SHORT = {"ABB", "ABX", "ACR", "ACX"}
"""Lexical tags of abbreviations and acronyms."""


def _text(element: _Element, name: str, path: Path) -> str:
    text = (element.findtext(name) or "").strip()
    if not text:
        raise InputError(
            f"this {element.tag} has no {name}.", path=path, line=element.sourceline or None
        )
    return text


def _texts(element: _Element, path: str) -> list[str]:
    """The texts of elements within another one, without the star of major topics."""
    return [(each.text or "").strip().lstrip("*") for each in element.iterfind(path)]


def _terms(record: _Element) -> Iterator[Name]:
    for concept in record.iterfind("ConceptList/Concept"):
        preferred = concept.get("PreferredConceptYN") == "Y"
        ui = (concept.findtext("ConceptUI") or "").strip()
        relation = "" if preferred else _relation(record, ui)
        for term in concept.iterfind("TermList/Term"):
            text = (term.findtext("String") or "").strip()
            if not text:
                continue
            name = entry_term(text, relation)
            if name.kind == "synonym" and term.get("LexicalTag") in _SHORT:
                name = Name(text, "abbreviation")
            yield name


def _relation(record: _Element, ui: str) -> str:
    """How a further concept stands to the preferred one: NRW, BRD, REL."""
    for relation in record.iterfind("ConceptList/Concept/ConceptRelationList/ConceptRelation"):
        if (relation.findtext("Concept2UI") or "").strip() == ui:
            return relation.get("RelationName") or ""
    return ""


def _read_descriptors(path: Path) -> Iterator[Concept | Relation]:
    descriptors = Descriptors()
    for record in elements(path, ["DescriptorRecord"]):
        yield descriptors.concept(
            _text(record, "DescriptorUI", path),
            _text(record, "DescriptorName/String", path),
            list(_terms(record)),
            [(tree.text or "").strip() for tree in record.iterfind("TreeNumberList/TreeNumber")],
        )
    yield from descriptors.relations()


def _read_supplement(path: Path) -> Iterator[Concept | Relation]:
    for record in elements(path, ["SupplementalRecord"]):
        concept_id = f"MESH:{_text(record, 'SupplementalRecordUI', path)}"
        name = _text(record, "SupplementalRecordName/String", path)
        headings = _texts(record, f"{_HEADING}/DescriptorName/String")
        kind = _KINDS.get(record.get("SCRClass", ""), "other")
        if kind == "drug":
            numbers = _texts(record, "ConceptList/Concept//RegistryNumber")
            kind = kind_of_substance([name, *numbers], headings)
        yield Concept(concept_id, name, kind, (Name(name, "preferred"), *_terms(record)))
        for ui in _texts(record, f"{_HEADING}/DescriptorUI"):
            yield Relation(concept_id, f"MESH:{ui}", "mapped-to")


def _recognizes(root: str) -> Callable[[Head], bool]:
    return lambda head: head.text.startswith("<") and f"<{root}" in head.text


MESH_XML = Format(
    "mesh-xml",
    "mesh",
    "NLM's desc20XX.xml (descriptors)",
    _recognizes("DescriptorRecordSet"),
    _read_descriptors,
    revision=3,
)
MESH_SUPPLEMENT = Format(
    "mesh-supplement",
    "mesh",
    "NLM's supp20XX.xml (supplementary concepts)",
    _recognizes("SupplementalRecordSet"),
    _read_supplement,
    revision=3,
)
