"""Tables of text, as text that fits a terminal, Markdown and LaTeX."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, TextIO

from irplatform.errors import for_display, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

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

_ASCII = str.maketrans({"▲": "+", "▼": "-", "–": "-", "−": "-", "…": ".", "×": "x"})

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
class Cell:
    """A cell of a page: its text, the value it is sorted by, and its class of style."""

    text: str
    value: float | str = ""
    style: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: its header.
        cells: their texts.
        best: numbers of the rows whose cells are bold.
        marks: what follows each cell; as text, all leave room for the longest one.
        values: numbers behind the cells, to sort by.
    """

    name: str
    cells: Sequence[str]
    best: Collection[int] = ()
    marks: Sequence[str] = ()
    values: Sequence[float] = ()

    @property
    def marked(self) -> list[str]:
        """The cells with their marks."""
        return [cell + mark for cell, mark in zip_longest(self.cells, self.marks, fillvalue="")]

    @property
    def lines(self) -> list[str]:
        """Header and cells as text, so that figures with marks line up."""
        room = max(map(len, self.marks), default=0)
        cells = [(self.name, ""), *zip_longest(self.cells, self.marks, fillvalue="")]
        return [_cell(cell + mark.ljust(room)) for cell, mark in cells]


@dataclass(frozen=True)
class Table:
    """A table of text, which renderers show in a terminal, in Markdown, in LaTeX and in HTML.

    Attributes:
        columns: all as long.
        title: a line above it, or "".
        left: number of left-aligned columns; the last of them has names that may be shortened.
        text: the last column is free text, which is cut at the edge of a terminal.
    """

    columns: Sequence[Column]
    title: str = ""
    left: int = 1
    text: bool = False

    @classmethod
    def of(
        cls, header: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", left: int = 1
    ) -> Table:
        """Return a table of rows."""
        return cls([Column(name, c) for name, *c in zip(header, *rows, strict=True)], title, left)

    @property
    def header(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Cells with their marks, row by row."""
        return [*zip(*(column.marked for column in self.columns), strict=True)]

    @property
    def width(self) -> int:
        """Columns of a terminal that it takes."""
        return _width([column.lines for column in self.columns])

    def is_best(self, row: int, column: int) -> bool:
        """Return whether a cell is bold."""
        return row in self.columns[column].best


def as_text(table: Table, width: int | None, *, squeeze: bool = True) -> str:
    """Return the table as text.

    Columns that a terminal has no room for follow in a table below.

    Args:
        table: the table.
        width: columns of the terminal; best cells are bold, unless NO_COLOR is set.
        squeeze: shorten names to a third of their length at most, if all columns fit then and
            names stay apart.
    """
    columns = [column.lines for column in table.columns]
    last = columns.pop() if table.text else []
    if width:
        names = columns[table.left - 1]
        longest = max(map(len, names))
        room = longest - (_width(columns) - width)
        distinct = len({short(name, max(room, 2)) for name in names}) == len({*names})
        if not squeeze or room < max(_NARROWEST, longest // 3) or not distinct:
            room = width // 2
        columns[table.left - 1] = [short(name, room) for name in names]
    shows_bold = width and not os.environ.get("NO_COLOR")
    parts = []
    for places in _blocks(columns, width, table.left):
        bold = {
            (row + 1, place)
            for place, column in enumerate(places)
            for row in (table.columns[column].best if shows_bold else ())
        }
        rows = [*zip(*(columns[column] for column in places), strict=True)]
        parts.append(aligned(rows, left=table.left, bold=bold))
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
        offset = sum(other.width + len(_GAP) for other in last)
        if last and offset + table.width <= room and len(last[-1].rows) == len(table.rows):
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
    """Print text with bold figures, in ASCII where stdout's encoding has not all marks."""
    print(text if shows_glyphs(sys.stdout) else text.translate(_ASCII), flush=True)


def shows_glyphs(file: TextIO) -> bool:
    """Return whether a file's encoding has the marks of differences."""
    try:
        "▲▼".encode(getattr(file, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


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


def _width(columns: Iterable[Sequence[str]]) -> int:
    return sum(max(map(len, column)) + 2 for column in columns) - 2


def _blocks(columns: Sequence[Sequence[str]], width: int | None, left: int) -> list[list[int]]:
    """The columns of each part of a table that is too wide; all have the left-aligned ones."""
    parts: list[list[int]] = [[*range(left)]]
    for column in range(left, len(columns)):
        part = parts[-1]
        if width and len(part) > left and _width(columns[c] for c in [*part, column]) > width:
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
    header, *rows = _escaped(table, markdown_text, "**{}**")
    rule = "|" + "---|" * table.left + "---:|" * (len(header) - table.left)
    lines = ["| " + " | ".join(row) + " |" for row in [header, *rows]]
    title = [f"**{markdown_text(table.title)}**", ""] if table.title else []
    return "\n".join([*title, lines[0], rule, *lines[1:]])


def as_latex(table: Table) -> str:
    """Return the table as a `tabular` with the rules of booktabs."""
    header, *rows = (f"{' & '.join(r)} \\\\" for r in _escaped(table, _latex, r"\textbf{{{}}}"))
    alignment = "l" * table.left + "r" * (len(table.columns) - table.left)
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            *([f"% {_latex(table.title)}"] if table.title else []),
            rf"\begin{{tabular}}{{{alignment}}}",
            *(r"\toprule", header, r"\midrule", *rows, r"\bottomrule"),
            r"\end{tabular}",
        ]
    )


def _escaped(table: Table, escape: Callable[[str], str], bold: str) -> list[list[str]]:
    """The header and the rows of a table in a markup."""
    rows = [
        [
            bold.format(escape(text)) if table.is_best(number, column) else escape(text)
            for column, text in enumerate(row)
        ]
        for number, row in enumerate(table.rows)
    ]
    return [[*map(escape, table.header)], *rows]


def markdown_text(text: str) -> str:
    """Escape a text for Markdown, in one line."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def _latex(text: str) -> str:
    signed = _MINUS.sub("−", one_line(text))
    return "".join(_LATEX.get(character, character) for character in signed)
