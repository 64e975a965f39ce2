"""Facts of knowledge bases about a topic's disease, genes and treatments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.expansion.names import (
    LONGEST,
    MESH,
    Names,
    Synonym,
    distinct,
    fits,
    full_name_spellings,
    headings_of,
    named_concepts,
    names_of,
    of_concepts,
    phrase_names,
    spelled,
    symbol_spellings,
    tumor_spellings,
)
from irplatform.knowledge.model import without_salt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.expansion.names import NameRelation
    from irplatform.knowledge import Concept, Knowledge
    from irplatform.knowledge.model import ConceptKind


_NEAR_MISSES = 50
_ABBREVIATION = re.compile(r"[A-Z]{3,8}")
_ANY_DISEASE = re.compile(
    r"(cancer|carcinoma|condition|disease|disorder|neoplasm|syndrome|tumou?r)s?"
    r"|malignanc(y|ies)|metastas[ie]s",
    re.IGNORECASE,
)
_FAMILIES = {"RAS": ("KRAS", "NRAS", "HRAS"), "RAF": ("BRAF", "RAF1", "ARAF")}
"""Genes of families whose symbols are not the family's with a number."""
_BETWEEN_TREATMENTS = re.compile(
    r",\s+|(?:(?<!\s)\s+)?[;+&]\s*"
    r"|(?<!\s)\s+(?:/|and/or|and|or|plus|(?:(?:in combination|combined|together)\s+)?with)\s+",
    re.IGNORECASE,
)
_BETWEEN_DRUGS = ((re.compile(r"[,/]"), any), (re.compile("[-–]"), all))
"""Between treatments if one of them is a drug (not in CDK4/6 inhibitor or 1,25-dihydroxy-…), or if
all are (not in platinum-resistant)."""
_ASIDE = re.compile(r"(?:(?<!\s)\s+)?(?:\([^()]*\)|\[[^\[\]]*\])")
"""Text in brackets: another name of a drug, or its company."""
_CODE = re.compile(r"[A-Z]{1,5}[- ]?\d{2,}")
"""The maker's code of a drug: AZD9291, MK-3475."""


def disease_names(text: str, knowledge: Knowledge, kinds: int) -> Names:
    """The names of a disease and at most `kinds` of its kinds per knowledge base, and its headings.

    If MeSH has no heading for it, the nearest one above it in the Disease Ontology is taken.
    """
    concepts = _diseases(text, knowledge) or _containing(text, knowledge)
    synonyms = [Synonym(text, "topic"), *spelled(tumor_spellings(text), "word for tumour")]
    synonyms += names_of(concepts, "synonym")
    below = [child for concept in concepts for child in knowledge.descendants(concept.id, kinds)]
    synonyms += names_of(below, "narrow")
    headings = [*headings_of(concepts, "synonym"), *headings_of(below, "narrow")]
    if not headings_of(concepts, "synonym"):
        above = (
            ancestor for concept in concepts for ancestor in knowledge.ancestors(concept.id, 10)
        )
        broader = (headings_of(knowledge.same_as(ancestor.id), "broad") for ancestor in above)
        headings = [*next(filter(None, broader), []), *headings]
    return Names(
        text, distinct(synonyms), distinct(headings), tuple(concept.id for concept in concepts)
    )


def disease_within(text: str, knowledge: Knowledge) -> str:
    """The longest first part of a text that is the name of a disease, or "".

    Words for any disease, such as "tumour" in "tumour of the thyroid", do not count.
    """
    words = text.split()
    for start in range(len(words)):
        for end in range(min(len(words), start + LONGEST), start, -1):
            part = " ".join(words[start:end]).strip(",.;:()")
            if not _ANY_DISEASE.fullmatch(part) and _diseases(part, knowledge):
                return part
    return ""


def diseases_abbreviated(short: str, knowledge: Knowledge) -> list[list[Synonym]]:
    """The diseases that an abbreviation in capitals may stand for: AML, CRC.

    Each is given by its names that the abbreviation fits. Two letters are too few.
    """
    if not _ABBREVIATION.fullmatch(short):
        return []
    name_lists = (
        [name for name in names_of([concept], "synonym") if fits(short, name.text)]
        for concept in knowledge.concepts("disease")
    )
    return [names for names in name_lists if names]


def _diseases(text: str, knowledge: Knowledge) -> list[Concept]:
    forms = (text, *tumor_spellings(text))
    return next(filter(None, (named_concepts(form, "disease", knowledge) for form in forms)), [])


def _containing(text: str, knowledge: Knowledge) -> list[Concept]:
    """The concept with the shortest name that begins alike and has all words of a text."""
    words = text.lower().replace("-", " ").split()
    if len(words) < 2:
        return []
    candidates = {
        (len(name.text), concept.id): concept
        for concept in knowledge.search(" ".join(text.split()[:-1]), _NEAR_MISSES)
        for name in concept.names
        if concept.kind == "disease" and set(words) <= set(re.findall(r"\w+", name.text.lower()))
    }
    if not candidates:
        return []
    best = candidates[min(candidates)]
    return [best, *(c for c in knowledge.same_as(best.id) if c.id.startswith(MESH))]


def genes_called(symbol: str, knowledge: Knowledge) -> list[str]:
    """The approved symbols of the genes with a name, the likeliest first."""
    symbols = [c.name for c in knowledge.find(symbol) if c.kind == "gene"]
    return list(dict.fromkeys(symbols))


