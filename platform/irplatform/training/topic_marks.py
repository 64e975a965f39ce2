"""How a topic is known in whatever collection it stands: by what it asks, not by its id.

A model that has learned from a topic has seen the answer to it, whoever asks again. Capitals, the
order of words and the template that makes a query of a topic's fields make no other topic of it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from irplatform.storage import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import FieldValue, Topic

_WORD = re.compile(r"\w+")
_ASKED = ("disease", "gene")
"""Fields that make a topic of precision medicine what it is: who asks, and about which treatment,
changes little about what is relevant."""
_ADDED = "treatment"
"""The field with what some topics add to another topic's query."""


def topic_marks(topic: Topic) -> frozenset[str]:
    """Stand for a topic's words, and for those of its disease and gene where it has both fields.

    Where it has not, for its words without its treatment's: of what it may have been made.
    """
    texts = [_words(topic.query)]
    asked = [_words(topic.fields.get(name)) for name in _ASKED]
    if all(asked):
        texts.append(sum(asked, Counter()))
    elif rest := texts[0] - _words(topic.fields.get(_ADDED)):
        texts.append(rest)
    return frozenset(fingerprint({"words": sorted(text.elements())}) for text in texts)


def _words(value: FieldValue | None) -> Counter[str]:
    text = " ".join([value] if isinstance(value, str) else value or ())
    return Counter(_WORD.findall(text.casefold()))


def families(topics: Sequence[Topic]) -> list[int]:
    """Per topic the number of its family: topics that share a mark, directly or through others."""
    family_of: dict[str, int] = {}
    numbers: list[int] = []
    for number, topic in enumerate(topics):
        marks = topic_marks(topic)
        met = {family_of[mark] for mark in marks if mark in family_of}
        family = min(met, default=number)
        family_of |= dict.fromkeys(marks, family)
        for other in met - {family}:
            family_of = {m: family if f == other else f for m, f in family_of.items()}
            numbers = [family if held == other else held for held in numbers]
        numbers.append(family)
    place = {family: rank for rank, family in enumerate(dict.fromkeys(numbers))}
    return [place[family] for family in numbers]
