"""What knowledge bases know about the parts of a topic: other names, kinds, headings, drugs.

Synonyms come with what they are to the topic's own name (`Relation`), so that a plan can weigh a
child term or a former symbol less than a synonym, and with their source, so that a reader of the
query sees where each came from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from irplatform.knowledge.names import uninverted
from irplatform.retrieval.querying import spellings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.knowledge import Concept, Knowledge
    from irplatform.knowledge.model import ConceptKind

How = Literal["topic", "synonym", "narrow", "broad", "alias", "previous", "spelling"]
"""What a synonym is to the topic's own name."""

_EXACT = ("preferred", "synonym", "abbreviation")
_MESH = "MESH:"
_NEAR_MISSES = 50
_LONGEST = 20
"""Words of a part of a text that is looked up: hardly a name has more, some texts have hundreds."""
_FAMILIES = {"RAS": ("KRAS", "NRAS", "HRAS"), "RAF": ("BRAF", "RAF1", "ARAF")}
"""Genes of families whose symbols are not the family's with a number."""
_ANY_DISEASE = re.compile(
    r"(cancer|carcinoma|condition|disease|disorder|neoplasm|syndrome|tumou?r)s?"
    r"|malignanc(y|ies)|metastas[ie]s",
    re.IGNORECASE,
)
_BETWEEN_TREATMENTS = re.compile(
    r",\s+|\s*[;+&]\s*"
    r"|\s+(?:/|and/or|and|or|plus|(?:(?:in combination|combined|together)\s+)?with)\s+",
    re.IGNORECASE,
)
_BETWEEN_DRUGS = ((re.compile(r"[,/]"), any), (re.compile("[-–]"), all))
"""Between treatments where one of them is a drug: not in CDK4/6 inhibitor, 1,25-dihydroxy-…; or
where all are: not in platinum-resistant."""
_ASIDE = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])")
"""What stands in brackets: another name of a drug, or its company."""


_SALT = re.compile(
    r"\s+(acetate|besylate|citrate|dimaleate|ditosylate|fumarate|hcl|hydrochloride|malate|maleate"
    r"|mesylate|monohydrate|phosphate|potassium|sodium|succinate|sulfate|sulphate|tartrate"
    r"|tosylate)$",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Z]{1,5}[- ]?\d{2,}")
"""A drug that has only a maker's code as yet: AZD9291, MK-3475."""


@dataclass(frozen=True)
class Synonym:
    """A name beside a topic's own.

    Attributes:
        text: the name.
        how: what it is to the topic's name.
        source: where it came from, as "MESH:D008545 synonym".
    """

    text: str
    how: How
    source: str = ""


@dataclass(frozen=True)
class Names:
    """The names of one thing that a topic asks for.

    Attributes:
        text: what the topic calls it.
        synonyms: its names, the topic's own first; no text twice.
        headings: MeSH headings for it, and for its kinds.
        concepts: ids of the concepts that it was taken for.
    """

    text: str
    synonyms: tuple[Synonym, ...]
    headings: tuple[Synonym, ...] = ()
    concepts: tuple[str, ...] = ()


def disease_names(text: str, knowledge: Knowledge, kinds: int) -> Names:
    """A disease's names, those of its kinds, and its headings.

    Where no MeSH heading is the disease, the nearest one above it in the Disease Ontology is taken.

    Args:
        text: the topic's disease.
        knowledge: where to look it up.
        kinds: how many of the kinds of the disease to take at most per knowledge base.
    """
    concepts = _concepts(text, "disease", knowledge) or _containing(text, knowledge)
    found = [Synonym(text, "topic"), *_spelled(spellings.of_a_tumor(text), "word for tumour")]
    found += _names(concepts, "synonym")
    below = [child for concept in concepts for child in knowledge.descendants(concept.id, kinds)]
    found += _names(below, "narrow")
    headings = [*_headings(concepts, "synonym"), *_headings(below, "narrow")]
    if not _headings(concepts, "synonym"):
        headings = [*_headings_above(concepts, knowledge), *headings]
    return Names(
        text, _distinct(found), _distinct(headings), tuple(concept.id for concept in concepts)
    )


def disease_within(text: str, knowledge: Knowledge) -> str:
    """The first part of a text that is the name of a disease, as long as it can be, or "".

    Words that any disease may be called, "metastases" or "tumour", are none: of "tumour of the
    thyroid" they would be the part that matters less.
    """
    words = text.split()
    for start in range(len(words)):
        for end in range(min(len(words), start + _LONGEST), start, -1):
            part = " ".join(words[start:end]).strip(",.;:()")
            if not _ANY_DISEASE.fullmatch(part) and _concepts(part, "disease", knowledge):
                return part
    return ""


def genes_called(symbol: str, knowledge: Knowledge) -> list[str]:
    """The approved symbols of the genes that are called so, the likeliest first."""
    named = [c.name for c in knowledge.find(symbol) if c.kind == "gene"]
    return list(dict.fromkeys(named))


