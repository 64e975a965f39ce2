"""The table that ends a run: systems down, measures across, significant differences marked.

A mark is ▲ (better than the baseline) or ▼ (worse), doubled for p < 0.01; it is + or - if the
output cannot show those. Every column keeps room for its longest mark, so that numbers line up. In
LaTeX and Markdown the best values are bold, and the legend is a line of its own, in LaTeX a
comment.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from irplatform.errors import for_display, one_line
from irplatform.system.console import terminal_width, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from irplatform.comparison.tests import Difference


GLYPHS = {True: ("+", "-"), False: ("▲", "▼")}
"""Better and worse; True for plain ASCII."""

_LEVELS = (0.05, 0.01)

_COUNTS = ("NumQ", "NumRel", "NumRet")
"""Measures that are whole numbers, summed over topics."""

_SYSTEM = "system"

_SECONDS = "seconds"

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # which a line break would take for its length
    "*": "{*}",
    "×": r"$\times$",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    **{special: f"\\{special}" for special in "&%$#_{}"},
}

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


@dataclass(frozen=True)
class ResultRow:
    """A system's line in the table.

    Attributes:
        name: the system's name.
        measures: measure name to value; a missing measure shows as "-".
        marks: measure name to significance against the baseline, see `mark`.
        indent: 1 for a variant of the row above ("alone"), else 0.
        seconds: its duration, to be shown.
        aside: it describes the row above (its seeds) and is not a system.
    """

    name: str
    measures: Mapping[str, float]
    marks: Mapping[str, int] = field(default_factory=dict)
    indent: int = 0
    seconds: float | None = None
    aside: bool = False


def mark(comparison: Difference) -> int:
    """Return the significance of a difference, + if better: 0, ±1 for p < 0.05, ±2 for p < 0.01."""
    if comparison.p is None or comparison.difference == 0.0:
        return 0
    strength = sum(comparison.p < level for level in _LEVELS)
    return strength if comparison.difference > 0 else -strength


def marks(comparisons: Mapping[str, Difference]) -> dict[str, int]:
    """Return the marks of a row, by measure."""
    return {measure: mark(comparison) for measure, comparison in comparisons.items()}


def figure(measure: str, value: float) -> str:
    """Format a value with four decimals; whole counts without."""
    count = measure.partition("(")[0] in _COUNTS and value == round(value)
    return f"{value:,.0f}" if count else f"{value:.4f}"


def glyphs(strength: int, ascii_only: bool = False) -> str:
    """Return the mark of a strength, as `mark` gives it; "" for 0."""
    better, worse = GLYPHS[ascii_only]
    return better * strength if strength > 0 else worse * -strength


def shows_glyphs(file: TextIO) -> bool:
    """Return whether a file's encoding has the marks."""
    try:
        "".join(GLYPHS[False]).encode(getattr(file, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


_HOW = "paired t-test, Holm's correction"


def legend_of(
    rows: Sequence[ResultRow], baseline: str, ascii_only: bool = False, how: str = _HOW
) -> str:
    """Explain the marks of a table; "" if it has none."""
    if not any(strength for row in rows for strength in row.marks.values()):
        return ""
    better, worse = GLYPHS[ascii_only]
    than = f" than {baseline}" if baseline else ""
    return (
        f"{better} better{than}, {worse} worse: p < 0.05; {better * 2} {worse * 2} p < 0.01 ({how})"
    )


def best_rows(rows: Sequence[ResultRow], measures: Sequence[str]) -> dict[str, set[int]]:
    """Return, for each measure, the rows with the highest value."""
    best: dict[str, set[int]] = {}
    for measure in measures:
        rounded = {
            n: round(row.measures[measure], 4)
            for n, row in enumerate(rows)
            if measure in row.measures and not row.aside
        }
        best[measure] = {n for n, value in rounded.items() if value == max(rounded.values())}
    return best


def render_table(
    rows: Sequence[ResultRow],
    measures: Sequence[str],
    *,
    note: str = "",
    baseline: str = "",
    ascii_only: bool = False,
    width: int | None = None,
    how: str = _HOW,
) -> str:
    """Render results as plain text.

    Args:
        rows: the systems, in the order to show them.
        measures: the measures, in the order to show them.
        note: a note above the table.
        baseline: the row that the marks refer to.
        ascii_only: use `+` and `-` for ▲ and ▼, and `x` for ×.
        width: columns of the terminal: best values are bold, unless NO_COLOR is set, and measures
            that do not fit follow in a table below.
        how: the test and correction behind the marks.

    Returns:
        Lines without trailing white space and without a final line break.
    """
    header, cells = _cells(rows, measures, ascii_only)
    if width:
        cells = [[short(row[0], width // 2), *row[1:]] for row in cells]
    table = [header, *cells]
    best = best_rows(rows, measures) if width and not os.environ.get("NO_COLOR") else {}
    bold = {
        (number + 1, column)
        for column, measure in enumerate(measures, start=1)
        for number in best.get(measure, ())
    }
    parts = []
    for columns in blocks(table, width):
        part = [[row[column] for column in columns] for row in table]
        placed = {(row, columns.index(c)) for row, c in bold if c in columns}
        parts.append("\n".join(aligned(part, bold=placed)))
    lines = [*([note, ""] if note else []), "\n\n".join(parts)]
    legend = legend_of(rows, baseline, ascii_only, how)
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
    """Print results, fitted to a terminal; see `render_table`."""
    out = sys.stdout if file is None else file
    note = for_display(note)
    ascii_only = not shows_glyphs(out)
    width = terminal_width(out)
    text = render_table(
        rows, measures, note=note, baseline=baseline, ascii_only=ascii_only, width=width
    )
    print(text, file=out)


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


def blocks(table: Sequence[Sequence[str]], width: int | None) -> list[list[int]]:
    """Return the columns of each part of a table that is too wide; all have the first."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    parts: list[list[int]] = [[0]]
    for column in range(1, len(widths)):
        part = parts[-1]
        if width and len(part) > 1 and sum(widths[c] + 2 for c in [*part, column]) - 2 > width:
            parts.append(part := [0])
        part.append(column)
    return parts


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


def short(name: str, widest: int) -> str:
    """Shorten a name in its middle."""
    return name if len(name) <= widest else f"{name[: widest // 2]}…{name[1 - widest // 2 :]}"


def markdown_table(
    rows: Sequence[ResultRow], measures: Sequence[str], *, baseline: str = ""
) -> str:
    """Render results as a table of GitHub's Markdown; see `render_table`."""
    cells = _markup_cells(rows, measures, markdown_text, "**{}**".format, glyphs)
    header, *body = ["| " + " | ".join(line) + " |" for line in cells]
    legend = legend_of(rows, baseline)
    lines = [header, "|---|" + "---:|" * len(measures), *body]
    return "\n".join([*lines, *(["", markdown_text(legend)] if legend else [])])


def latex_table(rows: Sequence[ResultRow], measures: Sequence[str], *, baseline: str = "") -> str:
    """Render results as a `tabular` of LaTeX with the rules of booktabs; see `render_table`."""
    cells = _markup_cells(rows, measures, latex_text, r"\textbf{{{}}}".format, _superscript)
    header, *body = [" & ".join(line) + r" \\" for line in cells]
    legend = legend_of(rows, baseline)
    lines = [
        rf"% \usepackage{{{'booktabs,amssymb' if legend else 'booktabs'}}}",
        *([f"% {latex_text(legend)}"] if legend else []),
        rf"\begin{{tabular}}{{l{'r' * len(measures)}}}",
        r"\toprule",
        header,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _markup_cells(
    rows: Sequence[ResultRow],
    measures: Sequence[str],
    escaped: Callable[[str], str],
    bold: Callable[[str], str],
    marked: Callable[[int], str],
) -> list[list[str]]:
    best = best_rows(rows, measures)
    body = []
    for number, row in enumerate(rows):
        line = [escaped(row.name)]
        for measure in measures:
            if (value := row.measures.get(measure)) is None:
                line.append("-")
                continue
            text = figure(measure, value)
            text = bold(text) if len(rows) > 1 and number in best[measure] else text
            line.append(text + marked(row.marks.get(measure, 0)))
        body.append(line)
    return [["system", *map(escaped, measures)], *body]


def _superscript(strength: int) -> str:
    signs = glyphs(strength)
    return "$^{" + "".join(_LATEX[sign].strip("$") for sign in signs) + "}$" if signs else ""


def latex_text(text: str) -> str:
    """Escape a text for LaTeX, in one line."""
    text = one_line(text)
    return "".join(_LATEX.get(character, character) for character in text)


def markdown_text(text: str) -> str:
    """Escape a text for Markdown, in one line."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))
