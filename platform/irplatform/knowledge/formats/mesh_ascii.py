"""MeSH as NLM publishes it in ASCII: d20XX.bin (descriptors), c20XX.bin (supplementary).

A record begins with `*NEWRECORD`; then come lines `ELEMENT = value`. An entry term's value has
columns parted by `|`, and ends in letters that name the columns present: `d` is the relation (EQV,
NRW, BRD, REL) of the term to the heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.formats.mesh import NAMED, Descriptors, entry_term, kind_of_substance
from irplatform.knowledge.formats.semantic_types import DISORDERS, SUBSTANCES
from irplatform.knowledge.model import Concept, Name, Relation
from irplatform.text_files import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.model import ConceptKind

_NEW = "*NEWRECORD"


_RECORDS = {"D": "MH", "C": "NM", "Q": "SH"}
"""Elements with the names of descriptors, supplementary records, qualifiers."""


def _recognizes(head: Head) -> bool:
    return head.line.strip() == _NEW


def _read(path: Path) -> Iterator[Concept | Relation]:
    descriptors = Descriptors()
    for line, elements in _records(path):
        kind = next(iter(elements.get("RECTYPE", [])), "D")
        uis, names = elements.get("UI", []), elements.get(_RECORDS.get(kind, ""), [])
        if kind == "Q":
            raise InputError(
                "this is a file of qualifiers, which are no concepts. Use descriptors (d20XX.bin) "
                "and supplementary records (c20XX.bin).",
                path=path,
                line=line,
            )
        if not uis or not names:
            raise InputError(
                f"the record that begins here has no UI or no {_RECORDS.get(kind, 'MH')}. Use the "
                "file whole.",
                path=path,
                line=line,
            )
        if kind == "D":
            entries = elements.get("PRINT ENTRY", []) + elements.get("ENTRY", [])
            terms = [_term(entry) for entry in entries]
            yield descriptors.concept(uis[0], names[0], terms, elements.get("MN", []))
        else:
            yield from _supplement(uis[0], names[0], elements)
    yield from descriptors.relations()


def _supplement(ui: str, name: str, elements: dict[str, list[str]]) -> Iterator[Concept | Relation]:
    """A supplementary record, mapped to headings by their names (*Indoles/metabolism)."""
    mapped = [heading.lstrip("*").partition("/")[0] for heading in elements.get("HM", [])]
    types = set(elements.get("ST", []))
    if types & DISORDERS:
        kind: ConceptKind = "disease"
    elif types and not types & SUBSTANCES:
        kind = "other"
    else:
        kind = kind_of_substance([name, *elements.get("RN", [])], mapped)
    terms = (_term(entry) for entry in elements.get("SY", []))
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
    _recognizes,
    _read,
    revision=3,
)