def gene_names(symbol: str, gene: str, knowledge: Knowledge) -> Names:
    """A gene's symbol, aliases, former symbols and full name.

    Args:
        symbol: what the topic calls it.
        gene: its approved symbol, one of `genes_called`.
        knowledge: where to look it up.
    """
    concepts = _concepts(symbol, "gene", knowledge, gene)
    found = [Synonym(symbol, "topic"), *_spelled(spellings.of_a_symbol(symbol), "hyphen")]
    for concept in concepts:
        full = [name.text for name in concept.names if " " in name.text]
        found += _spelled(spellings.by_full_names(concept.name, full), f"{concept.id} full name")
        for name in concept.names:
            if _other_gene(name.text, symbol, concepts, knowledge):
                continue
            how: How = name.kind if name.kind in ("alias", "previous") else "synonym"
            found.append(Synonym(name.text, how, f"{concept.id} {name.kind}"))
            if how != "synonym" or name.kind == "preferred":
                source = f"{concept.id} {name.kind}"
                found += [Synonym(s, how, source) for s in spellings.of_a_symbol(name.text)]
    return Names(symbol, _distinct(found), (), tuple(concept.id for concept in concepts))


def sure_names(symbol: str, gene: str, knowledge: Knowledge) -> list[Synonym]:
    """The approved symbol and full names of a gene that a topic calls otherwise; else none."""
    concepts = _concepts(symbol, "gene", knowledge, gene)
    held = [name for concept in concepts for name in concept.names]
    if any(_letters(n.text) == _letters(symbol) for n in held if n.kind == "preferred"):
        return []
    full = [n.text for n in held if n.kind == "synonym" and " " in n.text]
    return list(_distinct(Synonym(text, "synonym") for text in (gene, *full)))


def family_names(symbol: str, knowledge: Knowledge) -> Names:
    """A symbol that no gene has, with the genes of the family that it may stand for.

    NTRK is NTRK1, NTRK2 and NTRK3; MEK is MAP2K1, which is called MEK1, and others.
    """
    found = [Synonym(symbol, "topic"), *_spelled(spellings.of_a_symbol(symbol), "hyphen")]
    numbered = [f"{symbol}{number}" for number in range(1, 10)] if symbol[-1:].isalpha() else []
    members = _FAMILIES.get(symbol.upper(), numbered)
    genes = {member: _concepts(member, "gene", knowledge) for member in members}
    genes = {member: concepts for member, concepts in genes.items() if concepts}
    approved = {m: concepts for m, concepts in genes.items() if concepts[0].name == m}
    ids: list[str] = []
    for member, concepts in (approved if len(approved) > 1 else genes).items():
        source = f"{concepts[0].id} of the family"
        found += [Synonym(text, "narrow", source) for text in (member, concepts[0].name)]
        ids += [concept.id for concept in concepts]
    return Names(symbol, _distinct(found), (), tuple(dict.fromkeys(ids)))


def treatment_names(text: str, knowledge: Knowledge) -> list[Names]:
    """The names and headings of each treatment that a text names: drugs, else procedures.

    Genes and diseases in it are what it acts on or is for. One of which no knowledge base knows
    anything has its own text alone, and no concepts.
    """
    for whole in dict.fromkeys([text, _ASIDE.sub("", text)]):
        if concepts := _drug(whole, knowledge):
            aside = _beside(text, knowledge) if whole != text else []
            return [_of_concepts(whole, concepts, aside)]
    parts = _parts(text, _BETWEEN_TREATMENTS)
    for between, enough in _BETWEEN_DRUGS if len(parts) <= 1 else ():
        within = _parts(text, between)
        if enough(_concepts(part, "drug", knowledge) for part in within):
            parts = within
            break
    if len(parts) > 1:
        return [names for part in parts for names in treatment_names(part, knowledge)]
    kinds: tuple[ConceptKind, ...] = ("drug", "other")
    return [phrase_names(text, knowledge, kinds) or Names(text, (Synonym(text, "topic"),))]


def _parts(text: str, between: re.Pattern[str]) -> list[str]:
    return [part.strip() for part in between.split(text) if part.strip()]


def _drug(text: str, knowledge: Knowledge) -> list[Concept]:
    """The drug that a text names, and the one that it is a salt of: imatinib mesylate."""
    found = _concepts(text, "drug", knowledge)
    base = _SALT.sub("", text)
    return [*found, *_concepts(base, "drug", knowledge)] if base != text else found


def _beside(text: str, knowledge: Knowledge) -> list[Synonym]:
    """What brackets say a drug is called, too: its code, AZD9291, or a name of a known drug."""
    within = [aside.strip("()[] ") for aside in _ASIDE.findall(text)]
    return [
        Synonym(name, "synonym", "in brackets")
        for name in within
        if _CODE.fullmatch(name) or _concepts(name, "drug", knowledge)
    ]


def _of_concepts(text: str, concepts: Sequence[Concept], further: Iterable[Synonym] = ()) -> Names:
    """A text with all names of the concepts that it names, and further ones."""
    found = _distinct([Synonym(text, "topic"), *_names(concepts, "synonym"), *further])
    ids = tuple(concept.id for concept in concepts)
    return Names(text, found, _distinct(_headings(concepts, "synonym")), ids)


