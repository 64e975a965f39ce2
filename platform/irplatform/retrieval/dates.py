"""Date limits: a topic that may only be answered with documents from before a year.

A sentence can only cite what was there (DeepSenSe considers articles "published earlier than the
article containing the citing sentence"). A topic says so in its field `published_before`; documents
whose field `year` is that year or later are then not found. Documents without a year are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.retrieval.java import java_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Topic

PUBLISHED_BEFORE = "published_before"
"""The topic's field."""
YEAR = "year"
"""The documents' field."""
_FOUR_DIGITS = re.compile(r"[0-9]{4}")
_LAST = "9999"


def date_limits(topics: Sequence[Topic]) -> dict[str, str]:
    """The topics with a date limit, and their years.

    Raises:
        InputError: a limit is not a year of four digits.
    """
    limits = {}
    for topic in topics:
        if year := topic.fields.get(PUBLISHED_BEFORE):
            if not isinstance(year, str) or not _FOUR_DIGITS.fullmatch(year):
                raise InputError(
                    f"topic '{topic.id}': {PUBLISHED_BEFORE} is {year!r}. Write a year, such as "
                    "2012."
                )
            limits[topic.id] = year
    return limits


def limited(query: Any, year: str) -> Any:
    """A Lucene query for what another one finds, with the same scores, from before a year."""
    search = "org.apache.lucene.search"
    occur = java_class(f"{search}.BooleanClause$Occur")
    later = java_class(f"{search}.TermRangeQuery").newStringRange(YEAR, year, _LAST, True, True)
    builder = java_class(f"{search}.BooleanQuery$Builder")()
    return builder.add(query, occur.MUST).add(later, occur.MUST_NOT).build()
