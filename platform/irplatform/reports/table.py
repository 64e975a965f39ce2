"""The table that ends a run: systems down, measures across, significant differences marked.

A mark is ▲ (better than the baseline) or ▼ (worse), doubled for p < 0.01; it is + or - if the
output cannot show those. Every column keeps room for its longest mark, so that numbers line up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from irplatform.reports.columns import Table, as_text
from irplatform.system.console import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.comparison.tests import Difference
    from irplatform.run_folder.mixture import Mixture


GLYPHS = {True: ("+", "-"), False: ("▲", "▼")}
"""Better and worse; True for plain ASCII."""

FOUND, CEILING = "as found", "ceiling"
"""The columns of a matrix before and after those of the rerankers."""

SAME = " ="
"""The mark of a reranker that was given no weight: the figure is its first stage's."""

SAME_TOLD = "=: the first stage's ranking, since the reranker was given no weight (W = 1)"

OF_ROW = "the row's first stage"
"""The baseline of the rerankers of a matrix, in words."""

_LEVELS = (0.05, 0.01)

_COUNTS = ("NumQ", "NumRel", "NumRet")
"""Measures that are whole numbers, summed over topics."""

_SYSTEM = "system"

_SECONDS = "seconds"


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
        borrowed: its ranking is another row's, so that none of its figures is the best.
    """

    name: str
    measures: Mapping[str, float]
    marks: Mapping[str, int] = field(default_factory=dict)
    indent: int = 0
    seconds: float | None = None
    aside: bool = False
    borrowed: bool = False

    @property
    def contends(self) -> Mapping[str, float]:
        """The figures that may be the best of a column."""
        return {} if self.aside or self.borrowed else self.measures


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
    marked = any(strength for row in rows for strength in row.marks.values())
    return legend_of_marks(baseline, ascii_only, how) if marked else ""


def legend_of_marks(baseline: str, ascii_only: bool = False, how: str = _HOW) -> str:
    """Explain the marks of differences from a baseline."""
    better, worse = GLYPHS[ascii_only]
    than = f" than {baseline}" if baseline else ""
    return (
        f"{better} better{than}, {worse} worse: p < 0.05; {better * 2} {worse * 2} p < 0.01 ({how})"
    )


def best_cells(
    means: Sequence[Mapping[str, float]], measures: Sequence[str]
) -> frozenset[tuple[int, int]]:
    """Return rows and columns of the highest values, by measure; the first measure is column 1."""
    best = set()
    for column, measure in enumerate(measures, start=1):
        rounded = {n: round(row[measure], 4) for n, row in enumerate(means) if measure in row}
        best |= {(n, column) for n, value in rounded.items() if value == max(rounded.values())}
    return frozenset(best)


def matrix_table(
    measure: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Mapping[str, tuple[float, str]] | None]],
) -> Table:
    """Return a matrix by one measure; the best figure of each row is bold, but for the ceiling.

    Args:
        measure: its name.
        columns: `FOUND`, the rerankers, perhaps `CEILING`.
        rows: a first stage with value and mark by column, or a heading with None.
    """
    room = {
        c: max((len(cells[c][1]) for _, cells in rows if cells and c in cells), default=0)
        for c in columns
    }
    body: list[list[str]] = []
    for name, cells in rows:
        if cells is None:
            body.append([name, *("" for _ in columns)])
            continue
        line = [name]
        for column in columns:
            value, marked = cells.get(column, (None, ""))
            text = "-" if value is None else figure(measure, value)
            line.append(text + marked.ljust(room[column]))
        body.append(line)
    best = set()
    for number, (_, cells) in enumerate(rows):
        found = {
            c: round(v, 4) for c, (v, m) in (cells or {}).items() if c != CEILING and m != SAME
        }
        best |= {
            (number, 1 + columns.index(c)) for c, v in found.items() if v == max(found.values())
        }
    header = [measure, *(column + " " * room[column] for column in columns)]
    return Table("", header, body, best=frozenset(best))


def share_table(columns: Sequence[str], rows: Mapping[str, Mapping[str, Mixture]]) -> Table:
    """Return the table of W: the shares of the first stages, down, in the rerankers' runs."""
    body = [
        [row, *(cells[c].share_text if c in cells else "-" for c in columns)]
        for row, cells in rows.items()
    ]
    return Table("", ["W", *columns], body)


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
    best = best_cells([row.contends for row in rows], measures)
    text = as_text(Table("", header, cells, best=best), width, squeeze=False)
    legend = legend_of(rows, baseline, ascii_only, how)
    above = [wrapped(note, width), ""] if note else []
    return "\n".join([*above, text, *([wrapped(legend, width)] if legend else [])])


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
        for m in measures:
            text = figure(m, row.measures[m]) if m in row.measures else "-"
            line.append(text + glyphs(row.marks.get(m, 0), ascii_only).ljust(room[m]))
        if timed:
            line.append("" if row.seconds is None else f"{row.seconds:.1f}")
        body.append(line)
    return header, body
