"""Genes as NCBI publishes them: gene_info, Homo_sapiens.gene_info. Only human genes are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted
from irplatform.knowledge.formats.ontology import cross_reference
from irplatform.knowledge.formats.reading import Format, parts, rows
from irplatform.knowledge.model import Concept, Name
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HUMAN = "9606"
_NOT_GENES = {"biological-region", "unknown"}
_NO_SYMBOL = "NEWENTRY"


def _read(path: Path) -> Iterator[Concept]:
    others = taken = 0
    needed = ("tax_id", "GeneID", "Symbol", "Synonyms", "dbXrefs", "description")
    for row in rows(path, needed, spelled=_without_mark):
        symbol = row.value("Symbol")
        if row["tax_id"] != _HUMAN or not symbol or symbol == _NO_SYMBOL:
            others += 1
            continue
        taken += 1
        full = [row.value("Full_name_from_nomenclature_authority"), row.value("description")]
        former = row.value("Symbol_from_nomenclature_authority")
        names = [
            *(Name(text, "synonym") for text in dict.fromkeys(full) if text),
            *(Name(text, "alias") for text in (former, *parts(row.value("Synonyms"), "|")) if text),
            *(Name(text, "related") for text in parts(row.value("Other_designations"), "|")),
        ]
        references = (each.partition(":") for each in parts(row.value("dbXrefs"), "|"))
        yield Concept(
            cross_reference("NCBIGENE", row.needed("GeneID")),
            symbol,
            "other" if row.value("type_of_gene") in _NOT_GENES else "gene",
            (Name(symbol, "preferred"), *(name for name in names if name.text != symbol)),
            tuple(
                cross_reference(space, rest)
                for space, _, rest in references
                if space != "AllianceGenome"  # HGNC's id once more
            ),
        )
    if not taken:
        raise InputError(f"there is no human gene (#tax_id {_HUMAN}) in it.", path=path)
    if others:
        notice(f"{path}: left out: {counted(others, 'line')} of other species or without a symbol.")


def _without_mark(title: str) -> str:
    """The name of a column; the first is `#tax_id` in NCBI's files."""
    return title.removeprefix("#")


GENE_INFO = Format(
    "gene-info",
    "",
    "NCBI's gene_info",
    lambda head: {"tax_id", "GeneID", "Symbol"} <= set(map(_without_mark, head.columns)),
    _read,
)
