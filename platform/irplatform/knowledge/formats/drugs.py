"""Interactions of drugs and genes: DGIdb (Cannon et al., Nucleic Acids Research 2024)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.knowledge.formats.reading import Format, Head, parts, rows
from irplatform.knowledge.model import Concept, Name, Relation, compact, name_id, without_dosage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.formats.reading import Row

_DESCRIPTION = re.compile(r"\b(?:inhibitor|agonist|antagonist|antibody|agent)s?\b", re.IGNORECASE)
"""Says what a drug does: no name of it."""


def _interactions(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("gene_name", "drug_name", "drug_concept_id")):
        gene = _gene(row)
        name = row.value("drug_name", "drug_claim_primary_name", "drug_claim_name")
        if gene is None or not name:
            continue  # claims that DGIdb could not normalize
        drug = drug_of(name, row.value("drug_claim_name"), drug_id=row.value("drug_concept_id"))
        evidence = [
            row.value("interaction_types", "interaction_type").replace("|", ", "),
            row.value("interaction_source_db_name", "interaction_claim_source"),
            ", ".join(f"PMID:{article}" for article in parts(row.value("PMIDs"), ",")),
        ]
        yield from interaction(drug, gene, *evidence)


def _gene(row: Row) -> Concept | None:
    symbol = row.value("gene_name").upper()
    if not symbol:
        return None
    if entrez := row.value("entrez_id"):
        return gene_of(entrez, symbol)
    gene_id = row.value("gene_concept_id")
    return Concept(compact(gene_id) if gene_id else name_id("gene", symbol), symbol, "gene")


def gene_of(entrez: str, symbol: str) -> Concept:
    """Return a gene by its NCBI id."""
    return Concept(compact(f"NCBIGENE:{entrez}"), symbol, "gene")


def drug_of(name: str, *others: str, drug_id: str = "") -> Concept:
    """Return a drug; its name is its id where the source gives no other."""
    name = without_dosage(name)
    names = [
        Name(other, "synonym")
        for other in map(without_dosage, others)
        if other and not _DESCRIPTION.search(other)
    ]
    return Concept(
        compact(drug_id) if drug_id else name_id("drug", name), name, "drug", tuple(names)
    )


def interaction(drug: Concept, gene: Concept, *evidence: str) -> Iterator[Concept | Relation]:
    """Yield a drug, a gene and the relation between them."""
    yield drug
    yield gene
    yield Relation(drug.id, gene.id, "drug-gene", "", ", ".join(filter(None, evidence)))


def _is_dgidb(head: Head) -> bool:
    return head.has_columns("gene_name", "drug_name", "drug_concept_id")


DGIDB = Format("dgidb-interactions", "dgidb", "DGIdb's interactions.tsv", _is_dgidb, _interactions)
