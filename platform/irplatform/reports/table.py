"""The table that ends a run: systems down, measures across, significant differences marked.

A mark is ▲ (better than the baseline) or ▼ (worse), doubled where p < 0.01; it is + or - where the
output cannot show those. Every column keeps room for its longest mark, so that the numbers line up.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from irplatform.reports.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation import Comparison

_GLYPHS = {True: ("+", "-"), False: ("▲", "▼")}
"""Better and worse; True for plain ASCII."""
_LEVELS = (0.05, 0.01)
_SYSTEM = "system"
_SECONDS = "seconds"
_COUNTS = ("NumQ", "NumRel", "NumRet")
"""Measures that are whole numbers, summed over topics."""


@dataclass(frozen=True)
class ResultRow:
    """A system's line in the table.

    Attributes:
        name: what the system is called.
        measures: measure name to value; a measure that is missing shows as "-".
        marks: measure name to significance against the baseline, see `mark`.
        indent: 1 for a variant of the row above ("alone"), 0 otherwise.
        seconds: how long it took, if that is to be shown.
        aside: whether it tells about the row above (what seeds change) and is no system of its own.
    """

    name: str
    measures: Mapping[str, float]
    marks: Mapping[str, int] = field(default_factory=dict)
    indent: int = 0
    seconds: float | None = None
    aside: bool = False


def mark(comparison: Comparison) -> int:
    """How significant a difference is: 0 is not, ±1 is p < 0.05, ±2 is p < 0.01; + is better.

    The p-value is the corrected one where there is one.
    """
    p_value = comparison.p_value if comparison.adjusted_p is None else comparison.adjusted_p
    if p_value is None or comparison.difference == 0.0:
        return 0
    strength = sum(p_value < level for level in _LEVELS)
    return strength if comparison.difference > 0 else -strength


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
    legend = _legend(rows, baseline, ascii_only)
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
    ascii_only = not _can_show(out, "".join(_GLYPHS[False]))
    if not out.isatty():
        text = render_table(rows, measures, note=note, baseline=baseline, ascii_only=ascii_only)
        print(text, file=out)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    header, cells = _cells(rows, measures, ascii_only)
    best = _best(rows, measures)
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
    if legend := _legend(rows, baseline, ascii_only):
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
            line.append(text + _glyphs(row.marks.get(measure, 0), ascii_only).ljust(room[measure]))
        if timed:
            line.append("" if row.seconds is None else f"{row.seconds:.1f}")
        body.append(line)
    return header, body


def figure(measure: str, value: float) -> str:
    """A value as tables show it: with four decimals, a count without; means of counts have some."""
    count = measure.partition("(")[0] in _COUNTS and value == round(value)
    return f"{value:,.0f}" if count else f"{value:.4f}"


def _glyphs(strength: int, ascii_only: bool) -> str:
    better, worse = _GLYPHS[ascii_only]
    return better * strength if strength > 0 else worse * -strength


def _legend(rows: Sequence[ResultRow], baseline: str, ascii_only: bool) -> str:
    if not any(strength for row in rows for strength in row.marks.values()):
        return ""
    better, worse = _GLYPHS[ascii_only]
    than = f" than {baseline}" if baseline else ""
    return (
        f"{better} better{than}, {worse} worse: p < 0.05; {better * 2} {worse * 2} p < 0.01 "
        "(paired t-test, Holm's correction)"
    )


def _best(rows: Sequence[ResultRow], measures: Sequence[str]) -> dict[str, set[int]]:
    """For each measure, the rows that show the highest value."""
    best: dict[str, set[int]] = {}
    for measure in measures:
        rounded = {
            n: round(row.measures[measure], 4)
            for n, row in enumerate(rows)
            if measure in row.measures and not row.aside
        }
        best[measure] = {n for n, value in rounded.items() if value == max(rounded.values())}
    return best


def _can_show(file: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(file, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
