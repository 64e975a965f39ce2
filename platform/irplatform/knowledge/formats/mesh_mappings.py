"""MeSH's cross-references to other name spaces: the mappings of Gilda.

Gyori, Hoyt, Steppi, Bioinformatics Advances 2022. A line is: MESH, id, name, name space, id, name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.formats.tables import lines_of_cells
from irplatform.knowledge.ids import compact
from irplatform.knowledge.model import Concept, ConceptKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COLUMNS = 6
_KINDS: dict[str, ConceptKind] = {"CHEBI": "drug", "DOID": "disease", "HGNC": "gene"}


def _recognizes(head: Head) -> bool:
    return len(head.columns) == _COLUMNS and head.columns[0] == "MESH"


def _read(path: Path) -> Iterator[Concept]:
    for number, (space, ui, name, other_space, other_id, _) in lines_of_cells(path, _COLUMNS):
        if space != "MESH" or not ui or not name or not other_id:
            raise InputError(
                "this line is not: MESH, id, name, name space, id, name.", path=path, line=number
            )
        xref = other_id if other_id.startswith(f"{other_space}:") else f"{other_space}:{other_id}"
        yield Concept(f"MESH:{ui}", name, _KINDS.get(other_space, "other"), (), (compact(xref),))


MESH_MAPPINGS = Format("mesh-mappings", "mesh-xrefs", "Gilda's MeSH mappings", _recognizes, _read)
