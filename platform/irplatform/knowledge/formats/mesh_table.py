"""MeSH descriptors as a table without header: id, name, entry terms, tree numbers, taxon.

Entry terms and tree numbers are parted by `|`. The taxon is not read, and may be empty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.formats.mesh import Descriptors, entry_term
from irplatform.knowledge.formats.tables import lines_of_cells, parts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.model import Concept, Relation

_UI = re.compile(r"D\d{6,9}")


def _recognizes(head: Head) -> bool:
    return len(head.columns) == 5 and _UI.fullmatch(head.columns[0]) is not None


def _read(path: Path) -> Iterator[Concept | Relation]:
    descriptors = Descriptors()
    for number, (ui, name, terms, trees, _) in lines_of_cells(path, columns=5):
        if not _UI.fullmatch(ui) or not name:
            raise InputError(
                f"'{ui[:40]}' and '{name[:40]}' are not a descriptor's id (D008545) and name.",
                path=path,
                line=number,
            )
        yield descriptors.concept(
            ui, name, [entry_term(term) for term in parts(terms, "|")], parts(trees, "|")
        )
    yield from descriptors.relations()


MESH_TABLE = Format(
    "mesh-table",
    "mesh",
    "descriptors as id, name, entry terms, tree numbers, taxon, without a header",
    _recognizes,
    _read,
    revision=3,
)