def phrase_names(
    text: str, knowledge: Knowledge, kinds: Sequence[ConceptKind] = ()
) -> Names | None:
    """The names of the longest part of a text that is the name of something, if one is.

    A single word is looked up only where it is the whole text: too many words are names.

    Args:
        text: the text.
        knowledge: where to look.
        kinds: of concepts; all by default.
    """
    words = text.split()
    for length in range(min(len(words), _LONGEST), min(1, len(words) - 1), -1):
        for start in range(len(words) - length + 1):
            part = " ".join(words[start : start + length])
            found = knowledge.find(part)
            if concepts := [each for each in found if not kinds or each.kind in kinds]:
                return _of_concepts(part, concepts)
    return None


def drug_names(concepts: Iterable[str], relation: str, knowledge: Knowledge) -> list[Synonym]:
    """The drugs that knowledge bases relate to genes ("drug-gene") or diseases ("drug-disease")."""
    found = []
    for concept_id in concepts:
        for held in knowledge.relations(concept_id, relation):
            drug = knowledge.concept(held.source_id)
            if drug is not None:
                found.append(Synonym(drug.name, "synonym", f"{held.kb} {relation}"))
    return list(_distinct(found))


def each_once(mentions: Iterable[Names]) -> tuple[Names, ...]:
    """The things that a topic names, each once by all its names: ERBB2 (HER2) is one gene."""
    things: dict[frozenset[str], list[Names]] = {}
    for names in mentions:
        things.setdefault(frozenset(names.concepts or {names.text.lower()}), []).append(names)
    return tuple(_united(same) for same in things.values())


def _united(same: Sequence[Names]) -> Names:
    if len(same) == 1:
        return same[0]
    held = (synonym for names in same for synonym in names.synonyms)
    return replace(same[0], synonyms=_distinct(sorted(held, key=lambda s: s.how != "topic")))


def _other_gene(name: str, symbol: str, concepts: list[Concept], knowledge: Knowledge) -> bool:
    """Whether an alias is the approved symbol of another gene: TEP1, an alias of PTEN."""
    own = {symbol.lower(), *(concept.name.lower() for concept in concepts)}
    if name.lower() in own or " " in name:
        return False
    return any(
        other.kind == "gene" and other.name.lower() == name.lower()
        for other in knowledge.find(name)
    )


def _concepts(text: str, kind: ConceptKind, knowledge: Knowledge, gene: str = "") -> list[Concept]:
    """The concepts of a kind that a text names best, and the same under other ids.

    Args:
        text: the text.
        kind: the kind.
        knowledge: where to look.
        gene: the approved symbol of the gene that is meant; the likeliest by default.
    """
    named = [concept for concept in knowledge.find(text) if concept.kind == kind]
    if not named:
        return []
    if kind == "gene":
        named = [c for c in named if c.name == (gene or named[0].name)]
        if not named:
            return []
    found = {concept.id: concept for concept in named}
    for concept in named:
        for same in knowledge.same_as(concept.id):
            alike = same.id.startswith(_MESH) if kind == "disease" else same.name == named[0].name
            if alike:
                found.setdefault(same.id, same)
    if kind == "disease" and not any(key.startswith(_MESH) for key in found):
        for name in (n.text for c in named for n in c.names if n.kind in _EXACT):
            for other in knowledge.find(name):
                if other.id.startswith(_MESH) and other.kind == kind:
                    found.setdefault(other.id, other)
    return list(found.values())


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
    return [best, *(c for c in knowledge.same_as(best.id) if c.id.startswith(_MESH))]


def _names(concepts: Iterable[Concept], how: How) -> Iterator[Synonym]:
    for concept in concepts:
        for name in concept.names:
            if name.kind in _EXACT:
                yield Synonym(uninverted(name.text), how, f"{concept.id} {name.kind}")


def _headings(concepts: Iterable[Concept], how: How) -> list[Synonym]:
    return [Synonym(c.name, how, c.id) for c in concepts if c.id.startswith(_MESH)]


def _headings_above(concepts: Iterable[Concept], knowledge: Knowledge) -> list[Synonym]:
    """The nearest headings above concepts that have none."""
    for concept in concepts:
        for above in knowledge.ancestors(concept.id, 10):
            found = _headings(knowledge.same_as(above.id), "broad")
            if found:
                return found
    return []


def _letters(symbol: str) -> str:
    return re.sub(r"[^a-z0-9]", "", symbol.lower())


def _spelled(texts: Iterable[str], source: str) -> list[Synonym]:
    return [Synonym(text, "spelling", source) for text in texts]


def _distinct(found: Iterable[Synonym]) -> tuple[Synonym, ...]:
    """Each text once, in whatever case, as it came first."""
    first: dict[str, Synonym] = {}
    for synonym in found:
        first.setdefault(synonym.text.lower(), synonym)
    return tuple(first.values())
