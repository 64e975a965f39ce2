"""Structured queries as plain values: what to search for, where, and with which weight.

An expression is a tree of the dataclasses below. It knows nothing of Lucene (`compile` turns it
into Lucene's queries) and can be printed (`explain`). Text in it is analyzed as the documents were
and is never query syntax. `note` says where a part came from, such as "HGNC alias".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from irplatform.retrieval.records import CONTENTS


@dataclass(frozen=True)
class Words:
    """Any of some words, each counted as often as it occurs."""

    text: str
    field: str = CONTENTS


@dataclass(frozen=True)
class Phrase:
    """Words beside one another, in this order.

    Attributes:
        text: the words; a single one is an ordinary word.
        field: where to look.
        note: where they came from.
    """

    text: str
    field: str = CONTENTS
    note: str = ""


@dataclass(frozen=True)
class DisMax:
    """The best of several parts, plus a share of the others: synonyms count once.

    Attributes:
        parts: the alternatives.
        tie: share of the scores of all but the best, 0 to 1.
        note: what they are.
    """

    parts: tuple[Expression, ...]
    tie: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Synonyms:
    """Several names of one thing, scored as if they were one word.

    A word's rarity is a large part of its BM25 score, so that in a plain disjunction a document
    which uses an unusual name ranks above all others. Here every name gets the inverse document
    frequency of the whole group: of the documents that have any of the names.

    Attributes:
        names: phrases or words, each by its weight: how sure it is that it means the same.
        note: what they name.
    """

    names: tuple[tuple[Phrase, float], ...]
    note: str = ""


@dataclass(frozen=True)
class Boolean:
    """The sum of several parts.

    Attributes:
        must: parts that a document must match.
        should: parts that add to its score.
        filter: parts that it must match and that add nothing.
        minimum: how many of `should` it must match.
        note: what the parts are together.
    """

    must: tuple[Expression, ...] = ()
    should: tuple[Expression, ...] = ()
    filter: tuple[Expression, ...] = ()
    minimum: int = 0
    note: str = ""


@dataclass(frozen=True)
class Boost:
    """A part with its score multiplied."""

    part: Expression
    weight: float
    note: str = ""


@dataclass(frozen=True)
class Near:
    """Something of one group close to something of another, in either order.

    It is looked for in titles and abstracts, and scores between 0 and 1: the more often and the
    closer, the higher.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    gaps: int


@dataclass(frozen=True)
class Constant:
    """1 for every document that a part matches, however well."""

    part: Expression


Expression: TypeAlias = Words | Phrase | DisMax | Synonyms | Boolean | Boost | Near | Constant
