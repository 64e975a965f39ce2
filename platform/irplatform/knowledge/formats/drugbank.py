"""Drugs by DrugBank's open vocabulary: `drugbank vocabulary.csv`, or a table with tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.knowledge.formats.reading import Format, Head, head_of, parts, rows
from irplatform.knowledge.model import Concept, Name, kind_of_synonym

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _read(path: Path) -> Iterator[Concept]:
    csv = "\t" not in head_of(path).line
    for row in rows(path, ("DrugBank ID", "Common name", "Synonyms"), csv=csv):
        name = row.needed("Common name")
        former = parts(row.value("Accession Numbers"), "|")
        yield Concept(
            f"DRUGBANK:{row.needed('DrugBank ID')}",
            name,
            "drug",
            tuple(Name(text, kind_of_synonym(text)) for text in parts(row["Synonyms"], "|")),
            (
                *(f"DRUGBANK:{number}" for number in former),
                *(f"{space}:{row.value(space)}" for space in ("CAS", "UNII") if row.value(space)),
            ),
        )


def _recognizes(head: Head) -> bool:
    titles = head.line.replace('"', "").replace(",", "\t").split("\t")
    return {"DrugBank ID", "Common name"} <= {title.strip() for title in titles}


DRUGBANK = Format(
    "drugbank", "", "DrugBank's open vocabulary (drugbank vocabulary.csv)", _recognizes, _read
)
