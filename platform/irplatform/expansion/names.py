"""The names of a topic's parts: in knowledge bases, abbreviated, in other spellings.

Each synonym states its relation to the topic's name (`NameRelation`), by which a plan weighs it,
and its source. Analysis splits words at hyphens: KRAS is one term and K-ras two. So names come in
several spellings, without those that no document has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from irplatform.knowledge.model import uninverted
from irplatform.text.tokenizer import Capitals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.knowledge import Concept, Knowledge
    from irplatform.knowledge.model import ConceptKind


MESH = "MESH:"
"""The beginning of ids of MeSH."""
LONGEST = 20
"""Most words of a part of a text that is looked up."""
_EXACT = ("preferred", "synonym", "abbreviation")
_SHORTEST = 4
"""Letters of a word that counts as a name in a longer text."""
_SYMBOL = re.compile(r"(?=.*[A-Z])[A-Z0-9-]{3,10}")
_BESIDE_SYMBOL = re.compile(r"(?<=[A-Z0-9])[-–](?=[a-z]{3})")
"""As in HER2-positive. Names are found with and without hyphens."""
_PUNCTUATION = '.,;:?!+()[]"“”'
_WORD = re.compile(r"[^\W_]+")
_SMALL_WORDS = frozenset({"and", "of", "the", "with", "in", "for"})
_TUMORS = ("cancer", "carcinoma", "neoplasm", "tumor", "tumour", "malignancy")
"""Head words that texts use for one another: "lung cancer", "lung carcinoma"."""
_TUMOR = re.compile(rf"\b(({'|'.join(_TUMORS[:-1])})s?|malignanc(y|ies))$", re.IGNORECASE)
_JOINTS = (
    re.compile(r"(?<=[A-Za-z])-?(?=\d+[A-Z]?$)"),  # HER-2, IGF-1R
    re.compile(r"(?<=^[A-Z])-?(?=RA[SF]$)", re.IGNORECASE),  # K-ras, B-raf
)
_GREEK = {
    "A": ("alpha", "α"),
    "B": ("beta", "β"),
    "G": ("gamma", "γ"),
    "D": ("delta", "δ"),
    "E": ("epsilon", "ε"),
}
_LATIN = re.compile(rf"-?({'|'.join(form for forms in _GREEK.values() for form in forms)})(?=\d?$)")
_ONCOGENE = "proto-oncogene"
NameRelation = Literal["topic", "synonym", "narrow", "broad", "alias", "previous", "spelling"]
"""How a synonym relates to the topic's name."""


@dataclass(frozen=True)
class Synonym:
    """A name beside the topic's, its relation to it, and its source ("MESH:D008545 synonym")."""

    text: str
    relation: NameRelation
    source: str = ""


@dataclass(frozen=True)
class Names:
    """The names of one thing that a topic asks for; `text` is the topic's and the first synonym.

    `headings` are MeSH headings for it and its kinds, `concepts` the ids that it stands for.
    """

    text: str
    synonyms: tuple[Synonym, ...]
    headings: tuple[Synonym, ...] = ()
    concepts: tuple[str, ...] = ()


def distinct(synonyms: Iterable[Synonym]) -> tuple[Synonym, ...]:
    """Each text once, in any case, as it came first."""
    first: dict[str, Synonym] = {}
    for synonym in synonyms:
        first.setdefault(synonym.text.lower(), synonym)
    return tuple(first.values())


def spelled(texts: Iterable[str], source: str) -> list[Synonym]:
    """Other spellings of a topic's name."""
    return [Synonym(text, "spelling", source) for text in texts]


def called(text: str, names: Names) -> Names:
    """The names of a thing under the topic's name, such as an abbreviation."""
    others = (
        replace(name, relation="synonym", source=f"what {text} stands for")
        if name.relation == "topic"
        else name
        for name in names.synonyms
    )
    return replace(names, text=text, synonyms=distinct([Synonym(text, "topic"), *others]))


def each_once(mentions: Iterable[Names]) -> tuple[Names, ...]:
    """The things that a topic names, each once by all its names: ERBB2 (HER2) is one gene."""
    things: dict[frozenset[str], list[Names]] = {}
    for names in mentions:
        things.setdefault(frozenset(names.concepts or {names.text.lower()}), []).append(names)
    united = []
    for same in things.values():
        synonyms = [synonym for names in same for synonym in names.synonyms]
        if len(same) > 1:
            synonyms.sort(key=lambda synonym: synonym.relation != "topic")
        united.append(replace(same[0], synonyms=distinct(synonyms)))
    return tuple(united)


def named_concepts(
    text: str, kind: ConceptKind, knowledge: Knowledge, gene: str = ""
) -> list[Concept]:
    """The concepts of a kind that a text names best, and the same concepts under other ids.

    `gene` is the approved symbol of the gene that is meant; by default the likeliest.
    """
    concepts = [concept for concept in knowledge.find(text) if concept.kind == kind]
    if kind == "gene" and concepts:
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
    """The names of the longest part of a text that names something of some kinds, or None.

    A single word is looked up only if it is the whole text: too many words are names.
    """
    words = text.split()
    for length in range(min(len(words), LONGEST), min(1, len(words) - 1), -1):
        for start in range(len(words) - length + 1):
            part = " ".join(words[start : start + length])
            matches = knowledge.find(part)
            if concepts := [concept for concept in matches if not kinds or concept.kind in kinds]:
                return of_concepts(part, concepts)
    return None


