"""How commands print: one JSON object, or text."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import click

from irplatform.console import say, terminal_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_NARROWEST = 30
"""Characters of a column that wraps, however narrow the terminal is."""

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, and nothing else."
)

_BEYOND_ASCII = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters that JSON lets stand as they are."""


def print_json(value: Any) -> None:
    """Print a value as one JSON object; with JSON's escapes where stdout is not UTF-8."""
    import json

    escaped = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    text = json.dumps(value, ensure_ascii=escaped, indent=1, allow_nan=False)
    click.echo(_BEYOND_ASCII.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def one_line(text: str) -> str:
    """A title or a query without the tabs and line breaks that it may have."""
    return " ".join(text.split())


def cut(text: str, widest: int) -> str:
    """A text, or its beginning where it has more characters."""
    return text if len(text) <= widest else f"{text[:widest].rstrip(' ,;')} …"


def print_rows(rows: Sequence[tuple[str, ...]], *, widest: int | None = None) -> None:
    """Print rows in aligned columns; the last column goes on below where a terminal ends.

    Args:
        rows: their cells.
        widest: cells of more characters go on below, the last column's aside.
    """
    lines = [line for row in rows for line in _lines_of(row, widest)]
    if not lines:
        return
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]) - 1)]
    if columns := terminal_width(sys.stdout):
        room = max(_NARROWEST, columns - sum(widths) - 2 * len(widths))
        lines = [
            (*(line[:-1] if number == 0 else ("",) * len(widths)), part)
            for line in lines
            for number, part in enumerate(_wrapped(line[-1], room) or [""])
        ]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=True)]
        say("  ".join([*cells, line[-1]]).rstrip())


def _wrapped(cell: str, widest: int) -> list[str]:
    """The lines of a cell, all of them indented as it is."""
    from textwrap import wrap

    text = cell.lstrip(" ")
    indent = " " * (len(cell) - len(text))
    width = max(1, widest - len(indent))
    return [
        indent + line for line in wrap(text, width, break_long_words=False, break_on_hyphens=False)
    ]


def _lines_of(row: tuple[str, ...], widest: int | None) -> list[tuple[str, ...]]:
    """A row, or the several that it takes where cells are too long; words stay whole."""
    from itertools import zip_longest

    if widest is None:
        return [row]
    cells = [_wrapped(cell, widest) for cell in row[:-1]]
    return list(zip_longest(*cells, [row[-1]], fillvalue=""))
