"""The names of what a topic asks for.

Synonyms come with what they are to the topic's own name (`How`), so that a plan can weigh a child
term or a former symbol less than a synonym, and with their source, so that a reader of the query
sees where each came from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

How = Literal["topic", "synonym", "narrow", "broad", "alias", "previous", "spelling"]
"""What a synonym is to the topic's own name."""


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


def distinct(synonyms: Iterable[Synonym]) -> tuple[Synonym, ...]:
    """Each text once, in whatever case, as it came first."""
    first: dict[str, Synonym] = {}
    for synonym in synonyms:
        first.setdefault(synonym.text.lower(), synonym)
    return tuple(first.values())


def spelled(texts: Iterable[str], source: str) -> list[Synonym]:
    """Other spellings of a topic's own name."""
    return [Synonym(text, "spelling", source) for text in texts]


def called(text: str, names: Names) -> Names:
    """The names of a thing that a topic calls by another one, such as an abbreviation."""
    others = (
        replace(name, how="synonym", source=f"what {text} stands for")
        if name.how == "topic"
        else name
        for name in names.synonyms
    )
    return replace(names, text=text, synonyms=distinct([Synonym(text, "topic"), *others]))


def each_once(mentions: Iterable[Names]) -> tuple[Names, ...]:
    """The things that a topic names, each once by all its names: ERBB2 (HER2) is one gene."""
    things: dict[frozenset[str], list[Names]] = {}
    for names in mentions:
        things.setdefault(frozenset(names.concepts or {names.text.lower()}), []).append(names)
    return tuple(_united(same) for same in things.values())


def _united(same: Sequence[Names]) -> Names:
    if len(same) == 1:
        return same[0]
    synonyms = (synonym for names in same for synonym in names.synonyms)
    return replace(same[0], synonyms=distinct(sorted(synonyms, key=lambda s: s.how != "topic")))
