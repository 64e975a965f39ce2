"""MeSH descriptors as NLM publishes them in ASCII: d20XX.bin.

A record begins with `*NEWRECORD`; then come lines `ELEMENT = value`. An entry term's value has
columns parted by `|`, and ends in letters that name the columns present: `d` is the relation (EQV,
NRW, BRD, REL) of the term to the heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.formats.mesh import Descriptors, entry_term
from irplatform.text_files import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.model import Concept, Name, Relation

_NEW = "*NEWRECORD"


def _recognizes(head: Head) -> bool:
    return head.line.strip() == _NEW


def _read(path: Path) -> Iterator[Concept | Relation]:
    descriptors = Descriptors()
    for line, elements in _records(path):
        uis, names = elements.get("UI", []), elements.get("MH", [])
        if not uis or not names:
            raise InputError(
                "the record that begins here has no UI or no MH. Use the file of descriptors, "
                "d20XX.bin, whole.",
                path=path,
                line=line,
            )
        entries = elements.get("PRINT ENTRY", []) + elements.get("ENTRY", [])
        terms = [_term(entry) for entry in entries]
        yield descriptors.concept(uis[0], names[0], terms, elements.get("MN", []))
    yield from descriptors.relations()


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
    "mesh-ascii", "mesh", "NLM's d20XX.bin (descriptors in ASCII)", _recognizes, _read
)
