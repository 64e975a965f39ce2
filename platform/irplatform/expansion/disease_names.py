"""What knowledge bases know about a topic's disease: names, kinds, headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.expansion import names as spellings
from irplatform.expansion.names import (
    LONGEST,
    MESH,
    Names,
    Synonym,
    distinct,
    fits,
    headings_of,
    named_concepts,
    names_of,
    spelled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.knowledge import Concept, Knowledge

_NEAR_MISSES = 50
_ABBREVIATION = re.compile(r"[A-Z]{3,8}")
_ANY_DISEASE = re.compile(
    r"(cancer|carcinoma|condition|disease|disorder|neoplasm|syndrome|tumou?r)s?"
    r"|malignanc(y|ies)|metastas[ie]s",
    re.IGNORECASE,
)


def disease_names(text: str, knowledge: Knowledge, kinds: int) -> Names:
    """A disease's names, those of its kinds, and its headings.

    Where no MeSH heading is the disease, the nearest one above it in the Disease Ontology is taken.

    Args:
        text: the topic's disease.
        knowledge: where to look it up.
        kinds: how many of the kinds of the disease to take at most per knowledge base.
    """
    concepts = _diseases(text, knowledge) or _containing(text, knowledge)
    synonyms = [Synonym(text, "topic"), *spelled(spellings.of_a_tumor(text), "word for tumour")]
    synonyms += names_of(concepts, "synonym")
    below = [child for concept in concepts for child in knowledge.descendants(concept.id, kinds)]
    synonyms += names_of(below, "narrow")
    headings = [*headings_of(concepts, "synonym"), *headings_of(below, "narrow")]
    if not headings_of(concepts, "synonym"):
        headings = [*_headings_above(concepts, knowledge), *headings]
    return Names(
        text, distinct(synonyms), distinct(headings), tuple(concept.id for concept in concepts)
    )


def disease_within(text: str, knowledge: Knowledge) -> str:
    """The first part of a text that is the name of a disease, as long as it can be, or "".

    Words that any disease may be called, "metastases" or "tumour", are none: of "tumour of the
    thyroid" they would be the part that matters less.
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

    Returns:
        Per disease, its names that the abbreviation fits; none where it is a word, or shorter than
        three letters.
    """
    if not _ABBREVIATION.fullmatch(short):
        return []
    found = (
        [name for name in names_of([concept], "synonym") if fits(short, name.text)]
        for concept in knowledge.concepts("disease")
    )
    return [names for names in found if names]


def _diseases(text: str, knowledge: Knowledge) -> list[Concept]:
    forms = (text, *spellings.of_a_tumor(text))
    return next(filter(None, (named_concepts(form, "disease", knowledge) for form in forms)), [])


def _containing(text: str, knowledge: Knowledge) -> list[Concept]:
    """The concept with the shortest name that begins alike and has all the words of a text."""
    words = text.lower().replace("-", " ").split()
    if len(words) < 2:
        return []
    candidates = [
        (len(name.text), concept.id, concept)
        for concept in knowledge.search(" ".join(text.split()[:-1]), _NEAR_MISSES)
        for name in concept.names
        if concept.kind == "disease" and set(words) <= set(re.findall(r"\w+", name.text.lower()))
    ]
    if not candidates:
        return []
    best = min(candidates, key=lambda c: c[:2])[2]
    return [best, *(c for c in knowledge.same_as(best.id) if c.id.startswith(MESH))]


def _headings_above(concepts: Iterable[Concept], knowledge: Knowledge) -> list[Synonym]:
    for concept in concepts:
        for above in knowledge.ancestors(concept.id, 10):
            headings = headings_of(knowledge.same_as(above.id), "broad")
            if headings:
                return headings
    return []
