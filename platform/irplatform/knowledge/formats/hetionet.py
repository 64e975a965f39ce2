"""Hetionet v1.0: its nodes and its edges.

Himmelstein et al., eLife 2017. An edge's abbreviation has the kinds of its ends in capitals and
the verb between them: DaG, a disease associates with a gene.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.knowledge.formats.reading import Format, rows
from irplatform.knowledge.model import Concept, ConceptKind, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.formats.reading import Row

_SPACES = {
    "Gene": "NCBIGENE:",
    "Compound": "DRUGBANK:",
    "Disease": "",  # DOID:…
    "Side Effect": "UMLS:",
    "Symptom": "MESH:",
    "Pharmacologic Class": "NDFRT:",
    "Anatomy": "",  # UBERON:…
    "Biological Process": "",  # GO:…
    "Cellular Component": "",
    "Molecular Function": "",
    "Pathway": "PATHWAY:",
}
_KINDS: dict[str, ConceptKind] = {
    "Gene": "gene",
    "Compound": "drug",
    "Disease": "disease",
    "Symptom": "disease",
}
_WORDS = {"Compound": "drug", "Gene": "gene", "Disease": "disease"}
_ORDER = ("Compound", "Gene", "Disease")
_VERBS = {
    "AdG": "downregulates", "AeG": "expresses", "AuG": "upregulates", "CbG": "binds",
    "CcSE": "causes", "CdG": "downregulates", "CpD": "palliates", "CrC": "resembles",
    "CtD": "treats", "CuG": "upregulates", "DaG": "associates", "DdG": "downregulates",
    "DlA": "localizes", "DpS": "presents", "DrD": "resembles", "DuG": "upregulates",
    "GcG": "covaries", "GiG": "interacts", "GpBP": "participates", "GpCC": "participates",
    "GpMF": "participates", "GpPW": "participates", "Gr>G": "regulates", "PCiC": "includes",
}  # fmt: skip


def _nodes(path: Path) -> Iterator[Concept]:
    for row in rows(path, ("id", "name", "kind")):
        kind, concept_id = _node(row, "id")
        yield Concept(concept_id, row.needed("name"), _KINDS.get(kind, "other"))


def _edges(path: Path) -> Iterator[Relation]:
    for row in rows(path, ("source", "metaedge", "target")):
        verb = _VERBS.get(row["metaedge"])
        if verb is None:
            raise row.error(f"'{row['metaedge']}' is not a kind of edge of Hetionet (DaG, CbG, …).")
        (kind, source), (other_kind, target) = _node(row, "source"), _node(row, "target")
        if verb == "includes":  # a class of drugs its drugs
            yield Relation(target, source, "is-a")
            continue
        if _rank(other_kind) < _rank(kind):
            kind, source, other_kind, target = other_kind, target, kind, source
        relation_kind = f"{_word(kind)}-{_word(other_kind)}"
        # Such an edge changes how much there is of the gene.
        if relation_kind == "drug-gene" and verb != "binds":
            relation_kind = "drug-gene-expression"
        yield Relation(source, target, relation_kind, "", verb)


def _node(row: Row, column: str) -> tuple[str, str]:
    kind, colons, rest = row.needed(column).partition("::")
    if not colons or kind not in _SPACES or not rest:
        raise row.error(
            f"'{row[column][:60]}' is not a node of Hetionet (Gene::673, Disease::DOID:1909, …)."
        )
    return kind, f"{_SPACES[kind]}{rest}"


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def _word(kind: str) -> str:
    return _WORDS.get(kind, kind.lower().replace(" ", "-"))


HETIONET_NODES = Format(
    "hetionet-nodes",
    "hetionet",
    "Hetionet's nodes",
    lambda head: head.columns == ["id", "name", "kind"] and "::" in head.text,
    _nodes,
)
HETIONET_EDGES = Format(
    "hetionet-edges",
    "hetionet",
    "Hetionet's edges (sif)",
    lambda head: head.has_columns("source", "metaedge", "target"),
    _edges,
    revision=2,
)
