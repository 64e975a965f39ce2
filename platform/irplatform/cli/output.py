"""Output of commands: one JSON object, or text."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import click

from irplatform.system.console import say, terminal_width, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

_NARROWEST = 30
"""Characters of the narrowest column that wraps beside others."""
_GAP = "  "
_INDENT = 4
"""Indent of a cell below others."""

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, and nothing else."
)

plan_option = click.option(
    "--plan",
    "only_plan",
    is_flag=True,
    help="Say what would be made, what the cache has, and about how long it takes; make nothing.",
)

_BEYOND_ASCII = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters that JSON does not escape."""


def print_json(value: Any) -> None:
    """Print a value as one JSON object, with JSON's escapes if stdout is not UTF-8."""
    import json

    escaped = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    text = json.dumps(value, ensure_ascii=escaped, indent=1, allow_nan=False)
    click.echo(_BEYOND_ASCII.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def one_line(text: str) -> str:
    """Join a text into one line."""
    return " ".join(text.split())


def cut(text: str, widest: int) -> str:
    """Shorten a text that has more characters."""
    return text if len(text) <= widest else f"{text[:widest].rstrip(' ,;')} …"


def print_rows(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows in aligned columns; the last one wraps at the edge of a terminal.

    Without room for it, all columns but the first get their own lines.
    """
    columns = terminal_width(sys.stdout)
    lines = [*rows]
    if columns and lines and len(lines[0]) > len(("name", "text")):
        room = columns - sum(width + len(_GAP) for width in _widths(lines))
        if room < min(_NARROWEST, max(len(line[-1]) for line in lines)):
            pairs = [((row[0], _GAP.join(row[1:-1])), ("", row[-1])) for row in rows]
            lines = [line for pair in pairs for line in pair if any(line)]
    widths = _widths(lines)
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=True)]
        for text in _fitted(_GAP.join([*cells, ""]), line[-1], columns):
            say(text.rstrip())


def _widths(lines: Sequence[tuple[str, ...]]) -> list[int]:
    """The widths of all columns but the last."""
    return [max(map(len, cells)) for cells in [*zip(*lines, strict=True)][:-1]]


def _fitted(start: str, last: str, columns: int | None) -> list[str]:
    """The lines of a row; its last cell wraps in its column, or below for long words."""
    if columns is None:
        return [start + last]
    longest = max(map(len, last.split()), default=0)
    room = columns - len(start)
    if max(longest, min(_NARROWEST, len(last))) <= room:
        parts = _wrapped(last, room) or [""]
        return [start + parts[0], *(" " * len(start) + part for part in parts[1:])]
    indent = max(0, min(_INDENT, columns - longest))
    below = _wrapped(" " * indent + last.lstrip(" "), columns)
    return [*wrapped(start.rstrip(), columns).split("\n"), *below] if start.strip() else below


def _wrapped(cell: str, widest: int) -> list[str]:
    """The lines of a cell, all with its indent."""
    from textwrap import wrap

    text = cell.lstrip(" ")
    indent = " " * (len(cell) - len(text))
    width = max(1, widest - len(indent))
    return [
        indent + line for line in wrap(text, width, break_long_words=False, break_on_hyphens=False)
    ]
