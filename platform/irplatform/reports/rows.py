"""What a table of results consists of: rows, figures, marks of significance and their legend.

A mark is ▲ (better than the baseline) or ▼ (worse), doubled where p < 0.01; it is + or - where the
output cannot show those.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation import Comparison

GLYPHS = {True: ("+", "-"), False: ("▲", "▼")}
"""Better and worse; True for plain ASCII."""
_LEVELS = (0.05, 0.01)
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
    """How significant a difference is: 0 is not, ±1 is p < 0.05, ±2 is p < 0.01; + is better."""
    if comparison.p is None or comparison.difference == 0.0:
        return 0
    strength = sum(comparison.p < level for level in _LEVELS)
    return strength if comparison.difference > 0 else -strength


def marks(comparisons: Mapping[str, Comparison]) -> dict[str, int]:
    """The marks of a row, by measure."""
    return {measure: mark(comparison) for measure, comparison in comparisons.items()}


def figure(measure: str, value: float) -> str:
    """A value as tables show it: with four decimals, a count without; means of counts have some."""
    count = measure.partition("(")[0] in _COUNTS and value == round(value)
    return f"{value:,.0f}" if count else f"{value:.4f}"


def glyphs(strength: int, ascii_only: bool = False) -> str:
    """The mark of a strength, as `mark` gives it; nothing for 0."""
    better, worse = GLYPHS[ascii_only]
    return better * strength if strength > 0 else worse * -strength


def legend_of(rows: Sequence[ResultRow], baseline: str, ascii_only: bool = False) -> str:
    """What the marks of a table mean; "" where it has none."""
    if not any(strength for row in rows for strength in row.marks.values()):
        return ""
    better, worse = GLYPHS[ascii_only]
    than = f" than {baseline}" if baseline else ""
    return (
        f"{better} better{than}, {worse} worse: p < 0.05; {better * 2} {worse * 2} p < 0.01 "
        "(paired t-test, Holm's correction)"
    )


def best_rows(rows: Sequence[ResultRow], measures: Sequence[str]) -> dict[str, set[int]]:
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
