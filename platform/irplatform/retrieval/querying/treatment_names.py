"""What knowledge bases know about a topic's treatments, and drugs that act on its genes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.knowledge.names import without_salt
from irplatform.retrieval.querying.lookup import named_concepts, of_concepts, phrase_names
from irplatform.retrieval.querying.names import Names, Synonym, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.knowledge import Concept, Knowledge
    from irplatform.knowledge.model import ConceptKind

_BETWEEN_TREATMENTS = re.compile(
    r",\s+|(?:(?<!\s)\s+)?[;+&]\s*"
    r"|(?<!\s)\s+(?:/|and/or|and|or|plus|(?:(?:in combination|combined|together)\s+)?with)\s+",
    re.IGNORECASE,
)
_BETWEEN_DRUGS = ((re.compile(r"[,/]"), any), (re.compile("[-–]"), all))
"""Between treatments where one of them is a drug: not in CDK4/6 inhibitor, 1,25-dihydroxy-…; or
where all are: not in platinum-resistant."""
_ASIDE = re.compile(r"(?:(?<!\s)\s+)?(?:\([^()]*\)|\[[^\[\]]*\])")
"""What stands in brackets: another name of a drug, or its company."""
_CODE = re.compile(r"[A-Z]{1,5}[- ]?\d{2,}")
"""A drug that has only a maker's code as yet: AZD9291, MK-3475."""


def treatment_names(text: str, knowledge: Knowledge) -> list[Names]:
    """The names and headings of each treatment that a text names: drugs, else procedures.

    Genes and diseases in it are what it acts on or is for. One of which no knowledge base knows
    anything has its own text alone, and no concepts.
    """
    for whole in dict.fromkeys([text, _ASIDE.sub("", text)]):
        if concepts := _drug(whole, knowledge):
            aside = _beside(text, knowledge) if whole != text else []
            return [of_concepts(whole, concepts, aside)]
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
    synonyms = []
    for concept_id in concepts:
        for link in knowledge.relations(concept_id, relation):
            drug = knowledge.concept(link.source_id)
            if drug is not None:
                synonyms.append(Synonym(drug.name, "synonym", f"{link.kb} {relation}"))
    return list(distinct(synonyms))


def _drug(text: str, knowledge: Knowledge) -> list[Concept]:
    drugs = named_concepts(text, "drug", knowledge)
    base = without_salt(text)
    return [*drugs, *named_concepts(base, "drug", knowledge)] if base != text else drugs


def _beside(text: str, knowledge: Knowledge) -> list[Synonym]:
    """What brackets say a drug is called, too: its code, AZD9291, or a name of a known drug."""
    within = [aside.strip("()[] ") for aside in _ASIDE.findall(text)]
    return [
        Synonym(name, "synonym", "in brackets")
        for name in within
        if _CODE.fullmatch(name) or named_concepts(name, "drug", knowledge)
    ]


def _parts(text: str, between: re.Pattern[str]) -> list[str]:
    return [part.strip() for part in between.split(text) if part.strip()]
