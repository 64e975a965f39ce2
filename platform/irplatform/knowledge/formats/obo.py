"""The Disease Ontology as its makers publish it in OBO: doid.obo.

OBO flat file format 1.4: stanzas `[Term]` with lines `tag: value`. Obsolete terms are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats.disease import cross_reference, synonym
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.model import Concept, Name, Relation
from irplatform.text_files import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SYNONYM = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"\s*(?P<scope>[A-Z]*)\s*(?P<type>[^\[\s]*)')
_ESCAPED = re.compile(r"\\(.)")
_ACRONYMS = ("OMO:0003000", "OMO:0003012", "abbreviation", "acronym")
"""Types of synonyms that are abbreviations or acronyms."""


def _recognizes(head: Head) -> bool:
    return head.text.startswith("format-version:") or "\n[Term]" in head.text


def _read(path: Path) -> Iterator[Concept | Relation]:
    for line, term in _terms(path):
        if "true" in term.get("is_obsolete", []):
            continue
        if not term.get("id") or not term.get("name"):
            raise InputError(
                "the term that begins here has no id or no name.", path=path, line=line
            )
        concept_id, name = term["id"][0], _plain(term["name"][0])
        names = [Name(name, "preferred")]
        for value in term.get("synonym", []):
            match = _SYNONYM.match(value)
            if match is None:
                raise InputError(
                    f"the synonym {value[:60]} of the term that begins here is not in quotes.",
                    path=path,
                    line=line,
                )
            acronym = any(match["type"].endswith(kind) for kind in _ACRONYMS)
            names.append(synonym(_plain(match["text"]), match["scope"], acronym=acronym))
        references = [*term.get("alt_id", []), *term.get("xref", [])]
        xrefs = (value.split(" ")[0].partition(":") for value in references)
        yield Concept(
            concept_id,
            name,
            "disease",
            tuple(names),
            tuple(cross_reference(space, rest) for space, colon, rest in xrefs if colon and rest),
        )
        for value in term.get("is_a", []):
            yield Relation(concept_id, value.split("!")[0].split("{")[0].strip(), "is-a")


def _terms(path: Path) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """Yield the stanzas of terms by tag, with the line where they begin."""
    start = 0
    term: dict[str, list[str]] = {}
    for number, raw in numbered_lines(path):
        line = decoded(raw, path, number).strip()
        if line.startswith("[") and line.endswith("]"):
            if start:
                yield start, term
            start, term = (number if line == "[Term]" else 0), {}
            continue
        tag, colon, value = line.partition(":")
        if not colon and not line.startswith("!"):
            raise InputError(f"'{line[:60]}' is not tag: value.", path=path, line=number)
        if start:
            term.setdefault(tag.strip(), []).append(value.strip())
    if start:
        yield start, term


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text).strip()


DOID_OBO = Format(
    "doid-obo", "doid", "the Disease Ontology's doid.obo", _recognizes, _read, revision=2
)
