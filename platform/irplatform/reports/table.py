"""The table that ends a run: systems down, measures across, significant differences marked.

Every column keeps room for its longest mark, so that the numbers line up.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from irplatform.console import terminal_width, wrapped
from irplatform.errors import for_display
from irplatform.reports.columns import aligned
from irplatform.reports.rows import GLYPHS, best_rows, figure, glyphs, legend_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.reports.rows import ResultRow

_SYSTEM = "system"
_SECONDS = "seconds"


def render_table(
    rows: Sequence[ResultRow],
    measures: Sequence[str],
    *,
    note: str = "",
    baseline: str = "",
    ascii_only: bool = False,
    width: int | None = None,
) -> str:
    """Render results as plain text.

    Args:
        rows: the systems, in the order to show them.
        measures: the measures, in the order to show them.
        note: what a reader must know, set above the table.
        baseline: the row that the marks refer to, for the legend.
        ascii_only: use `+` and `-` for ▲ and ▼, and `x` for ×.
        width: the columns of the terminal that it is for, where the best values are bold, unless
            NO_COLOR is set, and measures for which a line has no room follow in a table below.

    Returns:
        Lines without trailing white space and without a final line break.
    """
    header, cells = _cells(rows, measures, ascii_only)
    if width:
        cells = [[_short(row[0], width // 2), *row[1:]] for row in cells]
    table = [header, *cells]
    best = best_rows(rows, measures) if width and not os.environ.get("NO_COLOR") else {}
    bold = {
        (number + 1, column)
        for column, measure in enumerate(measures, start=1)
        for number in best.get(measure, ())
    }
    blocks = []
    for columns in _blocks(table, width):
        part = [[row[column] for column in columns] for row in table]
        placed = {(row, columns.index(c)) for row, c in bold if c in columns}
        blocks.append("\n".join(aligned(part, bold=placed)))
    lines = [*([note, ""] if note else []), "\n\n".join(blocks)]
    legend = legend_of(rows, baseline, ascii_only)
    return "\n".join(
        [*(wrapped(line, width) for line in lines[:-1]), lines[-1]]
        + ([wrapped(legend, width)] if legend else [])
    )


def print_table(
    rows: Sequence[ResultRow],
    measures: Sequence[str],
    *,
    note: str = "",
    baseline: str = "",
    file: TextIO | None = None,
) -> None:
    """Print results, fitted to a terminal; the arguments are those of `render_table`."""
    out = sys.stdout if file is None else file
    note = for_display(note)
    ascii_only = not shows_glyphs(out)
    width = terminal_width(out)
    text = render_table(
        rows, measures, note=note, baseline=baseline, ascii_only=ascii_only, width=width
    )
    print(text, file=out)


def _blocks(table: Sequence[Sequence[str]], width: int | None) -> list[list[int]]:
    """The columns of each of the tables that a wide one is divided into; all have the first."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    blocks: list[list[int]] = [[0]]
    for column in range(1, len(widths)):
        block = blocks[-1]
        if width and len(block) > 1 and sum(widths[c] + 2 for c in [*block, column]) - 2 > width:
            blocks.append(block := [0])
        block.append(column)
    return blocks


def _cells(
    rows: Sequence[ResultRow], measures: Sequence[str], ascii_only: bool
) -> tuple[list[str], list[list[str]]]:
    """Header and body as text; a measure's cells all end with room for its longest mark."""
    timed = any(row.seconds is not None for row in rows)
    room = {m: max((abs(row.marks.get(m, 0)) for row in rows), default=0) for m in measures}
    header = [_SYSTEM, *(m + " " * room[m] for m in measures), *([_SECONDS] if timed else [])]
    body = []
    for row in rows:
        name = for_display(row.name.replace("×", "x") if ascii_only else row.name)
        line = ["  " * row.indent + name]
        for m in measures:
            text = figure(m, row.measures[m]) if m in row.measures else "-"
            line.append(text + glyphs(row.marks.get(m, 0), ascii_only).ljust(room[m]))
        if timed:
            line.append("" if row.seconds is None else f"{row.seconds:.1f}")
        body.append(line)
    return header, body


def _short(name: str, widest: int) -> str:
    """A name, or its ends where it is too long for the table."""
    return name if len(name) <= widest else f"{name[: widest // 2]}…{name[1 - widest // 2 :]}"


def shows_glyphs(file: TextIO) -> bool:
    """Whether the marks of a table can be printed to a file."""
    try:
        "".join(GLYPHS[False]).encode(getattr(file, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
