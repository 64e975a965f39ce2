"""Drug–gene interactions of DGIdb: its interactions.tsv, and three of its sources' own tables.

Cannon et al., Nucleic Acids Research 2024. The sources are CancerCommons and the Clearity
Foundation's biomarkers and clinical trials.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.formats.tables import parts, rows
from irplatform.knowledge.ids import compact, name_id
from irplatform.knowledge.model import Concept, Name, Relation
from irplatform.knowledge.names import without_dosage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.formats.tables import Row

_DESCRIPTION = re.compile(r"\b(?:inhibitor|agonist|antagonist|antibody|agent)s?\b", re.IGNORECASE)
"""Says what a drug does: no name of it."""


def _cancer_commons(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("primary_gene_name", "entrez_gene_id", "primary_drug_name")):
        drug = _drug(
            row.needed("primary_drug_name"),
            row.value("drug_trade_name"),
            row.value("drug_development_name"),
        )
        gene = _gene(row.needed("entrez_gene_id"), row.needed("primary_gene_name"))
        evidence = [
            row.value("drug_class"),
            row.value("interaction_type"),
            row.value("cancer_type"),
        ]
        yield from _interaction(drug, gene, *evidence, "CancerCommons")


def _clearity(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("gene_name", "entrez_gene_id", "drug_name", "reported_drug_response")):
        if not row.value("entrez_gene_id") or not row.value("drug_name"):
            continue  # biomarkers that are no gene, classes of drugs
        drug = _drug(row.value("drug_name"), *parts(row.value("drug_trade_name"), ","))
        gene = _gene(row.value("entrez_gene_id"), row.needed("gene_name"))
        evidence = [row.value("drug_class"), row.value("reported_drug_response")]
        yield from _interaction(drug, gene, *evidence, "Clearity Foundation")


def _clearity_trials(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("Entrez Gene Name", "Enterez Gene Id", "Drug name")):
        if not row.value("Enterez Gene Id") or not row.value("Entrez Gene Name"):
            continue
        others = [] if "," in row["Drug name"] else parts(row.value("Other drug name"), ",")
        gene = _gene(row.value("Enterez Gene Id"), row.value("Entrez Gene Name"))
        evidence = [row.value("Interaction type"), row.value("Clinical Trial ID(s)")]
        for name in parts(row["Drug name"], ","):
            drug = _drug(name, *others)
            yield from _interaction(drug, gene, *evidence, "Clearity Foundation trials")


def _interactions(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("gene_name", "drug_name", "drug_concept_id")):
        gene = _dgidb_gene(row)
        name = row.value("drug_name", "drug_claim_primary_name", "drug_claim_name")
        if gene is None or not name:
            continue  # claims that DGIdb could not normalize
        drug = _drug(name, row.value("drug_claim_name"), drug_id=row.value("drug_concept_id"))
        evidence = [
            row.value("interaction_types", "interaction_type").replace("|", ", "),
            row.value("interaction_source_db_name", "interaction_claim_source"),
            ", ".join(f"PMID:{article}" for article in parts(row.value("PMIDs"), ",")),
        ]
        yield from _interaction(drug, gene, *evidence)


def _dgidb_gene(row: Row) -> Concept | None:
    symbol = row.value("gene_name").upper()
    if not symbol:
        return None
    if entrez := row.value("entrez_id"):
        return _gene(entrez, symbol)
    gene_id = row.value("gene_concept_id")
    return Concept(compact(gene_id) if gene_id else name_id("gene", symbol), symbol, "gene")


def _gene(entrez: str, symbol: str) -> Concept:
    return Concept(compact(f"NCBIGENE:{entrez}"), symbol, "gene")


def _drug(name: str, *others: str, drug_id: str = "") -> Concept:
    name = without_dosage(name)
    names = [
        Name(other, "synonym")
        for other in map(without_dosage, others)
        if other and not _DESCRIPTION.search(other)
    ]
    return Concept(
        compact(drug_id) if drug_id else name_id("drug", name), name, "drug", tuple(names)
    )


def _interaction(drug: Concept, gene: Concept, *evidence: str) -> Iterator[Concept | Relation]:
    yield drug
    yield gene
    yield Relation(drug.id, gene.id, "drug-gene", "", ", ".join(filter(None, evidence)))


def _is_dgidb(head: Head) -> bool:
    return head.has_columns("gene_name", "drug_name", "drug_concept_id")


DGIDB = Format("dgidb-interactions", "dgidb", "DGIdb's interactions.tsv", _is_dgidb, _interactions)
CANCER_COMMONS = Format(
    "dgidb-cancercommons",
    "dgidb",
    "DGIdb's source CancerCommons",
    lambda head: head.has_columns("primary_gene_name", "primary_drug_name", "cancer_type"),
    _cancer_commons,
)
CLEARITY = Format(
    "dgidb-clearity",
    "dgidb",
    "DGIdb's source Clearity Foundation, biomarkers",
    lambda head: head.has_columns("gene_name", "drug_name", "reported_drug_response"),
    _clearity,
)
CLEARITY_TRIALS = Format(
    "dgidb-clearity-trials",
    "dgidb",
    "DGIdb's source Clearity Foundation, clinical trials",
    lambda head: head.has_columns("Entrez Gene Name", "Drug name", "Clinical Trial ID(s)"),
    _clearity_trials,
)
