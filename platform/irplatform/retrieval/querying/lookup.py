"""What knowledge bases call the concepts that a text names, and their MeSH headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.concepts.surface import Capitals
from irplatform.knowledge.names import uninverted
from irplatform.retrieval.querying.names import Names, Synonym, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.knowledge import Concept, Knowledge
    from irplatform.knowledge.model import ConceptKind
    from irplatform.retrieval.querying.names import How

MESH = "MESH:"
"""How the ids of MeSH begin."""
_EXACT = ("preferred", "synonym", "abbreviation")
LONGEST = 20
"""Words of a part of a text that is looked up: hardly a name has more, some texts have hundreds."""
_SHORTEST = 4
"""Letters of a word that is taken for a name in a longer text."""
_SYMBOL = re.compile(r"(?=.*[A-Z])[A-Z0-9-]{3,10}")
_BESIDE_SYMBOL = re.compile(r"(?<=[A-Z0-9])[-–](?=[a-z]{3})")
"""As in HER2-positive. Names are found with and without hyphens."""
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_PUNCTUATION = '.,;:?!+()[]"“”'


def named_concepts(
    text: str, kind: ConceptKind, knowledge: Knowledge, gene: str = ""
) -> list[Concept]:
    """The concepts of a kind that a text names best, and the same under other ids.

    Args:
        text: the text.
        kind: the kind.
        knowledge: where to look.
        gene: the approved symbol of the gene that is meant; the likeliest by default.
    """
    concepts = [concept for concept in knowledge.find(text) if concept.kind == kind]
    if not concepts:
        return []
    if kind == "gene":
        concepts = [c for c in concepts if c.name == (gene or concepts[0].name)]
        if not concepts:
            return []
    by_id = {concept.id: concept for concept in concepts}
    for concept in concepts:
        for same in knowledge.same_as(concept.id):
            alike = same.id.startswith(MESH) if kind == "disease" else same.name == concepts[0].name
            if alike:
                by_id.setdefault(same.id, same)
    if kind == "disease" and not any(key.startswith(MESH) for key in by_id):
        for name in (n.text for c in concepts for n in c.names if n.kind in _EXACT):
            for other in knowledge.find(name):
                if other.id.startswith(MESH) and other.kind == kind:
                    by_id.setdefault(other.id, other)
    return list(by_id.values())


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
    for length in range(min(len(words), LONGEST), min(1, len(words) - 1), -1):
        for start in range(len(words) - length + 1):
            part = " ".join(words[start : start + length])
            matches = knowledge.find(part)
            if concepts := [each for each in matches if not kinds or each.kind in kinds]:
                return of_concepts(part, concepts)
    return None


def names_within(text: str, knowledge: Knowledge) -> list[Names]:
    """The names of the things that a text names, by its longest names, in the text's order.

    Of single words, these are names: those of diseases, drugs and things without kind, from four
    letters on, and symbols of genes, written in capitals: "MET", but not "met". A symbol that is
    but an alias has a digit: HER2. Variants are not looked up, whose names hold those of genes.
    In a text that is all in capitals, capitals say nothing, unless it is a list of symbols.
    """
    # A dash is no word: with one beside it, a single word would count as a name of two.
    spaced = (
        word for word in _BESIDE_SYMBOL.sub(" ", text).split() if _LETTER_OR_DIGIT.search(word)
    )
    words = [word.strip(_PUNCTUATION) for word in spaced]
    shouted = Capitals(text).say_nothing(0) or (len(words) > 1 and text.isupper())
    if shouted and not all(_is_symbol(word, knowledge) for word in words):
        words = [word.lower() for word in words]
    named: dict[int, Names] = {}
    taken = [False] * len(words)
    for length in range(min(len(words), LONGEST), 0, -1):
        for start in range(len(words) - length + 1):
            if any(taken[start : start + length]):
                continue
            part = " ".join(words[start : start + length])
            concepts = [each for each in knowledge.find(part) if each.kind != "variant"]
            if length == 1 < len(words):
                concepts = [each for each in concepts if _meant_alone(part, each)]
            if concepts:
                named[start] = of_concepts(part, concepts)
                taken[start : start + length] = [True] * length
    return [named[start] for start in sorted(named)]


def _is_symbol(word: str, knowledge: Knowledge) -> bool:
    """Whether a word is a code, or a name that is written in capitals: V600E, MET."""
    return any(map(str.isdigit, word)) or any(
        name.text == word for each in knowledge.find(word) for name in each.names
    )


def _meant_alone(word: str, concept: Concept) -> bool:
    """Whether a word in a longer text means a concept that has it for a name."""
    if concept.kind != "gene":
        return len(word) >= _SHORTEST
    numbered = any(map(str.isdigit, word))
    return (concept.name == word or numbered) and _SYMBOL.fullmatch(word) is not None


def of_concepts(text: str, concepts: Sequence[Concept], further: Iterable[Synonym] = ()) -> Names:
    """A text with all names of the concepts that it names, and further ones."""
    synonyms = distinct([Synonym(text, "topic"), *names_of(concepts, "synonym"), *further])
    ids = tuple(concept.id for concept in concepts)
    return Names(text, synonyms, distinct(headings_of(concepts, "synonym")), ids)


def names_of(concepts: Iterable[Concept], how: How) -> Iterator[Synonym]:
    """The names that mean just these concepts, and what they are to the topic's own name."""
    for concept in concepts:
        for name in concept.names:
            if name.kind in _EXACT:
                yield Synonym(uninverted(name.text), how, f"{concept.id} {name.kind}")


def headings_of(concepts: Iterable[Concept], how: How) -> list[Synonym]:
    """The MeSH headings among concepts."""
    return [Synonym(c.name, how, c.id) for c in concepts if c.id.startswith(MESH)]