def names_within(text: str, knowledge: Knowledge) -> list[Names]:
    """The names of the things in a text, by its longest names, in the text's order.

    Single words of four letters or more count if they name diseases, drugs or things without kind.
    So do symbols of genes in capitals; an alias also needs a digit: HER2. Variants are ignored:
    their names contain those of genes. A text in capitals is lower-cased, except lists of symbols.
    """
    # A dash is not a word: a single word beside it would count as a name of two.
    spaced = _BESIDE_SYMBOL.sub(" ", text).split()
    words = [word.strip(_PUNCTUATION) for word in spaced if _WORD.search(word)]
    shouted = Capitals(text).uninformative(0) or (len(words) > 1 and text.isupper())
    if shouted and not all(_is_symbol(word, knowledge) for word in words):
        words = [word.lower() for word in words]
    names_at: dict[int, Names] = {}
    coverage = [False] * len(words)
    for length in range(min(len(words), LONGEST), 0, -1):
        for start in range(len(words) - length + 1):
            if any(coverage[start : start + length]):
                continue
            part = " ".join(words[start : start + length])
            concepts = [concept for concept in knowledge.find(part) if concept.kind != "variant"]
            if length == 1 < len(words):
                concepts = [concept for concept in concepts if _meant_alone(part, concept)]
            if concepts:
                names_at[start] = of_concepts(part, concepts)
                coverage[start : start + length] = [True] * length
    return [names_at[start] for start in sorted(names_at)]


def _is_symbol(word: str, knowledge: Knowledge) -> bool:
    """True for a code, or a name that is written in capitals: V600E, MET."""
    return any(map(str.isdigit, word)) or any(
        name.text == word for concept in knowledge.find(word) for name in concept.names
    )


def _meant_alone(word: str, concept: Concept) -> bool:
    """Whether a word in a longer text means a concept that has this name."""
    if concept.kind != "gene":
        return len(word) >= _SHORTEST
    numbered = any(map(str.isdigit, word))
    return (concept.name == word or numbered) and _SYMBOL.fullmatch(word) is not None


def of_concepts(text: str, concepts: Sequence[Concept], further: Iterable[Synonym] = ()) -> Names:
    """A text with all names of the concepts that it names, and further ones."""
    synonyms = distinct([Synonym(text, "topic"), *names_of(concepts, "synonym"), *further])
    ids = tuple(concept.id for concept in concepts)
    return Names(text, synonyms, distinct(headings_of(concepts, "synonym")), ids)


def names_of(concepts: Iterable[Concept], relation: NameRelation) -> Iterator[Synonym]:
    """The exact names of concepts, with a relation to the topic's name."""
    for concept in concepts:
        for name in concept.names:
            if name.kind in _EXACT:
                yield Synonym(uninverted(name.text), relation, f"{concept.id} {name.kind}")


def headings_of(concepts: Iterable[Concept], relation: NameRelation) -> list[Synonym]:
    """The MeSH headings among concepts."""
    return [Synonym(c.name, relation, c.id) for c in concepts if c.id.startswith(MESH)]


def tumor_spellings(name: str) -> Iterator[str]:
    """A tumour's name with other words for tumour."""
    if _TUMOR.search(name):
        for word in _TUMORS:
            yield _TUMOR.sub(word, name)


def symbol_spellings(symbol: str) -> Iterator[str]:
    """A gene's symbol with a hyphen where texts put one, or without its hyphen."""
    for joint in _JOINTS:
        if match := joint.search(symbol):
            yield symbol[: match.start()] + ("" if match[0] else "-") + symbol[match.end() :]
            return


def with_latin_letter(symbol: str) -> str:
    """A gene's symbol with a Latin letter in place of a Greek one: PDGFRA for PDGFRα."""
    if not (match := _LATIN.search(symbol)):
        return symbol
    letter = next(latin for latin, greek in _GREEK.items() if match[1] in greek)
    return f"{symbol[: match.start()]}{letter}{symbol[match.end() :]}"


def full_name_spellings(symbol: str, full_names: Iterable[str]) -> Iterator[str]:
    """Spellings of a gene's symbol that follow from its full names.

    The last letter may be Greek: PDGFRA, platelet derived growth factor receptor alpha, is PDGFRα.
    A proto-oncogene is written with a c for cellular, as cMET.
    """
    for name in full_names:
        word, letter = _GREEK.get(symbol[-1:], ("", ""))
        if word and name.lower().endswith(f" {word}"):
            stem = symbol[:-1]
            yield from (stem + letter, f"{stem}-{letter}", stem + word, f"{stem}-{word}")
        if _ONCOGENE in name.lower():
            yield f"c{symbol}"


def initials(name: str) -> str:
    """The initials of a name of several words, without the small ones."""
    return "".join(word[0] for word in _words(name)).upper()


def fits(short: str, name: str) -> bool:
    """Whether an abbreviation in capitals is made of a name's letters, in order.

    It has the first letter of every word but the small ones, and may have others: head and neck
    cancer is HNC, and colorectal cancer CRC.
    """
    words = [word.upper() for word in _words(name)]
    if not 2 <= len(words) <= len(short):
        return False
    counts = {0}  # how many letters the words so far may have given
    for word in words:
        counts = {
            end
            for start in counts
            for end in range(start + 1, len(short) + 1)
            if word[0] == short[start] and _in_order(short[start + 1 : end], word[1:])
        }
    return len(short) in counts


def _words(name: str) -> list[str]:
    return [word for word in _WORD.findall(name) if word.lower() not in _SMALL_WORDS]


def _in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)
