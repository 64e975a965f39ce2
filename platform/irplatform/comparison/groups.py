"""Groups of topics: by a field such as disease or gene, or by the length of the query."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from irplatform.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.data import Topic

QUERY_LENGTH = "query-length"
"""Groups by the number of words of the query."""

SMALLEST = 2
"""Values with fewer topics are grouped as the others."""

_SPANS = 3
"""Groups of lengths, if there are more lengths than this."""


def group_topics(topics: Sequence[Topic], field: str) -> dict[str, list[str]]:
    """Group topics by a field.

    A topic with several values is in several groups. Values of a single topic are grouped as
    "others", and topics without the field as "none".

    Args:
        topics: the topics.
        field: a field's name, or `query-length`: the number of words of the query, in three groups
            of about the same size.

    Returns:
        Value to topic ids, largest group first; lengths in their order.

    Raises:
        InputError: no topic has the field.

    Examples:
        >>> from irplatform.data import Topic
        >>> group_topics([Topic("1", "lung cancer"), Topic("2", "glioma")], "query-length")
        {'1 word': ['2'], '2 words': ['1']}
    """
    if field == QUERY_LENGTH:
        return _by_length({topic.id: len(topic.query.split()) for topic in topics})
    fields = dict.fromkeys(name for topic in topics for name in topic.fields)
    if field not in fields:
        raise unknown("field", field, [*fields, QUERY_LENGTH], of="the topics")
    groups: dict[str, list[str]] = {}
    for topic in topics:
        for value in dict.fromkeys(topic.values(field)) or ["none"]:
            groups.setdefault(value or "none", []).append(topic.id)
    large = {value: ids for value, ids in groups.items() if len(ids) >= SMALLEST}
    single = {value: ids for value, ids in groups.items() if value not in large}
    ordered = dict(sorted(large.items(), key=lambda item: -len(item[1])))
    if not large:
        raise InputError(f"no two topics share a value of '{field}'; there are no groups.")
    if single:
        ordered[f"others ({len(single)})"] = [*dict.fromkeys(chain.from_iterable(single.values()))]
    return ordered


def _by_length(lengths: Mapping[str, int]) -> dict[str, list[str]]:
    """Groups of one length each, or spans of lengths with about as many topics each."""
    distinct = sorted({*lengths.values()})
    spans = [[length] for length in distinct]
    if len(distinct) > _SPANS:
        ordered = sorted(lengths.values())
        ends = [ordered[len(ordered) * part // _SPANS] for part in range(1, _SPANS)]
        parts = [[x for x in distinct if sum(x >= end for end in ends) == p] for p in range(_SPANS)]
        spans = [part for part in parts if part]
    groups = {}
    for span in spans:
        word = "word" if span[-1] == 1 else "words"
        name = f"{span[0]}" if len(span) == 1 else f"{span[0]}–{span[-1]}"
        ids = [topic for topic, length in lengths.items() if span[0] <= length <= span[-1]]
        groups[f"{name} {word}"] = ids
    return groups
