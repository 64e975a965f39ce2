"""CIViC's evidence on variants: the table of 2016, and the nightly ClinicalEvidenceSummaries.tsv.

Griffith et al., Nature Genetics 2017. Every line says what a variant of a gene means in a disease,
often for a drug; it gives relations between each two of them, with type and level of evidence and
the article. Genes, variants and drugs are named as CIViC names them: a molecular profile of several
genes gives no gene, but for a fusion, and neither does one that says what is not there (NOT).
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from irplatform.knowledge.formats.reading import Format, parts, rows
from irplatform.knowledge.model import Concept, ConceptKind, Name, Relation, compact, name_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.formats.reading import Row

_PROFILE = re.compile(
    r"(?!NOT )(?P<genes>[A-Z0-9][A-Za-z0-9-]*|[^ :]+::[^ :]+) (?!.*(?:\bAND|\bOR|\bNOT|::)).+"
)
"""BRAF V600E, and BCR::ABL1 Fusion; not EGFR T790M AND EGFR L858R, nor NOT EGFR Amplification."""
_PARTNERS = {"v", "?"}
"""Stand for whichever gene a fusion has on one side."""
_SYNONYMS_IN_BRACKETS = re.compile(r"(?P<name>.+?)\s*\((?P<other>[^()]+)\)")
_ORDER: tuple[ConceptKind, ...] = ("drug", "gene", "variant", "disease")
"""Which end of a relation is its source."""


def _read(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("evidence_type", "evidence_level")):
        concepts = [*_genes_and_variant(row), *_disease(row), *_drugs(row)]
        yield from concepts
        evidence = _evidence(row)
        ends = sorted(concepts, key=lambda concept: _ORDER.index(concept.kind))
        for source, target in itertools.combinations(ends, 2):
            if source.kind != target.kind:
                kind = f"{source.kind}-{target.kind}"
                yield Relation(source.id, target.id, kind, "", evidence)


def _genes_and_variant(row: Row) -> Iterator[Concept]:
    symbol, variant = row.value("genesymbol", "gene"), row.value("variant_name", "variant")
    profile = row.value("molecular_profile")
    symbols = [symbol] if symbol else []
    if not symbol and (match := _PROFILE.fullmatch(profile)):
        symbols = [each for each in match["genes"].split("::") if each not in _PARTNERS]
    entrez = row.value("entrezgene", "entrez_id")
    for each in symbols:
        gene_id = compact(f"NCBIGENE:{entrez}") if entrez else name_id("gene", each)
        yield Concept(gene_id, each, "gene")
    name = profile or (f"{symbol} {variant}" if symbol and variant else "")
    if name:
        number = row.value("molecular_profile_id")
        variant_number = row.value("variant_id") or _last_part(row.value("api_url"))
        if number:
            yield Concept(compact(f"CIVIC.MPID:{number}"), name, "variant")
        elif variant_number:
            yield Concept(compact(f"CIVIC.VID:{variant_number}"), name, "variant")


def _disease(row: Row) -> Iterator[Concept]:
    name = row.value("disease_name", "disease")
    if not name:
        return
    doid = row.value("disease_ontology_id", "doid").removeprefix("DOID:")
    yield Concept(compact(f"DOID:{doid}") if doid else name_id("disease", name), name, "disease")


def _drugs(row: Row) -> Iterator[Concept]:
    for drug in parts(row.value("drug_names", "drugs", "therapies"), ","):
        match = _SYNONYMS_IN_BRACKETS.fullmatch(drug)  # Palbociclib (PD0332991)
        name = match["name"] if match else drug
        names = (Name(match["other"], "synonym"),) if match else ()
        yield Concept(name_id("drug", name), name, "drug", names)


def _evidence(row: Row) -> str:
    level = row.value("evidence_level")[:1]
    article = row.value("pubmed_id")
    if not article and row.value("source_type").lower() == "pubmed":
        article = row.value("citation_id")
    pieces = [
        f"level {level}" if level else "",
        row.value("evidence_type"),
        row.value("clinical_significance", "significance"),
        "" if row.value("evidence_direction") != "Does Not Support" else "not supported",
        compact(f"PMID:{article}") if article else "",
    ]
    return ", ".join(filter(None, pieces))


def _last_part(address: str) -> str:
    return address.rpartition("/")[2]


CIVIC_2016 = Format(
    "civic-2016",
    "civic",
    "CIViC's biomarkers of 2016",
    lambda head: head.has_columns("genesymbol", "variant_name", "disease_ontology_id"),
    _read,
)
CIVIC = Format(
    "civic-evidence",
    "civic",
    "CIViC's nightly ClinicalEvidenceSummaries.tsv",
    lambda head: head.has_columns("disease", "doid", "evidence_type", "evidence_level"),
    _read,
)
