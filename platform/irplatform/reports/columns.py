"""Tables of text cells, as text that fits a terminal, Markdown and LaTeX."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform.errors import for_display
from irplatform.reports.table import aligned, blocks, latex_text, markdown_text, short

if TYPE_CHECKING:
    from collections.abc import Sequence

_NARROWEST = 10
"""Least width of a name that is shortened."""

NARROWEST_TEXT = 20
"""Least width of a last column of text; with less room it is left out."""

_USUAL_WIDTH = 100
"""Columns where the output is no terminal."""


@dataclass(frozen=True)
class Table:
    """A table of text cells.

    Attributes:
        title: a line above it, or "".
        header: names of the columns.
        rows: their cells.
        left: number of left-aligned columns; the last of them has names that may be shortened.
        best: rows and columns of cells in bold.
        text: the last column is free text, which is cut at the edge of a terminal.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    best: frozenset[tuple[int, int]] = frozenset()
    text: bool = False

    @property
    def without_text(self) -> Table:
        """The table without its last column."""
        return replace(self, header=self.header[:-1], rows=[row[:-1] for row in self.rows])

    @property
    def width(self) -> int:
        """Columns that it takes as text."""
        cells = zip(self.header, *self.rows, strict=True)
        return sum(max(map(len, column)) + 2 for column in cells) - 2


def as_text(table: Table, width: int | None) -> str:
    """Return the table as text.

    Long names are shortened where the terminal is too narrow. If that does not do, columns follow
    in a table below.
    """
    cells = [[for_display(cell) for cell in row] for row in (table.header, *table.rows)]
    last = [row.pop() for row in cells] if table.text else []
    if width:
        names = [row[table.left - 1] for row in cells]
        excess = Table("", cells[0], cells[1:]).width - width
        room = max(_NARROWEST, max(map(len, names)) - max(excess, 0))
        for row in cells:
            row[table.left - 1] = short(row[table.left - 1], room)
    bold = table.best if width and not os.environ.get("NO_COLOR") else frozenset()
    parts = []
    for columns in blocks(cells, width):
        part = [[row[column] for column in columns] for row in cells]
        placed = {(row + 1, columns.index(column)) for row, column in bold if column in columns}
        parts.append(aligned(part, left=table.left, bold=placed))
    if last and len(parts) == 1:
        parts = [_with_text(parts[0], last, width)]
    return "\n".join(
        [*([table.title, ""] if table.title else []), "\n\n".join(map("\n".join, parts))]
    )


def _with_text(lines: Sequence[str], texts: Sequence[str], width: int | None) -> list[str]:
    """Lines of a table with a last column of text; without it if there is no room."""
    header, rule, *rows = lines
    room = (width or _USUAL_WIDTH) - len(rule) - 2
    if room < NARROWEST_TEXT:
        return [*lines]
    cut = [text if len(text) <= room else f"{text[: room - 1]}…" for text in texts]
    wide = [f"{line}  {text}" for line, text in zip([header, *rows], cut, strict=True)]
    return [wide[0], "-" * (len(rule) + 2 + max(map(len, cut))), *wide[1:]]


def as_markdown(table: Table) -> str:
    """Return the table in GitHub's Markdown."""
    rows = [
        [
            f"**{markdown_text(cell)}**" if (number, column) in table.best else markdown_text(cell)
            for column, cell in enumerate(row)
        ]
        for number, row in enumerate(table.rows)
    ]
    header = [markdown_text(cell) for cell in table.header]
    rule = "|" + "---|" * table.left + "---:|" * (len(header) - table.left)
    lines = ["| " + " | ".join(row) + " |" for row in [header, *rows]]
    title = [f"**{markdown_text(table.title)}**", ""] if table.title else []
    return "\n".join([*title, lines[0], rule, *lines[1:]])


def as_latex(table: Table) -> str:
    """Return the table as a `tabular` with the rules of booktabs."""

    def cell(number: int, column: int, text: str) -> str:
        escaped = latex_text(text).replace("−", "$-$").replace("–", "--")
        return rf"\textbf{{{escaped}}}" if (number, column) in table.best else escaped

    rows = [
        " & ".join(cell(number, column, text) for column, text in enumerate(row)) + r" \\"
        for number, row in enumerate(table.rows)
    ]
    columns = "l" * table.left + "r" * (len(table.header) - table.left)
    return "\n".join(
        [
            *([f"% {latex_text(table.title)}"] if table.title else []),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(cell(-1, -1, text) for text in table.header) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )
