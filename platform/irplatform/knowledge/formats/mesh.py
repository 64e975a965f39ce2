"""Medical Subject Headings, as the U.S. National Library of Medicine publishes them: ASCII and XML.

Descriptors are in d20XX.bin and desc20XX.xml, supplementary records in c20XX.bin and supp20XX.xml.
A tree number tells a heading's kind; its prefix is that of the broader heading. In ASCII lines
`ELEMENT = value` follow `*NEWRECORD`. An entry term has columns separated by `|`, and letters that
name them at its end: `d` is the term's relation to the heading (EQV, NRW, BRD, REL).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.files.reading import decoded, numbered_lines
from irplatform.knowledge.formats.reading import Format, Head, elements
from irplatform.knowledge.formats.umls import DISORDERS, SUBSTANCES
from irplatform.knowledge.model import (
    Concept,
    ConceptKind,
    Name,
    NameKind,
    Relation,
    kind_of_synonym,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from lxml.etree import _Element


NAMED = "MESH:="
"""Precedes the name of a heading that a supplementary record is mapped to by its name."""
_DISEASES = ("C", "F03")
_ANTIBODIES = "D12.776.124.486.485"
_MOLECULES_OF_LIFE = ("D05.500", "D08", "D12", "D13", "D23")
"""Multiprotein complexes, enzymes, proteins, nucleic acids, biological factors: more often a gene's
product than a drug."""
_PROTEINS = ("D08", "D12.776")
_SORTS_OF_PROTEINS = ("D05.750.078", "D09.400.430", "D09.698.735", "D10.532", "D10.570.780")
"""Biopolymers, glycoproteins, proteoglycans, lipoproteins, proteolipids: a protein that has another
place there is no drug for that."""
_HEADING_OF_PROTEINS = re.compile(
    r"(?!.*(?:(?:inhibitor|agonist|blocker|activator|modulator)s?(?:$|,| and)|vaccine|antibod))"
    r".*\b(?:(?:poly|lipo|glyco)?proteins?|receptors?|antigens?|histones?|(?:micro)?RNAs?|DNA"
    r"|transcription factors?|\w{3,}ases?)\b",
    re.IGNORECASE,
)
"""Headings of molecules of life, by their names."""
_NAME_OF_A_DRUG = re.compile(
    r"\w{3}(?:poetin|grastim|gramostim|plestim|teplase|cept|plermin|kinra)\b", re.IGNORECASE
)
"""Of recombinant proteins, by the stems of WHO's international nonproprietary names."""
_NAMED_PROTEIN = re.compile(r"\bproteins?(?:, .+)?$|^EC \d", re.IGNORECASE)
"""Of supplementary records: EGFR protein, human; or the number of an enzyme."""


class Descriptors:
    """Makes concepts of descriptors, and their is-a relations once all were seen."""

    def __init__(self) -> None:
        self._by_tree: dict[str, str] = {}

    def concept(self, ui: str, name: str, terms: Sequence[Name], trees: Sequence[str]) -> Concept:
        """A descriptor's concept."""
        concept_id = f"MESH:{ui}"
        self._by_tree.update((tree, concept_id) for tree in trees if tree)
        return Concept(concept_id, name, _kind_of(name, trees), (Name(name, "preferred"), *terms))

    def relations(self) -> Iterator[Relation]:
        """Is-a, from every place of every descriptor to the place above it."""
        for tree, concept_id in self._by_tree.items():
            parent = self._by_tree.get(tree.rpartition(".")[0])
            if parent is not None and parent != concept_id:
                yield Relation(concept_id, parent, "is-a")


def _kind_of(name: str, trees: Sequence[str]) -> ConceptKind:
    if any(tree.startswith(_DISEASES) for tree in trees):
        return "disease"
    if _NAME_OF_A_DRUG.search(name):
        return "drug"
    molecules: tuple[str, ...] = _MOLECULES_OF_LIFE
    if any(tree.startswith(_PROTEINS) for tree in trees):
        molecules += _SORTS_OF_PROTEINS
    if any(
        tree.startswith("D") and (tree.startswith(_ANTIBODIES) or not tree.startswith(molecules))
        for tree in trees
    ):
        return "drug"
    return "other"


def kind_of_substance(names: Sequence[str], headings: Sequence[str]) -> ConceptKind:
    """The kind of a substance by names and headings; `Builder` knows better with the headings."""
    if any(map(_NAME_OF_A_DRUG.search, names)):
        return "drug"
    if any(map(_NAMED_PROTEIN.search, names)):
        return "other"
    proteins = [_HEADING_OF_PROTEINS.match(heading) is not None for heading in headings]
    return "other" if proteins and all(proteins) else "drug"


def entry_term(text: str, relation: str = "") -> Name:
    """An entry term as a name, by its relation to the descriptor: EQV, NRW, BRD, REL or ""."""
    narrower: dict[str, NameKind] = {"NRW": "narrow", "BRD": "broad", "REL": "related"}
    kind = narrower.get(relation)
    return Name(text, kind or kind_of_synonym(text))


_NEW = "*NEWRECORD"
_RECORDS = {"D": "MH", "C": "NM"}


