"""Which queries of a log are simple keyword queries, and when two are the same query.

The papers keep "simple text searches, of up to seven words", without boolean expressions, author
searches and field tags (Mohan et al., BioNLP 2017, section 3.1). Boolean operators are recognized
in capitals only, as PubMed does: "chronic headache and depression review" is one of the papers'
test queries.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from irplatform.errors import InputError
from irplatform.training.topic_marks import query_mark

_BOOLEAN = re.compile(r"(?<!\w)(?:AND|OR|NOT)(?!\w)")
# A field tag follows its words: "smith j[au]", "asthma [MeSH Terms:noexp]". Names of substances
# have brackets too, but go on after them or hold other numbers: "benzo[a]pyrene", "[18F]FDG".
_TAG = re.compile(r"\S\s*\[\s*(?:1au|[a-z][a-z /:-]*)\s*\](?![\w-])", re.IGNORECASE)

EMPTY = "no words"
LONG = "too many words"
BOOLEAN = "boolean operators"
TAGGED = "field tags"
HELD_OUT = "held out"
REASONS = (EMPTY, LONG, BOOLEAN, TAGGED, HELD_OUT)
"""Reasons to refuse a query, in the order in which they are looked at."""


@dataclass(frozen=True)
class QueryRules:
    """Which queries are kept, by their words alone; the defaults are the papers'.

    Attributes:
        max_words: the most words, parted by white space.
        boolean: whether queries with boolean operators are kept.
        tags: whether queries with field tags (authors', titles', …) are kept.
        held_out: `mark`s of queries that are not kept, because something else is to be evaluated
            on them.
    """

    max_words: int = 7
    boolean: bool = False
    tags: bool = False
    held_out: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.max_words < 1:
            raise InputError("queries need at least one word: --max-words must be 1 or more.")


def normalize(query: str) -> str:
    """A query as it is compared and written: lower case, NFKC, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", query).lower().split())


def mark(query: str) -> str:
    """Stands for a query's words, whatever their order and what is between them."""
    return query_mark(normalize(query))


def query_id(query: str) -> str:
    """16 hexadecimal digits that stand for a normalized query, the same in every log."""
    return hashlib.blake2b(query.encode(), digest_size=8).hexdigest()


def refusal(query: str, rules: QueryRules) -> str | None:
    """Why a query, as it was typed, is not kept: the first reason that holds, or None."""
    words = query.split()
    if not words:
        return EMPTY
    if len(words) > rules.max_words:
        return LONG
    if not rules.boolean and _BOOLEAN.search(query):
        return BOOLEAN
    if not rules.tags and _TAG.search(query):
        return TAGGED
    if rules.held_out and mark(query) in rules.held_out:
        return HELD_OUT
    return None
