"""Drugs, genes, diseases and headings in tables and JSON that their makers do not publish so.

MeSH as a table, Gilda's mappings of MeSH, the Disease Ontology as a list; sources of DGIdb and
Hetionet; PharmacotherapyDB; the dictionary of drug-named-entity-recognition.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.knowledge.formats.mesh import Descriptors, entry_term
from irplatform.knowledge.formats.reading import (
    Format,
    lines_of_cells,
    load,
    objects_of,
    parts,
    rows,
    text_of,
    texts_of,
)
from irplatform.knowledge.formats.relations import drug_of, gene_of, interaction
from irplatform.knowledge.formats.terms import Term, records, synonym
from irplatform.knowledge.model import (
    Concept,
    ConceptKind,
    Name,
    Relation,
    compact,
    name_id,
    without_dosage,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_CATEGORIES = {"DM": "disease-modifying", "SYM": "symptomatic", "NOT": ""}


def _cancer_commons(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("primary_gene_name", "entrez_gene_id", "primary_drug_name")):
        drug = drug_of(
            row.needed("primary_drug_name"),
            row.value("drug_trade_name"),
            row.value("drug_development_name"),
        )
        gene = gene_of(row.needed("entrez_gene_id"), row.needed("primary_gene_name"))
        evidence = map(row.value, ("drug_class", "interaction_type", "cancer_type"))
        yield from interaction(drug, gene, *evidence, "CancerCommons")


def _clearity(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("gene_name", "entrez_gene_id", "drug_name", "reported_drug_response")):
        if not row.value("entrez_gene_id") or not row.value("drug_name"):
            continue  # biomarkers other than genes, classes of drugs
        drug = drug_of(row.value("drug_name"), *parts(row.value("drug_trade_name"), ","))
        gene = gene_of(row.value("entrez_gene_id"), row.needed("gene_name"))
        evidence = map(row.value, ("drug_class", "reported_drug_response"))
        yield from interaction(drug, gene, *evidence, "Clearity Foundation")


def _clearity_trials(path: Path) -> Iterator[Concept | Relation]:
    for row in rows(path, ("Entrez Gene Name", "Enterez Gene Id", "Drug name")):
        if not row.value("Enterez Gene Id") or not row.value("Entrez Gene Name"):
            continue
        others = [] if "," in row["Drug name"] else parts(row.value("Other drug name"), ",")
        gene = gene_of(row.value("Enterez Gene Id"), row.value("Entrez Gene Name"))
        evidence = [row.value("Interaction type"), row.value("Clinical Trial ID(s)")]
        for name in parts(row["Drug name"], ","):
            drug = drug_of(name, *others)
            yield from interaction(drug, gene, *evidence, "Clearity Foundation trials")


def _indications(path: Path) -> Iterator[Concept | Relation]:
    """Read PharmacotherapyDB (Himmelstein et al., eLife 2017) without rejected pairs (NOT)."""
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


def _disease_genes(path: Path) -> Iterator[Concept | Relation]:
    needed = ("doid_id", "doid_name", "entrez_gene_id", "gene_symbol", "sources")
    for row in rows(path, needed):
        disease = Concept(row.needed("doid_id"), row.needed("doid_name"), "disease")
        gene = gene_of(row.needed("entrez_gene_id"), row.needed("gene_symbol"))
        yield disease
        yield gene
        evidence = f"associates: {row['sources'].replace('|', ', ')}"
        yield Relation(gene.id, disease.id, "gene-disease", "", evidence)


def _drug_genes(path: Path) -> Iterator[Relation]:
    for row in rows(path, ("drugbank_id", "entrez_gene_id", "sources", "actions")):
        drug, gene = row.needed("drugbank_id"), row.needed("entrez_gene_id")
        action = row.value("actions").replace("|", ", ") or "binds"
        evidence = f"{action}: {row['sources'].replace('|', ', ')}"
        yield Relation(f"DRUGBANK:{drug}", compact(f"NCBIGENE:{gene}"), "drug-gene", "", evidence)


def _drug_names(path: Path) -> Iterator[Concept]:
    """Read the dictionary of drug-named-entity-recognition: variants to canonical names.

    Canonical names that share a DrugBank id are one drug. The `mesh_id` is often that of a class of
    drugs and is not read.
    """
    content = load(path, dict)
    variants, data = content.get("drug_variant_to_canonical"), content.get("drug_canonical_to_data")
    if not isinstance(variants, dict) or not isinstance(data, dict):
        raise InputError(
            "there is no object under 'drug_variant_to_canonical' or 'drug_canonical_to_data'.",
            path=path,
        )
    names: dict[str, list[Name]] = defaultdict(list)
    for variant, canonicals in variants.items():
        for canonical in texts_of(canonicals):
            names[canonical].append(Name(without_dosage(variant), "synonym"))
    for canonical, facts in data.items():
        if not isinstance(facts, dict):
            raise InputError(f"'{canonical}' has no object with its data.", path=path)
        name = without_dosage(canonical)
        drugbank, medline = facts.get("drugbank_id"), facts.get("medline_plus_id")
        yield Concept(
            f"DRUGBANK:{drugbank}" if drugbank else name_id("drug", name),
            name,
            "drug",
            tuple(names[canonical]),
            (f"MEDLINEPLUS:{medline}",) if medline else (),
        )


_UI = re.compile(r"D\d{6,9}")
_MAPPING_COLUMNS = 6
_MAPPED_KINDS: dict[str, ConceptKind] = {"CHEBI": "drug", "DOID": "disease", "HGNC": "gene"}


def _mesh(path: Path) -> Iterator[Concept | Relation]:
    """Read lines of id, name, entry terms, tree numbers (both separated by `|`), and taxon."""
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


def _mappings(path: Path) -> Iterator[Concept]:
    """Read MESH, id, name, name space, id, name (Gyori et al., Bioinformatics Advances 2022)."""
    lines = lines_of_cells(path, _MAPPING_COLUMNS)
    for number, (space, ui, name, other_space, other_id, _) in lines:
        if space != "MESH" or not ui or not name or not other_id:
            raise InputError(
                "this line is not: MESH, id, name, name space, id, name.", path=path, line=number
            )
        xref = other_id if other_id.startswith(f"{other_space}:") else f"{other_space}:{other_id}"
        kind = _MAPPED_KINDS.get(other_space, "other")
        yield Concept(f"MESH:{ui}", name, kind, (), (compact(xref),))


def _doid(path: Path) -> Iterator[Concept | Relation]:
    return records(_terms(path), path, {"": "disease"})


def _terms(path: Path) -> Iterator[Term]:
    for number, record in enumerate(load(path, list), start=1):
        place = f"term {number}"
        term = Term(text_of(record, "id", path, place), text_of(record, "name", path, place))
        relations = record.get("relations", {})
        synonyms, xrefs = record.get("synonyms", []), record.get("xrefs", [])
        if not isinstance(relations, dict) or not all(
            isinstance(v, list) for v in (synonyms, xrefs)
        ):
            raise InputError(
                f"{place} ({term.id}): 'relations' is not an object, or 'synonyms' or 'xrefs' "
                "not a list.",
                path=path,
            )
        term.names = [*filter(None, map(_synonym, synonyms))]
        term.former = texts_of(record.get("alt_ids"))
        term.parents = texts_of(relations.get("is_a"))
        term.replaced_by = texts_of(record.get("replaced_by"))
        for key in ("is_obsolete", "obsolete", "deprecated"):
            term.say("deprecated", str(record.get(key)))
        for xref in objects_of(xrefs):
            if {"namespace", "id"} <= xref.keys():
                term.map_to(f"{xref['namespace']}:{xref['id']}")
        yield term


def _synonym(value: Any) -> Name | None:
    """A synonym, which is a text, or an object with a name and a scope ("specificity")."""
    if isinstance(value, str):
        return synonym(value)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        scope = value.get("specificity") or value.get("scope") or "EXACT"
        return synonym(value["name"], str(scope), str(value.get("type") or ""))
    return None


TABLES = (
    Format(
        "dgidb-cancercommons",
        "dgidb",
        "DGIdb's source CancerCommons",
        lambda head: head.has_columns("primary_gene_name", "primary_drug_name", "cancer_type"),
        _cancer_commons,
    ),
    Format(
        "dgidb-clearity",
        "dgidb",
        "DGIdb's source Clearity Foundation, biomarkers",
        lambda head: head.has_columns("gene_name", "drug_name", "reported_drug_response"),
        _clearity,
    ),
    Format(
        "dgidb-clearity-trials",
        "dgidb",
        "DGIdb's source Clearity Foundation, clinical trials",
        lambda head: head.has_columns("Entrez Gene Name", "Drug name", "Clinical Trial ID(s)"),
        _clearity_trials,
    ),
    Format(
        "indications",
        "pharmacotherapydb",
        "PharmacotherapyDB's catalog of indications",
        lambda head: head.has_columns("doid_id", "drugbank_id", "category"),
        _indications,
    ),
    Format(
        "hetionet-disease-gene",
        "hetionet",
        "Hetionet's DaG-association.tsv",
        lambda head: head.has_columns("doid_id", "entrez_gene_id", "gene_symbol"),
        _disease_genes,
    ),
    Format(
        "hetionet-drug-gene",
        "hetionet",
        "Hetionet's CbG-binding.tsv",
        lambda head: head.has_columns("drugbank_id", "entrez_gene_id", "actions"),
        _drug_genes,
    ),
    Format(
        "drug-names",
        "drugs",
        "drug_ner_dictionary.json, canonical names and variants",
        lambda head: head.text.startswith("{") and "drug_variant_to_canonical" in head.text,
        _drug_names,
        revision=2,
    ),
    Format(
        "mesh-table",
        "mesh",
        "descriptors as id, name, entry terms, tree numbers, taxon, without a header",
        lambda head: len(head.columns) == 5 and _UI.fullmatch(head.columns[0]) is not None,
        _mesh,
        revision=3,
    ),
    Format(
        "doid-json",
        "doid",
        "terms of doid as a JSON list",
        lambda head: head.text.startswith("[") and '"DOID:' in head.text,
        _doid,
        revision=2,
    ),
    Format(
        "mesh-mappings",
        "mesh-xrefs",
        "Gilda's MeSH mappings",
        lambda head: len(head.columns) == _MAPPING_COLUMNS and head.columns[0] == "MESH",
        _mappings,
    ),
)
