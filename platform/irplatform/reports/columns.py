"""Tables of text cells, as text that fits a terminal, Markdown and LaTeX."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from irplatform.errors import for_display, one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_NARROWEST = 10
"""Least width of a name that is shortened."""

NARROWEST_TEXT = 20
"""Least width of a last column of text; with less room it is left out."""

_USUAL_WIDTH = 100
"""Columns where the output is no terminal."""

_NO_TERMINAL = 80
"""The same for tables side by side."""

_GAP = "   "
"""Between two tables side by side."""

_BOLD = re.compile(r"\x1b\[\d*m")

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # which a line break would take for its length
    "*": "{*}",
    "−": "$-$",
    "–": "--",
    "▲": r"$^{\uparrow}$",
    "▼": r"$^{\downarrow}$",
    **{special: f"\\{special}" for special in "&%$#_{}"},
}

_MINUS = re.compile(r"(?<![^\[ ])-(?=[0-9])")
"""The hyphen of a negative number."""

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


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


def as_text(table: Table, width: int | None, *, squeeze: bool = True) -> str:
    """Return the table as text.

    Columns that a terminal has no room for follow in a table below.

    Args:
        table: the table.
        width: columns of the terminal; best cells are bold, unless NO_COLOR is set.
        squeeze: shorten names to a third of their length at most, if all columns fit then and
            names stay apart.
    """
    cells = [[_cell(text) for text in row] for row in (table.header, *table.rows)]
    last = [row.pop() for row in cells] if table.text else []
    if width:
        names = [row[table.left - 1] for row in cells]
        longest = max(map(len, names))
        room = longest - (Table("", cells[0], cells[1:]).width - width)
        distinct = len({short(name, max(room, 2)) for name in names}) == len({*names})
        if not squeeze or room < max(_NARROWEST, longest // 3) or not distinct:
            room = width // 2
        for row, name in zip(cells, names, strict=True):
            row[table.left - 1] = short(name, room)
    bold = table.best if width and not os.environ.get("NO_COLOR") else frozenset()
    parts = []
    for columns in _blocks(cells, width, table.left):
        part = [[row[column] for column in columns] for row in cells]
        placed = {(row + 1, columns.index(column)) for row, column in bold if column in columns}
        parts.append(aligned(part, left=table.left, bold=placed))
    if last and len(parts) == 1:
        parts = [_with_text(parts[0], last, width)]
    text = "\n\n".join("\n".join(part) for part in parts)
    return f"{table.title}\n\n{text}" if table.title else text


def side_by_side(tables: Sequence[Table], width: int | None) -> str:
    """Return tables as text, as many beside each other as a terminal has room for."""
    room = width or _NO_TERMINAL
    rows: list[list[Table]] = []
    for table in tables:
        last = rows[-1] if rows else []
        taken = sum(each.width + len(_GAP) for each in last)
        if last and taken + table.width <= room and len(last[-1].rows) == len(table.rows):
            last.append(table)
        else:
            rows.append([table])
    return "\n\n".join(_beside(row, width) for row in rows)


def _beside(tables: Sequence[Table], width: int | None) -> str:
    """Tables of as many rows, side by side."""
    if len(tables) == 1:
        return as_text(tables[0], width)
    blocks = [as_text(table, width).split("\n") for table in tables]
    return "\n".join(
        _GAP.join(
            line + " " * (table.width - len(_BOLD.sub("", line)))
            for table, line in zip(tables, lines, strict=True)
        ).rstrip()
        for lines in zip(*blocks, strict=True)
    )


def print_text(text: str) -> None:
    """Print what `as_text` or `for_display` returned, with its bold figures."""
    print(text, flush=True)


def _cell(text: str) -> str:
    return for_display(text.replace("\n", " "))


def aligned(
    rows: Sequence[Sequence[str]],
    *,
    left: int = 1,
    head: int = 1,
    bold: Collection[tuple[int, int]] = (),
) -> list[str]:
    """Align the cells of rows, two spaces apart, without trailing white space.

    Args:
        rows: rows with the same number of cells.
        left: number of left-aligned columns; the others are aligned to the right.
        head: number of rows above a rule; 0 draws none.
        bold: rows and columns of bold cells.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for column in range(len(cells)):
            if (number, column) in bold:
                cells[column] = f"\x1b[1m{cells[column]}\x1b[0m"
        lines.append("  ".join(cells).rstrip())
    rule = ["-" * (sum(widths) + 2 * (len(widths) - 1))] if head else []
    return [*lines[:head], *rule, *lines[head:]]


def _blocks(table: Sequence[Sequence[str]], width: int | None, left: int) -> list[list[int]]:
    """The columns of each part of a table that is too wide; all have the left-aligned ones."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    parts: list[list[int]] = [[*range(left)]]
    for column in range(left, len(widths)):
        part = parts[-1]
        if width and len(part) > left and sum(widths[c] + 2 for c in [*part, column]) - 2 > width:
            parts.append(part := [*range(left)])
        part.append(column)
    return parts


def short(name: str, widest: int) -> str:
    """Shorten a name in its middle."""
    return name if len(name) <= widest else f"{name[: widest // 2]}…{name[1 - widest // 2 :]}"


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
        escaped = _latex(text)
        return rf"\textbf{{{escaped}}}" if (number, column) in table.best else escaped

    rows = [
        " & ".join(cell(number, column, text) for column, text in enumerate(row)) + r" \\"
        for number, row in enumerate(table.rows)
    ]
    columns = "l" * table.left + "r" * (len(table.header) - table.left)
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            *([f"% {_latex(table.title)}"] if table.title else []),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(cell(-1, -1, text) for text in table.header) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def markdown_text(text: str) -> str:
    """Escape a text for Markdown, in one line."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def _latex(text: str) -> str:
    signed = _MINUS.sub("−", one_line(text))
    return "".join(_LATEX.get(character, character) for character in signed)
