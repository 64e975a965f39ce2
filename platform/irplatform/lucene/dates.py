"""Date limits: topics that may only be answered with documents from before a year.

A sentence can only cite earlier articles (DeepSenSe). Such a topic has the field `published_before`
and finds no documents whose field `year` is that year or later. Documents without a year are found.
Lucene applies limits while it searches (`limited`); `search_before` applies them to the results of
other retrievers.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.lucene.java import java_class, java_list, making
from irplatform.runs.run import DEEPEST, HITS_AT_ONCE, Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from irplatform.data import Document, Topic

    Search = Callable[[Sequence[Topic], int], Mapping[str, Ranking]]


PUBLISHED_BEFORE = "published_before"
"""The topic's field."""
YEAR = "year"
"""The documents' field."""
DATES_FORMAT = 4
"""Raise it when the rules exclude other documents."""
_SEARCH = "org.apache.lucene.search"
_FOUR_DIGITS = re.compile(r"[0-9]{4}")
LAST_YEAR = 2200
"""The last year that Lucene excludes."""
_DEEPER = 4
"""The factor of the next search's depth if the last one found too many later documents."""


def date_limits(topics: Sequence[Topic]) -> dict[str, str]:
    """The years of the topics with a date limit; InputError for limits that are not years."""
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
    """A Lucene query that restricts another one to the time before a year, with the same scores."""
    occur = java_class(f"{_SEARCH}.BooleanClause$Occur")
    with making:
        builder = java_class(f"{_SEARCH}.BooleanQuery$Builder")()
        return builder.add(query, occur.MUST).add(_from_on(year), occur.MUST_NOT).build()


@cache
def _from_on(year: str) -> Any:
    # Year by year: as strings, the day 30 of a date would lie in a range of years.
    term = java_class("org.apache.lucene.index.Term")
    years = java_list(
        term(YEAR, f"{later:04}{end}").bytes()
        for later in range(int(year), LAST_YEAR)
        for end in ("", ".0")  # of a number, which is one word of the index
    )
    return java_class(f"{_SEARCH}.TermInSetQuery")(YEAR, years)


def search_before(
    search: Search,
    topics: Sequence[Topic],
    depth: int,
    limits: Mapping[str, str],
    fetch: Callable[[Sequence[str]], Iterable[Document]],
) -> dict[str, Ranking]:
    """Search for topics with date limits, with a search that ignores them.

    If the limits exclude too many documents, the search is repeated with a greater depth, up to
    100,000. `limits` are years by topic id, from which on documents are excluded; `fetch` returns
    documents, each once.
    """
    years: dict[str, str] = {}

    def in_time(ranking: Ranking, limit: str | None) -> Ranking:
        if limit is None:
            return ranking
        if new_ids := [doc_id for doc_id in ranking.doc_ids if doc_id not in years]:
            years.update((document.id, document.year) for document in fetch(new_ids))
        in_year = [years[doc_id] for doc_id in ranking.doc_ids]
        places = [place for place, year in enumerate(in_year) if not year or year < limit]
        return Ranking.of([ranking.doc_ids[place] for place in places], ranking.scores[places])

    rankings: dict[str, Ranking] = {}
    searched, search_depth = list(topics), depth
    while searched:
        too_few = []
        step = max(1, HITS_AT_ONCE // search_depth)
        for start in range(0, len(searched), step):
            part = searched[start : start + step]
            results = search(part, search_depth)
            for topic in part:
                hits = in_time(results[topic.id], limits.get(topic.id))
                rankings[topic.id] = hits.top(depth)
                if len(hits) < depth and len(results[topic.id]) == search_depth < DEEPEST:
                    too_few.append(topic)
        searched, search_depth = too_few, min(search_depth * _DEEPER, DEEPEST)
    return {topic.id: rankings[topic.id] for topic in topics}