def _read_ascii(path: Path) -> Iterator[Concept | Relation]:
    descriptors = Descriptors()
    for line, lines in _records(path):
        kind = next(iter(lines.get("RECTYPE", [])), "D")
        uis, names = lines.get("UI", []), lines.get(_RECORDS.get(kind, ""), [])
        if not uis or not names:
            raise InputError(
                f"the record that begins here has no UI or no {_RECORDS.get(kind, 'MH')}. Add "
                "descriptors (d20XX.bin) and supplementary records (c20XX.bin).",
                path=path,
                line=line,
            )
        if kind == "D":
            entries = lines.get("PRINT ENTRY", []) + lines.get("ENTRY", [])
            terms = [_term(entry) for entry in entries]
            yield descriptors.concept(uis[0], names[0], terms, lines.get("MN", []))
        else:
            yield from _supplement(uis[0], names[0], lines)
    yield from descriptors.relations()


def _supplement(ui: str, name: str, lines: dict[str, list[str]]) -> Iterator[Concept | Relation]:
    """A supplementary record, mapped to headings by their names (*Indoles/metabolism)."""
    mapped = [heading.lstrip("*").partition("/")[0] for heading in lines.get("HM", [])]
    types = set(lines.get("ST", []))
    if types & DISORDERS:
        kind: ConceptKind = "disease"
    elif types and not types & SUBSTANCES:
        kind = "other"
    else:
        kind = kind_of_substance([name, *lines.get("RN", [])], mapped)
    terms = (_term(entry) for entry in lines.get("SY", []))
    yield Concept(f"MESH:{ui}", name, kind, (Name(name, "preferred"), *terms))
    for heading in dict.fromkeys(mapped):
        yield Relation(f"MESH:{ui}", f"{NAMED}{heading}", "mapped-to")


def _records(path: Path) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """Yield records by element, with the line where they begin."""
    start = 0
    record: dict[str, list[str]] = {}
    for number, raw in numbered_lines(path):
        line = decoded(raw, path, number).strip()
        if line == _NEW:
            if start:
                yield start, record
            start, record = number, {}
            continue
        element, equals, value = line.partition(" = ")
        if not start or not (equals or line.endswith(" =")):
            raise InputError(
                f"'{line[:60]}' is neither {_NEW} nor ELEMENT = value.", path=path, line=number
            )
        record.setdefault(element.strip(), []).append(value.strip())
    if start:
        yield start, record


def _term(entry: str) -> Name:
    text, *columns = entry.split("|")
    present = columns[-1] if columns and columns[-1].startswith("a") else ""
    place = present.find("d")
    return entry_term(text.strip(), columns[place - 1] if place > 0 else "")


MESH_ASCII = Format(
    "mesh-ascii",
    "mesh",
    "NLM's d20XX.bin and c20XX.bin (MeSH in ASCII)",
    lambda head: head.line.strip() == _NEW,
    _read_ascii,
    revision=3,
)


_XML_KINDS: dict[str, ConceptKind] = {"1": "drug", "3": "disease"}
"""Of supplementary records, by class; protocols, organisms and populations are something else."""
_HEADING = "HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo"
_SHORT = {"ABB", "ABX", "ACR", "ACX"}
"""Lexical tags of abbreviations and acronyms."""


def _needed_text(element: _Element, name: str, path: Path) -> str:
    if text := (element.findtext(name) or "").strip():
        return text
    raise InputError(f"this {element.tag} has no {name}.", path=path, line=element.sourceline)


def _texts(element: _Element, path: str) -> list[str]:
    """The texts of elements within another one, without the star of major topics."""
    return [(child.text or "").strip().lstrip("*") for child in element.iterfind(path)]


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
    """The relation of another concept to the preferred one: NRW, BRD, REL."""
    for relation in record.iterfind("ConceptList/Concept/ConceptRelationList/ConceptRelation"):
        if (relation.findtext("Concept2UI") or "").strip() == ui:
            return relation.get("RelationName") or ""
    return ""


def _read_descriptors(path: Path) -> Iterator[Concept | Relation]:
    descriptors = Descriptors()
    for record in elements(path, ["DescriptorRecord"]):
        yield descriptors.concept(
            _needed_text(record, "DescriptorUI", path),
            _needed_text(record, "DescriptorName/String", path),
            list(_terms(record)),
            [(tree.text or "").strip() for tree in record.iterfind("TreeNumberList/TreeNumber")],
        )
    yield from descriptors.relations()


def _read_supplement(path: Path) -> Iterator[Concept | Relation]:
    for record in elements(path, ["SupplementalRecord"]):
        concept_id = f"MESH:{_needed_text(record, 'SupplementalRecordUI', path)}"
        name = _needed_text(record, "SupplementalRecordName/String", path)
        headings = _texts(record, f"{_HEADING}/DescriptorName/String")
        kind = _XML_KINDS.get(record.get("SCRClass", ""), "other")
        if kind == "drug":
            numbers = _texts(record, "ConceptList/Concept//RegistryNumber")
            kind = kind_of_substance([name, *numbers], headings)
        yield Concept(concept_id, name, kind, (Name(name, "preferred"), *_terms(record)))
        for ui in _texts(record, f"{_HEADING}/DescriptorUI"):
            yield Relation(concept_id, f"MESH:{ui}", "mapped-to")


def _recognizes_xml(root: str) -> Callable[[Head], bool]:
    return lambda head: head.text.startswith("<") and f"<{root}" in head.text


MESH_XML = Format(
    "mesh-xml",
    "mesh",
    "NLM's desc20XX.xml (descriptors)",
    _recognizes_xml("DescriptorRecordSet"),
    _read_descriptors,
    revision=3,
)
MESH_SUPPLEMENT = Format(
    "mesh-supplement",
    "mesh",
    "NLM's supp20XX.xml (supplementary concepts)",
    _recognizes_xml("SupplementalRecordSet"),
    _read_supplement,
    revision=3,
)
