"""What knowledge bases know about a topic's genes: symbols, aliases, full names, families."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.retrieval.querying import spellings
from irplatform.retrieval.querying.lookup import named_concepts
from irplatform.retrieval.querying.names import Names, Synonym, distinct, spelled

if TYPE_CHECKING:
    from irplatform.knowledge import Concept, Knowledge
    from irplatform.retrieval.querying.names import How

_FAMILIES = {"RAS": ("KRAS", "NRAS", "HRAS"), "RAF": ("BRAF", "RAF1", "ARAF")}
"""Genes of families whose symbols are not the family's with a number."""


def genes_called(symbol: str, knowledge: Knowledge) -> list[str]:
    """The approved symbols of the genes that are called so, the likeliest first."""
    symbols = [c.name for c in knowledge.find(symbol) if c.kind == "gene"]
    return list(dict.fromkeys(symbols))


def gene_names(symbol: str, gene: str, knowledge: Knowledge) -> Names:
    """A gene's symbol, aliases, former symbols and full name."""
    concepts = named_concepts(symbol, "gene", knowledge, gene)
    synonyms = [Synonym(symbol, "topic"), *spelled(spellings.of_a_symbol(symbol), "hyphen")]
    for concept in concepts:
        full = [name.text for name in concept.names if " " in name.text]
        synonyms += spelled(spellings.by_full_names(concept.name, full), f"{concept.id} full name")
        for name in concept.names:
            if _other_gene(name.text, symbol, concepts, knowledge):
                continue
            how: How = name.kind if name.kind in ("alias", "previous") else "synonym"
            synonyms.append(Synonym(name.text, how, f"{concept.id} {name.kind}"))
            if how != "synonym" or name.kind == "preferred":
                source = f"{concept.id} {name.kind}"
                synonyms += [Synonym(s, how, source) for s in spellings.of_a_symbol(name.text)]
    return Names(symbol, distinct(synonyms), (), tuple(concept.id for concept in concepts))


def sure_names(symbol: str, gene: str, knowledge: Knowledge) -> list[Synonym]:
    """The approved symbol and full names of a gene that a topic calls otherwise; else none."""
    concepts = named_concepts(symbol, "gene", knowledge, gene)
    names = [name for concept in concepts for name in concept.names]
    if any(_letters(n.text) == _letters(symbol) for n in names if n.kind == "preferred"):
        return []
    full = [n.text for n in names if n.kind == "synonym" and " " in n.text]
    return list(distinct(Synonym(text, "synonym") for text in (gene, *full)))


def family_names(symbol: str, knowledge: Knowledge) -> Names:
    """A symbol that no gene has, with the genes of the family that it may stand for.

    NTRK is NTRK1, NTRK2 and NTRK3; MEK is MAP2K1, which is called MEK1, and others.
    """
    synonyms = [Synonym(symbol, "topic"), *spelled(spellings.of_a_symbol(symbol), "hyphen")]
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
    own_names = {symbol.lower(), *(concept.name.lower() for concept in concepts)}
    if name.lower() in own_names or " " in name:
        return False
    return any(
        other.kind == "gene" and other.name.lower() == name.lower()
        for other in knowledge.find(name)
    )


def _letters(symbol: str) -> str:
    return re.sub(r"[^a-z0-9]", "", symbol.lower())
