"""Reads pairs of texts to learn from: what asks, and what it should find.

A file of pairs is a table with a header, as tab-separated values, plain or gzipped; the reader is
told which columns hold the texts, and which one says what source (a citing article, say) a pair is
of, so that pairs of the sources that a model is judged on can be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.text.extra_text import opened_text, tab_separated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class TextPair:
    """A text that asks, a text that it should find, and the source that brought them together."""

    query: str
    text: str
    group: str


def read_text_pairs(
    path: Path, *, query: str, text: str, group: str = "", marker: str = ""
) -> Iterator[TextPair]:
    """Stream the pairs of a file; those that lack one of the texts are left out.

    Args:
        path: the file, .tsv or .tsv.gz.
        query: the column of texts that ask.
        text: the column of texts that they should find.
        group: the column of sources; "" for none, and every source is "" where it is missing.
        marker: cut from texts that ask, such as what stands for a reference.

    Raises:
        InputError: the file cannot be read, or has no such column (file and line).
    """
    with opened_text(path) as file:
        rows = tab_separated(file)
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


def _column(header: list[str], name: str, path: Path) -> int:
    if name not in header:
        listed = ", ".join(header[:12]) or "none"
        raise InputError(f"there is no column '{name}'; the columns: {listed}.", path=path, line=1)
    return header.index(name)
