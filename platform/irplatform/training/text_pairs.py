"""Pairs of texts to learn from: a text that asks, and one that it should find.

A file of pairs is a tab-separated table with a header, plain or gzipped. Options name the columns
of the texts, and of a pair's source (a citing article, say), so that pairs of the evaluated topics
can be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from irplatform.data import TextPair
from irplatform.errors import InputError
from irplatform.text.extra_text import tab_separated
from irplatform.training.topic_identity import query_mark, source_mark, topic_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.data import Topic


@dataclass(frozen=True)
class PairsOfTopics:
    """The pairs of some topics: with their queries, or from sources that they name, as marks.

    A model that learned from these would remember the topics that it is judged on.
    """

    queries: frozenset[str]
    sources: frozenset[str]

    @classmethod
    def of(cls, topics: Sequence[Topic], group: str = "") -> PairsOfTopics:
        """Return those of topics whose field `group` is their source, if they have any."""
        return cls(
            frozenset(mark for topic in topics for mark in topic_marks(topic)),
            frozenset(source_mark(source) for topic in topics for source in topic.values(group))
            - {""},
        )

    @classmethod
    def of_pairs(cls, pairs: Sequence[TextPair]) -> PairsOfTopics:
        """Return those with the queries, or the sources, of some pairs."""
        return cls(
            frozenset(query_mark(pair.query) for pair in pairs),
            frozenset(source_mark(pair.group) for pair in pairs) - {""},
        )

    def __contains__(self, pair: TextPair) -> bool:
        source_match = bool(self.sources) and source_mark(pair.group) in self.sources
        return source_match or (bool(self.queries) and query_mark(pair.query) in self.queries)


class TextPairs:
    """A file of pairs, .tsv or .tsv.gz.

    Args:
        path: the file.
        query: its column of texts that ask.
        text: its column of texts that they should find.
        group: its column of sources, which are "" without it.
        marker: what is cut from texts that ask.
    """

    OfTopics: TypeAlias = PairsOfTopics

    def __init__(
        self, path: Path, query: str, text: str, group: str = "", *, marker: str = ""
    ) -> None:
        self.path, self.query, self.text = path, query, text
        self.group, self.marker = group, marker

    def __iter__(self) -> Iterator[TextPair]:
        """Stream the pairs with both texts. InputError if the file lacks a column."""
        rows = tab_separated(self.path)
        header = next(rows, [])
        asks, finds = (_column(header, name, self.path) for name in (self.query, self.text))
        source = header.index(self.group) if self.group in header else None
        for row in rows:
            if len(row) <= max(asks, finds):
                continue
            asking = row[asks].replace(self.marker, " ") if self.marker else row[asks]
            pair = TextPair(
                " ".join(asking.split()),
                " ".join(row[finds].split()),
                row[source] if source is not None and source < len(row) else "",
            )
            if pair.query and pair.text:
                yield pair

    def check(self) -> None:
        """Refuse a file whose beginning is not pairs; a named column of sources must be there."""
        if self.group:
            _column(next(tab_separated(self.path), []), self.group, self.path)
        if next(iter(self), None) is None:
            raise InputError(f"no line has both '{self.query}' and '{self.text}'.", path=self.path)


def _column(header: list[str], name: str, path: Path) -> int:
    if name not in header:
        columns = ", ".join(header[:12]) or "none"
        raise InputError(f"there is no column '{name}'; the columns: {columns}.", path=path, line=1)
    return header.index(name)
