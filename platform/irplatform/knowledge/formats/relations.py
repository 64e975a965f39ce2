"""Drugs, genes, variants and diseases and their relations: DGIdb, DrugBank, CIViC, Hetionet.

DGIdb: Cannon et al., Nucleic Acids Research 2024. A line of CIViC (Griffith et al., Nature Genetics
2017) relates a variant, gene, disease and drugs; profiles of several genes give a gene only for a
fusion. An edge of Hetionet 1.0 (Himmelstein et al., eLife 2017) is called by the kinds of its ends
and the verb between them: DaG, a disease associates with a gene.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from irplatform.knowledge.formats.reading import Format, head_of, parts, rows
from irplatform.knowledge.model import (
    Concept,
    ConceptKind,
    Name,
    Relation,
    compact,
    kind_of_synonym,
    name_id,
    without_dosage,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.formats.reading import Row

_DESCRIPTION = re.compile(r"\b(?:inhibitor|agonist|antagonist|antibody|agent)s?\b", re.IGNORECASE)
"""Words for the effect of a drug, which are not its name."""


def gene_of(entrez: str, symbol: str) -> Concept:
    """A gene by its NCBI id."""
    return Concept(compact(f"NCBIGENE:{entrez}"), symbol, "gene")


def drug_of(name: str, *others: str, drug_id: str = "") -> Concept:
    """A drug; its name is its id where the source gives no other."""
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


def _read_dgidb(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("gene_name", "drug_name", "drug_concept_id")):
        with row.unread:
            symbol = row.value("gene_name").upper()
            name = row.value("drug_name", "drug_claim_primary_name", "drug_claim_name")
            if not symbol or not name:
                continue  # claims that DGIdb could not normalize
            entrez = row.value("entrez_id")
            gene_id = f"NCBIGENE:{entrez}" if entrez else row.value("gene_concept_id")
            gene = Concept(compact(gene_id) if gene_id else name_id("gene", symbol), symbol, "gene")
            drug = drug_of(name, row.value("drug_claim_name"), drug_id=row.value("drug_concept_id"))
            evidence = [
                row.value("interaction_types", "interaction_type").replace("|", ", "),
                row.value("interaction_source_db_name", "interaction_claim_source"),
                ", ".join(f"PMID:{article}" for article in parts(row.value("PMIDs"), ",")),
            ]
            yield from interaction(drug, gene, *evidence)


DGIDB = Format(
    "dgidb-interactions",
    "dgidb",
    "DGIdb's interactions.tsv",
    lambda head: head.has_columns("gene_name", "drug_name", "drug_concept_id"),
    _read_dgidb,
)


def _read_drugbank(path: Path) -> Iterator[Concept]:
    csv = "\t" not in head_of(path).line
    for row in rows(path, ("DrugBank ID", "Common name", "Synonyms"), csv=csv):
        with row.unread:
            former = parts(row.value("Accession Numbers"), "|")
            others = [(space, row.value(space)) for space in ("CAS", "UNII")]
            yield Concept(
                f"DRUGBANK:{row.needed('DrugBank ID')}",
                row.needed("Common name"),
                "drug",
                tuple(Name(text, kind_of_synonym(text)) for text in parts(row["Synonyms"], "|")),
                (
                    *(f"DRUGBANK:{number}" for number in former),
                    *(f"{space}:{number}" for space, number in others if number),
                ),
            )


DRUGBANK = Format(
    "drugbank",
    "",
    "DrugBank's open vocabulary (drugbank vocabulary.csv)",
    lambda head: (
        {"DrugBank ID", "Common name"} <= set(re.split(r'[\s"]*[\t,][\s"]*', head.line.strip('" ')))
    ),
    _read_drugbank,
)


_PROFILE = re.compile(
    r"(?!NOT )(?P<genes>[A-Z0-9][A-Za-z0-9-]*|[^ :]+::[^ :]+) (?!.*(?:\bAND|\bOR|\bNOT|::)).+"
)
"""BRAF V600E, and BCR::ABL1 Fusion; not EGFR T790M AND EGFR L858R, nor NOT EGFR Amplification."""
_ANY_PARTNER = {"v", "?"}
"""Stand for any gene on one side of a fusion."""
_SYNONYM_IN_BRACKETS = re.compile(r"(?P<name>.+?)\s*\((?P<other>[^()]+)\)")
_SOURCE_FIRST: tuple[ConceptKind, ...] = ("drug", "gene", "variant", "disease")
"""The end of a relation that stands further left is its source."""


def _read_civic(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("evidence_type", "evidence_level")):
        with row.unread:
            if row.value("evidence_status").lower() == "rejected":
                continue
            concepts = [*_genes_and_variant(row), *_disease(row), *_drugs(row)]
            yield from concepts
            evidence = _evidence(row)
            ends = sorted(concepts, key=lambda concept: _SOURCE_FIRST.index(concept.kind))
            for source, target in itertools.combinations(ends, 2):
                if source.kind != target.kind:
                    kind = f"{source.kind}-{target.kind}"
                    yield Relation(source.id, target.id, kind, "", evidence)


def _genes_and_variant(row: Row) -> Iterator[Concept]:
    symbol, variant = row.value("genesymbol", "gene"), row.value("variant_name", "variant")
    profile = row.value("molecular_profile")
    symbols = [symbol] if symbol else []
    if not symbol and (match := _PROFILE.fullmatch(profile)):
        symbols = [gene for gene in match["genes"].split("::") if gene not in _ANY_PARTNER]
    entrez = row.value("entrezgene", "entrez_id")
    for gene in symbols:
        yield gene_of(entrez, gene) if entrez else Concept(name_id("gene", gene), gene, "gene")
    name = profile or (f"{symbol} {variant}" if symbol and variant else "")
    if name:
        number = row.value("molecular_profile_id")
        variant_number = row.value("variant_id") or row.value("api_url").rpartition("/")[2]
        space = "CIVIC.MPID" if number else "CIVIC.VID"
        if number or variant_number:
            yield Concept(compact(f"{space}:{number or variant_number}"), name, "variant")


def _disease(row: Row) -> Iterator[Concept]:
    name = row.value("disease_name", "disease")
    if not name:
        return
    doid = row.value("disease_ontology_id", "doid").removeprefix("DOID:")
    yield Concept(compact(f"DOID:{doid}") if doid else name_id("disease", name), name, "disease")


def _drugs(row: Row) -> Iterator[Concept]:
    for drug in parts(row.value("drug_names", "drugs", "therapies"), ","):
        match = _SYNONYM_IN_BRACKETS.fullmatch(drug)  # Palbociclib (PD0332991)
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


CIVIC_2016 = Format(
    "civic-2016",
    "civic",
    "CIViC's biomarkers of 2016",
    lambda head: head.has_columns("genesymbol", "variant_name", "disease_ontology_id"),
    _read_civic,
)
CIVIC = Format(
    "civic-evidence",
    "civic",
    "CIViC's nightly ClinicalEvidenceSummaries.tsv",
    lambda head: head.has_columns("disease", "doid", "evidence_type", "evidence_level"),
    _read_civic,
)


_SPACES = {
    "Gene": "NCBIGENE:", "Compound": "DRUGBANK:", "Side Effect": "UMLS:", "Symptom": "MESH:",
    "Pharmacologic Class": "NDFRT:", "Pathway": "PATHWAY:", "Disease": "", "Anatomy": "",
    "Biological Process": "", "Cellular Component": "", "Molecular Function": "",
}  # fmt: skip
"""Prefixes of ids; "" where the file has them."""
_KINDS: dict[str, ConceptKind] = {
    "Gene": "gene", "Compound": "drug", "Disease": "disease", "Symptom": "disease",
}  # fmt: skip
_WORDS = {"Compound": "drug", "Gene": "gene", "Disease": "disease"}
"""Kinds in the names of relations; the end that stands further left is the source."""
_VERBS = {
    "AdG": "downregulates", "AeG": "expresses", "AuG": "upregulates", "CbG": "binds",
    "CcSE": "causes", "CdG": "downregulates", "CpD": "palliates", "CrC": "resembles",
    "CtD": "treats", "CuG": "upregulates", "DaG": "associates", "DdG": "downregulates",
    "DlA": "localizes", "DpS": "presents", "DrD": "resembles", "DuG": "upregulates",
    "GcG": "covaries", "GiG": "interacts", "GpBP": "participates", "GpCC": "participates",
    "GpMF": "participates", "GpPW": "participates", "Gr>G": "regulates", "PCiC": "includes",
}  # fmt: skip


def _read_hetionet_nodes(path: Path) -> Iterator[Concept]:
    for row in rows(path, ("id", "name", "kind")):
        with row.unread:
            kind, concept_id = _hetionet_node(row, "id")
            yield Concept(concept_id, row.needed("name"), _KINDS.get(kind, "other"))


def _read_hetionet_edges(path: Path) -> Iterator[Relation]:
    for row in rows(path, ("source", "metaedge", "target")):
        with row.unread:
            verb = _VERBS.get(row["metaedge"])
            if verb is None:
                raise row.error(
                    f"'{row['metaedge']}' is not a kind of edge of Hetionet (DaG, CbG, …)."
                )
            ends = [_hetionet_node(row, "source"), _hetionet_node(row, "target")]
            if verb == "includes":  # a class of drugs its drugs
                yield Relation(ends[1][1], ends[0][1], "is-a")
                continue
            ends.sort(key=lambda end: [*_WORDS, end[0]].index(end[0]))
            words = [_WORDS.get(kind, kind.lower().replace(" ", "-")) for kind, _ in ends]
            relation_kind = "-".join(words)
            # Such an edge changes how much there is of the gene.
            if relation_kind == "drug-gene" and verb != "binds":
                relation_kind = "drug-gene-expression"
            yield Relation(ends[0][1], ends[1][1], relation_kind, "", verb)


def _hetionet_node(row: Row, column: str) -> tuple[str, str]:
    kind, colons, rest = row.needed(column).partition("::")
    if not colons or kind not in _SPACES or not rest:
        raise row.error(
            f"'{row[column][:60]}' is not a node of Hetionet (Gene::673, Disease::DOID:1909, …)."
        )
    return kind, f"{_SPACES[kind]}{rest}"


HETIONET_NODES = Format(
    "hetionet-nodes",
    "hetionet",
    "Hetionet's nodes",
    lambda head: head.columns == ["id", "name", "kind"] and "::" in head.text,
    _read_hetionet_nodes,
)
HETIONET_EDGES = Format(
    "hetionet-edges",
    "hetionet",
    "Hetionet's edges (sif)",
    lambda head: head.has_columns("source", "metaedge", "target"),
    _read_hetionet_edges,
    revision=2,
)
