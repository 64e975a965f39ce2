"""PharmacotherapyDB: which drugs modify, or ease the symptoms of, which diseases.

Himmelstein et al., eLife 2017. Pairs that its curators rejected (category NOT) are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.knowledge.formats.format import Format
from irplatform.knowledge.formats.tables import rows
from irplatform.knowledge.model import Concept, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CATEGORIES = {"DM": "disease-modifying", "SYM": "symptomatic", "NOT": ""}


def _read(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("doid_id", "drugbank_id", "disease", "drug", "category")):
        category = row.needed("category")
        if category not in _CATEGORIES:
            raise row.error(f"the category '{category}' is not DM, SYM or NOT.")
        disease = Concept(row.needed("doid_id"), row.needed("disease"), "disease")
        drug = Concept(f"DRUGBANK:{row.needed('drugbank_id')}", row.needed("drug"), "drug")
        yield disease
        yield drug
        if evidence := _CATEGORIES[category]:
            yield Relation(drug.id, disease.id, "drug-disease", "", evidence)


INDICATIONS = Format(
    "indications",
    "pharmacotherapydb",
    "PharmacotherapyDB's catalog of indications",
    lambda head: head.has_columns("doid_id", "drugbank_id", "category"),
    _read,
)
