"""Concepts as scispaCy distributes them: JSON lines made from UMLS, MeSH, RxNorm, HPO or GO.

Each line has `concept_id`, `canonical_name`, `aliases`, and `types`, the semantic types that say
what kind of thing it is (https://github.com/allenai/scispacy, `scispacy.linking_utils.Entity`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.json_io import parse_json
from irplatform.knowledge.formats import jsons
from irplatform.knowledge.formats.format import Format
from irplatform.knowledge.formats.semantic_types import kind_of_types
from irplatform.knowledge.model import Concept, Name
from irplatform.knowledge.names import kind_of_synonym
from irplatform.text_files import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SPACES = (
    (re.compile(r"C\d{7}"), "UMLS"),
    (re.compile(r"[CD]\d{6,9}"), "MESH"),
    (re.compile(r"\d+"), "RXNORM"),
)


def _read(path: Path) -> Iterator[Concept]:
    for line, content in numbered_lines(path):
        record = parse_json(content, path, line)
        place = f"line {line}"
        name = jsons.text(record, "canonical_name", path, place)
        types = jsons.texts(record.get("types"))
        yield Concept(
            _compact(jsons.text(record, "concept_id", path, place)),
            name,
            kind_of_types(types),
            tuple(
                Name(alias, kind_of_synonym(alias))
                for alias in map(str.strip, jsons.texts(record.get("aliases")))
                if alias and alias != name
            ),
        )


def _compact(concept_id: str) -> str:
    if ":" in concept_id:
        return concept_id
    space = next((name for form, name in _SPACES if form.fullmatch(concept_id)), "CONCEPT")
    return f"{space}:{concept_id}"


UMLS_JSONL = Format(
    "umls-jsonl",
    "umls",
    "scispaCy's JSON lines of concepts (umls_2022_ab_cat0129.jsonl)",
    lambda head: '"concept_id"' in head.line and '"canonical_name"' in head.line,
    _read,
)