def gene_names(symbol: str, gene: str, knowledge: Knowledge) -> Names:
    """A gene's symbol, aliases, former symbols and full name."""
    concepts = named_concepts(symbol, "gene", knowledge, gene)
    synonyms = [Synonym(symbol, "topic"), *spelled(symbol_spellings(symbol), "hyphen")]
    for concept in concepts:
        full = [name.text for name in concept.names if " " in name.text]
        synonyms += spelled(full_name_spellings(concept.name, full), f"{concept.id} full name")
        for name in concept.names:
            if _other_gene(name.text, symbol, concepts, knowledge):
                continue
            relation: NameRelation = name.kind if name.kind in ("alias", "previous") else "synonym"
            synonyms.append(Synonym(name.text, relation, f"{concept.id} {name.kind}"))
            if relation != "synonym" or name.kind == "preferred":
                source = f"{concept.id} {name.kind}"
                synonyms += [Synonym(s, relation, source) for s in symbol_spellings(name.text)]
    return Names(symbol, distinct(synonyms), (), tuple(concept.id for concept in concepts))


def sure_names(symbol: str, gene: str, knowledge: Knowledge) -> list[Synonym]:
    """The approved symbol and full names of a gene that a topic calls by another name."""
    concepts = named_concepts(symbol, "gene", knowledge, gene)
    names = [name for concept in concepts for name in concept.names]
    if any(_letters(n.text) == _letters(symbol) for n in names if n.kind == "preferred"):
        return []
    full = [n.text for n in names if n.kind == "synonym" and " " in n.text]
    return list(distinct(Synonym(text, "synonym") for text in (gene, *full)))


def family_names(symbol: str, knowledge: Knowledge) -> Names:
    """A symbol that no gene has, with the genes of the family that it may stand for.

    NTRK is NTRK1, NTRK2 and NTRK3; MEK is MAP2K1, which is also called MEK1, and others.
    """
    synonyms = [Synonym(symbol, "topic"), *spelled(symbol_spellings(symbol), "hyphen")]
    numbered = [f"{symbol}{number}" for number in range(1, 10)] if symbol[-1:].isalpha() else []
    members = _FAMILIES.get(symbol.upper(), numbered)
    genes = {member: named_concepts(member, "gene", knowledge) for member in members}
    genes = {member: concepts for member, concepts in genes.items() if concepts}
    approved = {m: concepts for m, concepts in genes.items() if concepts[0].name == m}
    ids: list[str] = []
    for member, concepts in (approved if len(approved) > 1 else genes).items():
        source = f"{concepts[0].id} of the family"
        synonyms += [Synonym(text, "narrow", source) for text in (member, concepts[0].name)]
        ids += [concept.id for concept in concepts]
    return Names(symbol, distinct(synonyms), (), tuple(dict.fromkeys(ids)))


def _other_gene(name: str, symbol: str, concepts: list[Concept], knowledge: Knowledge) -> bool:
    names = {symbol.lower(), *(concept.name.lower() for concept in concepts)}
    return (
        name.lower() not in names
        and " " not in name
        and any(
            other.kind == "gene" and other.name.lower() == name.lower()
            for other in knowledge.find(name)
        )
    )


def _letters(symbol: str) -> str:
    return re.sub(r"[^a-z0-9]", "", symbol.lower())


def treatment_names(text: str, knowledge: Knowledge) -> list[Names]:
    """The names and headings of each treatment in a text: drugs, else procedures.

    Genes and diseases in it are its targets. An unknown treatment keeps its text alone.
    """
    for wording in dict.fromkeys([text, _ASIDE.sub("", text)]):
        if concepts := _drug(wording, knowledge):
            aside = _beside(text, knowledge) if wording != text else []
            return [of_concepts(wording, concepts, aside)]
    parts = _parts(text, _BETWEEN_TREATMENTS)
    for between, enough in _BETWEEN_DRUGS if len(parts) <= 1 else ():
        within = _parts(text, between)
        if enough(named_concepts(part, "drug", knowledge) for part in within):
            parts = within
            break
    if len(parts) > 1:
        return [names for part in parts for names in treatment_names(part, knowledge)]
    kinds: tuple[ConceptKind, ...] = ("drug", "other")
    return [phrase_names(text, knowledge, kinds) or Names(text, (Synonym(text, "topic"),))]


def drug_names(concepts: Iterable[str], relation: str, knowledge: Knowledge) -> list[Synonym]:
    """The drugs that knowledge bases relate to genes ("drug-gene") or diseases ("drug-disease")."""
    synonyms = (
        Synonym(drug.name, "synonym", f"{link.kb} {relation}")
        for concept_id in concepts
        for link in knowledge.relations(concept_id, relation)
        if (drug := knowledge.concept(link.source_id)) is not None
    )
    return list(distinct(synonyms))


def _drug(text: str, knowledge: Knowledge) -> list[Concept]:
    drugs = named_concepts(text, "drug", knowledge)
    base = without_salt(text)
    return [*drugs, *named_concepts(base, "drug", knowledge)] if base != text else drugs


def _beside(text: str, knowledge: Knowledge) -> list[Synonym]:
    """Other names of a drug in brackets: its code, AZD9291, or a name of a known drug."""
    within = [aside.strip("()[] ") for aside in _ASIDE.findall(text)]
    return [
        Synonym(name, "synonym", "in brackets")
        for name in within
        if _CODE.fullmatch(name) or named_concepts(name, "drug", knowledge)
    ]


def _parts(text: str, between: re.Pattern[str]) -> list[str]:
    return [part.strip() for part in between.split(text) if part.strip()]
