"""How an article names its disease, gene and variant: plainly, abbreviated, or by other names.

A search by words finds the plain ones only. Which way an article chooses depends on what kind it
is: articles about treatment often use other names, those that are no answer use the topic's words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from irplatform_demo.facts import Disease, Relation

Style = Literal["plain", "short", "other"]

_MISSENSE = re.compile(r"([A-Z])(\d+)([A-Z])")
_RESIDUES: Mapping[str, str] = {
    "A": "Ala", "C": "Cys", "D": "Asp", "E": "Glu", "F": "Phe", "G": "Gly", "H": "His",
    "I": "Ile", "K": "Lys", "L": "Leu", "M": "Met", "N": "Asn", "P": "Pro", "Q": "Gln",
    "R": "Arg", "S": "Ser", "T": "Thr", "V": "Val", "W": "Trp", "Y": "Tyr",
}  # fmt: skip
_OTHER_FORMS: Mapping[str, tuple[str, ...]] = {
    "missense": ("{gene} p.{long}", "{gene} codon {position} substitution", "{gene} {variant}"),
    "exon": ("{variant} of {gene}", "{gene} {variant}"),
    "amplification": ("{gene} gene gain", "increased {gene} copy number", "amplified {gene}"),
    "loss": ("{gene} deficiency", "inactivated {gene}", "absence of {gene} protein"),
    "mutation": ("pathogenic {gene} variant", "mutant {gene}", "{gene} alteration"),
    "fusion": ("{gene} rearrangement", "translocation of {gene}", "rearranged {gene}"),
}


@dataclass
class Names:
    """The names that one article uses.

    Attributes:
        gene: for the gene.
        finding: for the gene with its variant.
        disease: for the disease, from the second mention on.
        first_disease: for the disease where it comes first in the abstract.
    """

    gene: str
    finding: str
    disease: str
    first_disease: str


def choose_names(relation: Relation, styles: tuple[Style, Style], rng: Random) -> Names:
    """Choose names."""
    disease_style, gene_style = styles
    gene = relation.gene
    symbol = rng.choice(gene.synonyms) if gene_style == "other" else gene.symbol
    disease, first = disease_names(relation.disease, disease_style, rng)
    return Names(symbol, _finding(relation, symbol, gene_style, rng), disease, first)


def disease_names(disease: Disease, style: Style, rng: Random) -> tuple[str, str]:
    """Names of a disease: from the second mention on, and the first."""
    name = rng.choice(disease.synonyms) if style == "other" else disease.name
    if style == "plain":
        return name, name
    return disease.abbreviation, f"{name} ({disease.abbreviation})"


def plain_finding(relation: Relation) -> str:
    """Gene and variant in a topic's words: "BRAF V600E", "ERBB2 amplification"."""
    return f"{relation.gene.symbol} {relation.variant}"


def _finding(relation: Relation, symbol: str, style: Style, rng: Random) -> str:
    if style != "other":
        return plain_finding(relation)
    form = rng.choice(_OTHER_FORMS[relation.kind])
    values = {"gene": symbol, "variant": relation.variant, "long": "", "position": ""}
    if change := _MISSENSE.fullmatch(relation.variant):
        before, position, after = change.groups()
        values["long"] = f"{_RESIDUES[before]}{position}{_RESIDUES[after]}"
        values["position"] = position
    return form.format_map(values)
