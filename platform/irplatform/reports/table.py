"""The table that ends a run: systems down, measures across, significant differences marked.

A mark is ▲ (better than the baseline) or ▼ (worse), doubled for p < 0.01; it is + or - where the
output cannot show those.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from irplatform.reports.columns import Column, Table, as_text
from irplatform.system.console import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.comparison.tests import Difference
    from irplatform.run_folder.mixture import Mixture


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

_HOW = "paired t-test, Holm's correction"


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
    def contends(self) -> bool:
        """Whether its figures may be the best of a column."""
        return not (self.aside or self.borrowed)


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


def glyphs(strength: int) -> str:
    """Return the mark of a strength, as `mark` gives it; "" for 0."""
    return "▲" * strength if strength > 0 else "▼" * -strength


def legend_of(tables: Iterable[Table], baseline: str, test: str = _HOW) -> str:
    """Explain the marks of differences from a baseline; "" if no table has any."""
    marked = (mark for table in tables for column in table.columns for mark in column.marks)
    if not any(mark.strip(SAME) for mark in marked):
        return ""
    than = f" than {baseline}" if baseline else ""
    return f"▲ better{than}, ▼ worse: p < 0.05; ▲▲ ▼▼ p < 0.01 ({test})"


def measure_column(
    measure: str,
    values: Sequence[float | None],
    *,
    contends: Sequence[bool] = (),
    marks: Sequence[str] = (),
) -> Column:
    """Return the column of a measure, in which the highest values are bold.

    Args:
        measure: its name.
        values: None where a row has none.
        contends: whether each row may be the best; by default all may.
        marks: of the rows.
    """
    cells = ["-" if value is None else figure(measure, value) for value in values]
    rounded = {
        row: round(value, 4)
        for row, value in enumerate(values)
        if value is not None and (not contends or contends[row])
    }
    return Column(measure, cells, best_of(rounded), marks)


Key = TypeVar("Key")


def best_of(values: Mapping[Key, float]) -> set[Key]:
    """Return the keys of the highest value."""
    return {key for key, value in values.items() if value == max(values.values())}


def matrix_table(
    measure: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Mapping[str, tuple[float, str]]]],
) -> Table:
    """Return a matrix by one measure; the best figure of each row is bold, but for the ceiling.

    Args:
        measure: its name.
        columns: `FOUND`, the rerankers, perhaps `CEILING`.
        rows: a first stage with value and mark by column, or a heading with none.
    """
    best = [
        best_of(
            {
                name: round(value, 4)
                for name, (value, mark) in cells.items()
                if name != CEILING and mark != SAME
            }
        )
        for _, cells in rows
    ]

    def column(name: str) -> Column:
        entries = [cells.get(name) for _, cells in rows]
        return Column(
            name,
            [
                figure(measure, cell[0]) if cell else "-" * bool(cells)
                for cell, (_, cells) in zip(entries, rows, strict=True)
            ],
            [row for row, names in enumerate(best) if name in names],
            [cell[1] if cell else "" for cell in entries],
        )

    return Table([Column(measure, [name for name, _ in rows]), *map(column, columns)])


def share_table(columns: Sequence[str], rows: Mapping[str, Mapping[str, Mixture]]) -> Table:
    """Return the table of W: the shares of the first stages, down, in the rerankers' runs."""
    body = [
        [row, *(cells[c].share_text if c in cells else "-" for c in columns)]
        for row, cells in rows.items()
    ]
    return Table.of(["W", *columns], body)


def results_table(
    rows: Sequence[ResultRow], measures: Sequence[str], *, seconds: str = "{:.1f}"
) -> Table:
    """Return results as a table: systems, measures, and seconds if they are to be shown.

    `seconds` is the format of durations.
    """
    columns = [
        measure_column(
            m,
            [row.measures.get(m) for row in rows],
            contends=[row.contends for row in rows],
            marks=[glyphs(row.marks.get(m, 0)) for row in rows],
        )
        for m in measures
    ]
    if any(row.seconds is not None for row in rows):
        spent = ["" if row.seconds is None else seconds.format(row.seconds) for row in rows]
        columns.append(Column("seconds", spent))
    return Table([Column("system", ["  " * row.indent + row.name for row in rows]), *columns])


def render_table(
    table: Table, *, note: str = "", baseline: str = "", width: int | None = None, test: str = _HOW
) -> str:
    """Return a table of results as text, with the legend of its marks.

    Args:
        table: of `results_table`.
        note: a note above the table.
        baseline: the row that the marks refer to.
        width: columns of the terminal: best values are bold, unless NO_COLOR is set, and measures
            that do not fit follow in a table below.
        test: the test and correction behind the marks.

    Returns:
        Lines without trailing white space and without a final line break.
    """
    legend = legend_of([table], baseline, test)
    above = [wrapped(note, width), ""] if note else []
    text = as_text(table, width, squeeze=False)
    return "\n".join([*above, text, *([wrapped(legend, width)] if legend else [])])
