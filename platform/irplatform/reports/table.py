"""The table that ends a run: systems down, measures across, significant differences marked.

Every column keeps room for its longest mark, so that the numbers line up.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

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
) -> str:
    """Render results as plain text.

    Args:
        rows: the systems, in the order to show them.
        measures: the measures, in the order to show them.
        note: what a reader must know, set above the table.
        baseline: the row that the marks refer to, for the legend.
        ascii_only: use `+` and `-` for ▲ and ▼, and `x` for ×.

    Returns:
        Lines without trailing white space and without a final line break.
    """
    header, cells = _cells(rows, measures, ascii_only)
    lines = aligned([header, *cells])
    legend = legend_of(rows, baseline, ascii_only)
    return "\n".join([*([note, ""] if note else []), *lines, *([legend] if legend else [])])


def print_table(
    rows: Sequence[ResultRow],
    measures: Sequence[str],
    *,
    note: str = "",
    baseline: str = "",
    file: TextIO | None = None,
) -> None:
    """Print results: with the best values in bold on a terminal, as plain text elsewhere.

    Args:
        rows: see `render_table`.
        measures: see `render_table`.
        note: see `render_table`.
        baseline: see `render_table`.
        file: where to; standard output by default.
    """
    out = sys.stdout if file is None else file
    ascii_only = not _can_show(out, "".join(GLYPHS[False]))
    if not out.isatty():
        text = render_table(rows, measures, note=note, baseline=baseline, ascii_only=ascii_only)
        print(text, file=out)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    header, cells = _cells(rows, measures, ascii_only)
    best = best_rows(rows, measures)
    table = Table()
    for position, name in enumerate(header):
        table.add_column(name, justify="left" if position == 0 else "right", no_wrap=True)
    for number, row in enumerate(cells):
        values = [Text(row[0])]
        for position, cell in enumerate(row[1:]):
            bold = position < len(measures) and number in best[measures[position]]
            values.append(Text(cell, style="bold" if bold else ""))
        table.add_row(*values)
    console = Console(file=out, highlight=False)
    if note:
        console.print(Text(note))
    # A narrow terminal wraps lines that are too long; rich would cut figures off
    width = 1 + sum(3 + max(map(len, column)) for column in zip(header, *cells, strict=True))
    console.width = max(console.width, width)
    console.print(table)
    if legend := legend_of(rows, baseline, ascii_only):
        console.print(Text(legend))


def _cells(
    rows: Sequence[ResultRow], measures: Sequence[str], ascii_only: bool
) -> tuple[list[str], list[list[str]]]:
    """Header and body as text; a measure's cells all end with room for its longest mark."""
    timed = any(row.seconds is not None for row in rows)
    room = {m: max((abs(row.marks.get(m, 0)) for row in rows), default=0) for m in measures}
    header = [_SYSTEM, *(m + " " * room[m] for m in measures), *([_SECONDS] if timed else [])]
    body = []
    for row in rows:
        name = row.name.replace("×", "x") if ascii_only else row.name
        line = ["  " * row.indent + name]
        for measure in measures:
            value = row.measures.get(measure)
            text = "-" if value is None else figure(measure, value)
            line.append(text + glyphs(row.marks.get(measure, 0), ascii_only).ljust(room[measure]))
        if timed:
            line.append("" if row.seconds is None else f"{row.seconds:.1f}")
        body.append(line)
    return header, body


def _can_show(file: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(file, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
