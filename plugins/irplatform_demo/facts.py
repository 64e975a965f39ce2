"""The facts that the demo collection is made of: genes, diseases, drugs and what relates them.

They are tables in this package. Names, synonyms and relations follow HGNC, MeSH, the Disease
Ontology and CIViC; no sentence comes from anywhere but this package.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class Gene:
    """A gene: its symbol, other names for it, and its product's subject heading."""

    symbol: str
    synonyms: tuple[str, ...]
    heading: str


@dataclass(frozen=True)
class Disease:
    """A disease: its name, other names, an abbreviation, the disease it is a kind of ("" if none).

    `heading` is its subject heading, `site` the organ.
    """

    name: str
    synonyms: tuple[str, ...]
    abbreviation: str
    parent: str
    heading: str
    site: str


@dataclass(frozen=True)
class Drug:
    """A drug: its name, its trade or code name, and what kind of drug it is."""

    name: str
    trade: str
    drug_class: str


@dataclass(frozen=True)
class Relation:
    """Drugs that act on a disease with a variant of a gene.

    Attributes:
        gene: the gene.
        variant: the variant, as in a topic: "V600E", "amplification".
        kind: of variant; decides how it can be put into words.
        disease: the disease.
        drugs: the drugs, best known first.
        topics: "train" or "test" where this is a topic, else "".
    """

    gene: Gene
    variant: str
    kind: str
    disease: Disease
    drugs: tuple[Drug, ...]
    topics: str


@cache
def genes() -> Mapping[str, Gene]:
    """All genes by symbol."""
    rows = read_table("genes.tsv")
    return {r["symbol"]: Gene(r["symbol"], _several(r["synonyms"]), r["heading"]) for r in rows}


@cache
def diseases() -> Mapping[str, Disease]:
    """All diseases by name."""
    return {
        r["name"]: Disease(
            r["name"],
            _several(r["synonyms"]),
            r["abbreviation"],
            r["parent"],
            r["heading"],
            r["site"],
        )
        for r in read_table("diseases.tsv")
    }


@cache
def drugs() -> Mapping[str, Drug]:
    """All drugs by name."""
    rows = read_table("drugs.tsv")
    return {r["name"]: Drug(r["name"], r["trade"], r["class"]) for r in rows}


@cache
def relations() -> tuple[Relation, ...]:
    """All relations, in the order of the table."""
    return tuple(
        Relation(
            genes()[r["gene"]],
            r["variant"],
            r["kind"],
            diseases()[r["disease"]],
            tuple(drugs()[name] for name in _several(r["drugs"])),
            r["topics"],
        )
        for r in read_table("relations.tsv")
    )


def read_table(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of one of this package's tables."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)


def _several(cell: str) -> tuple[str, ...]:
    return tuple(cell.split("|")) if cell else ()
