"""What knowledge bases consist of: concepts with names, and relations between concepts.

Ids are compact identifiers with the prefix in capitals: MESH:D008545, DOID:1909, HGNC:1097,
NCBIGENE:673, DRUGBANK:DB08881. Where a source gives no id but only a name, the name is the id, in
a name space of its own: DRUG:vemurafenib, GENE:BRAF.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

NameKind = Literal[
    "preferred", "synonym", "abbreviation", "alias", "previous", "narrow", "broad", "related"
]
"""From the one that says it best to those that say something near."""

NAME_RANK: dict[NameKind, int] = {kind: rank for rank, kind in enumerate(get_args(NameKind))}

ConceptKind = Literal["disease", "gene", "drug", "variant", "other"]


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a concept.

    Attributes:
        text: as its source writes it.
        kind: "preferred" and "synonym" name the concept exactly, "alias" and "previous" are a
            gene's other and former symbols, "abbreviation" is short and so often ambiguous,
            "narrow", "broad" and "related" name something near.
    """

    text: str
    kind: NameKind


@dataclass(frozen=True, slots=True)
class Concept:
    """A disease, gene, drug, variant, or something else that has names.

    Attributes:
        id: a compact identifier, e.g. MESH:D008545.
        name: the preferred name; a gene's is its symbol.
        kind: what it is.
        names: all names, the preferred one first, no text twice.
        xrefs: ids of the same thing in other sources.
        kb: the knowledge base that it comes from; the first one where several know the id.
    """

    id: str
    name: str
    kind: ConceptKind
    names: tuple[Name, ...] = ()
    xrefs: tuple[str, ...] = ()
    kb: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """That two concepts have to do with each other.

    Attributes:
        source_id: the narrower one of an is-a; else drug before gene before disease.
        target_id: the other one. Neither needs to be a concept of the knowledge base itself.
        kind: "is-a", "drug-gene", "drug-disease", "gene-disease", and more.
        kb: the knowledge base that says so.
        evidence: in its words: kind of interaction, level of evidence, articles ("PMID:23598171").
    """

    source_id: str
    target_id: str
    kind: str
    kb: str = ""
    evidence: str = ""
