"""The facts of the demo collection, and the words that its articles put them into.

Names, synonyms and relations follow HGNC, MeSH, the Disease Ontology and CIViC; the sentences come
from this package. Articles about treatment often use other names than the topics.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from random import Random

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
_CHOICE = re.compile(r"\[([^\]]*)\]")
_PLACE = re.compile(r"\{(\w+)\}")
_ONCE: Mapping[str, Callable[[Random], str]] = {
    "age": lambda rng: str(rng.randint(24, 83)),
    "dose": lambda rng: str(rng.choice((20, 40, 60, 80, 100, 150, 200, 250, 300, 400, 600))),
    "n": lambda rng: str(rng.randint(24, 640)),
}
"""Numbers that stay the same throughout an article."""
_NUMBERS: Mapping[str, Callable[[Random], str]] = {
    "hazard": lambda rng: f"0.{rng.randint(38, 89)}",
    "months": lambda rng: f"{rng.randint(4, 31)}.{rng.randint(1, 9)}",
    "months2": lambda rng: f"{rng.randint(4, 31)}.{rng.randint(1, 9)}",
    "n2": lambda rng: str(rng.randint(2, 21)),
    "percent": lambda rng: str(rng.randint(35, 96)),
    "percent2": lambda rng: str(rng.randint(2, 34)),
}


@dataclass(frozen=True)
class Gene:
    """A gene: its symbol, other names for it, and its product's subject heading."""

    symbol: str
    synonyms: tuple[str, ...]
    heading: str


@dataclass(frozen=True)
class Disease:
    """A disease; `parent` is the disease it is a kind of ("" if none), `site` the organ."""

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
    """Drugs that act on a disease with a variant of a gene."""

    gene: Gene
    variant: str  # as in a topic: "V600E", "amplification"
    kind: str  # of variant; decides how it can be put into words
    disease: Disease
    drugs: tuple[Drug, ...]  # best known first
    topics: str  # "train" or "test" where this is a topic, else ""


@cache
def genes() -> Mapping[str, Gene]:
    """All genes by symbol."""
    rows = read_table("genes.tsv")
    return {r["symbol"]: Gene(**{**r, "synonyms": _several(r["synonyms"])}) for r in rows}


@cache
def diseases() -> Mapping[str, Disease]:
    """All diseases by name."""
    rows = read_table("diseases.tsv")
    return {r["name"]: Disease(**{**r, "synonyms": _several(r["synonyms"])}) for r in rows}


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


def read_table(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one of this package's tables."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)


def _several(cell: str) -> tuple[str, ...]:
    return tuple(cell.split("|")) if cell else ()


@dataclass
class Names:
    """The names that one article uses."""

    gene: str  # for the gene
    finding: str  # for the gene with its variant
    disease: str  # for the disease, from the second mention on
    first_disease: str  # for the disease where it comes first in the abstract


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


@cache
def phrases() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Phrases by kind of article and part of the article."""
    by_place: dict[tuple[str, str], list[str]] = {}
    for row in read_table("phrases.tsv"):
        by_place.setdefault((row["kind"], row["part"]), []).append(row["text"])
    return {place: tuple(texts) for place, texts in by_place.items()}


def write_article(kind: str, relation: Relation, names: Names, rng: Random) -> tuple[str, str]:
    """Write title and abstract of an article, five to nine sentences."""
    values = _values(relation, rng)
    values.update(gene=names.gene, finding=names.finding)
    title = _fill(rng.choice(phrases()[kind, "title"]), {**values, "disease": names.disease}, rng)
    if names.disease != names.first_disease:
        full_name = names.first_disease.rpartition(" (")[0]
        title = title.replace(names.disease, full_name)
    texts = [
        *_sample("background", "any", rng.choice((0, 1, 1, 1, 2)), rng),
        *_sample(kind, "aim", rng.choice((1, 1, 2)), rng),
        *_sample(kind, "methods", rng.choice((1, 1, 2)), rng),
        *_sample(kind, "result", rng.choice((2, 2, 3)), rng),
        *_sample(kind, "conclusion", 1, rng),
    ]
    sentences: list[str] = []
    disease = names.first_disease
    for text in texts:
        sentences.append(_fill(text, {**values, "disease": disease}, rng))
        if "isease}" in text:
            disease = names.disease
    return title, " ".join(sentences)


def _sample(kind: str, part: str, number: int, rng: Random) -> Sequence[str]:
    return rng.sample(phrases()[kind, part], number)


def _values(relation: Relation, rng: Random) -> dict[str, str]:
    drug = rng.choice(relation.drugs)
    others = [other for other in relation.drugs if other != drug] or [drug]
    second = rng.choice(others)
    numbers = {place: draw(rng) for place, draw in _ONCE.items()}
    return numbers | {
        "class": drug.drug_class,
        "class0": rng.choice(("standard", "platinum-based", "conventional")),
        "drug": drug.name,
        "drug2": second.name if second != drug else "chemotherapy",
        "site": relation.disease.site,
        "trade": drug.trade,
    }


def _fill(phrase: str, values: Mapping[str, str], rng: Random) -> str:
    wording = _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), phrase)

    def value(match: re.Match[str]) -> str:
        place = match[1].lower()
        text = _NUMBERS[place](rng) if place in _NUMBERS else values[place]
        return text[0].upper() + text[1:] if match[1][0].isupper() else text

    filled = _PLACE.sub(value, wording)
    return filled[0].upper() + filled[1:]
