"""Pairs of texts to learn from: a text that asks, and one that it should find.

A file of pairs is a tab-separated table with a header, plain or gzipped. Options name the columns
of the texts, and of a pair's source (a citing article, say), so that pairs of the evaluated topics
can be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    def of(cls, topics: Sequence[Topic], group: str) -> PairsOfTopics:
        """Return those of topics whose field `group` is their source."""
        return cls(
            frozenset(mark for topic in topics for mark in topic_marks(topic)),
            frozenset(source_mark(source) for topic in topics for source in topic.values(group))
            - {""},
        )

    def __contains__(self, pair: TextPair) -> bool:
        known = bool(self.sources) and source_mark(pair.group) in self.sources
        return known or (bool(self.queries) and query_mark(pair.query) in self.queries)


def read_text_pairs(
    path: Path, *, query: str, text: str, group: str = "", marker: str = ""
) -> Iterator[TextPair]:
    """Stream the pairs of a file, .tsv or .tsv.gz; those that lack one of the texts are left out.

    `query` and `text` name columns, `group` that of sources, which are "" without it. `marker` is
    cut from texts that ask. InputError if the file cannot be read, or lacks a column.
    """
    rows = tab_separated(path)
    header = next(rows, [])
    asks, finds = (_column(header, name, path) for name in (query, text))
    source = header.index(group) if group in header else None
    for row in rows:
        if len(row) <= max(asks, finds):
            continue
        asking = row[asks].replace(marker, " ") if marker else row[asks]
        pair = TextPair(
            " ".join(asking.split()),
            " ".join(row[finds].split()),
            row[source] if source is not None and source < len(row) else "",
        )
        if pair.query and pair.text:
            yield pair


def check_text_pairs(path: Path, *, query: str, text: str, group: str = "") -> None:
    """Refuse a file whose beginning is not pairs; a named column of sources must be there."""
    if group:
        _column(next(tab_separated(path), []), group, path)
    if next(read_text_pairs(path, query=query, text=text), None) is None:
        raise InputError(f"no line has both '{query}' and '{text}'.", path=path)


def _column(header: list[str], name: str, path: Path) -> int:
    if name not in header:
        listed = ", ".join(header[:12]) or "none"
        raise InputError(f"there is no column '{name}'; the columns: {listed}.", path=path, line=1)
    return header.index(name)
