"""Whether what a run gave is what was expected of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.reproduction.rows import Row

Verdict = Literal["passed", "failed", "cannot_run", "skipped"]
"""`failed`: a figure is further off, or the run broke down. `cannot_run`: the row has a wrong name
or value. `skipped`: its data is not here."""

_ROUNDING = 1e-9
"""Of decimal figures in binary; a difference of exactly the tolerance is within it."""


@dataclass(frozen=True)
class Judged:
    """A figure beside what was expected.

    Attributes:
        measure: its name.
        alone: whether of the reranker's own scores.
        expected: the figure in the table of results.
        tolerance: how far from it is well.
        obtained: the figure here; None where the run does not report it.
        std: the expected standard deviation over seeds, where there is one; not checked.
    """

    measure: str
    alone: bool
    expected: float
    tolerance: float
    obtained: float | None
    std: float | None = None

    @property
    def passed(self) -> bool:
        """Whether it is within the tolerance."""
        if self.obtained is None:
            return False
        return abs(self.obtained - self.expected) <= self.tolerance + _ROUNDING

    @property
    def verdict(self) -> str:
        """The verdict, in words."""
        if self.passed:
            return "ok"
        if self.obtained is None:
            return "FAILED: not reported"
        difference = self.obtained - self.expected
        return (
            f"FAILED: {abs(difference):.4f} too {'high' if difference > 0 else 'low'}, "
            f"{self.tolerance:g} is allowed"
        )

    def as_json(self) -> dict[str, Any]:
        """An entry of `figures`."""
        return {
            "measure": self.measure,
            "alone": self.alone,
            "expected": self.expected,
            "tolerance": self.tolerance,
            "std": self.std,
            "obtained": self.obtained,
            "verdict": "passed" if self.passed else "failed",
        }


def judge(row: Row, report: Mapping[str, Any]) -> Sequence[Judged]:
    """Compare what `platform run --json` printed with what a row expects."""
    entry: Mapping[str, Any] = next((r for r in report["runs"] if r["name"] == row.name), {})
    return [
        Judged(
            measure,
            alone,
            expected.value,
            row.tolerance if expected.tolerance is None else expected.tolerance,
            entry.get("measures_alone" if alone else "measures", {}).get(measure),
            expected.std,
        )
        for measure, alone, expected in row.figures()
    ]
