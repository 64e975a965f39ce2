"""How far systems are from a baseline: differences, 95 % intervals, effect sizes.

A line for each system and measure: the mean difference over topics with Student's 95 % interval,
Cohen's d for pairs (the mean difference in standard deviations of the differences), and the p-value
after Holm's correction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.reports.columns import aligned
from irplatform.runs.names import alone_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.evaluation import Comparison

_HEADER = ("system", "measure", "difference", "95 % interval", "d", "p")
_SMALLEST = 0.0001
"""Smaller p-values are shown as below this."""


def render_effects(
    comparisons: Mapping[str, Mapping[str, Comparison]], measures: Sequence[str], baseline: str
) -> str:
    """Render comparisons with a baseline as plain text.

    Args:
        comparisons: system to measure to comparison; NAME-alone follows NAME as "alone".
        measures: the measures, in the order to show them.
        baseline: the run that all were compared with.
    """
    topics = {c.n for by_measure in comparisons.values() for c in by_measure.values()}
    over = " or ".join(f"{n:,}" for n in sorted(topics))
    return "\n".join(
        [
            f"Differences from {baseline} over {over} topics",
            "",
            *aligned([_HEADER, *_lines(comparisons, measures)], left=2),
            "d: difference in standard deviations of the differences; p: paired t-test, "
            "Holm's correction",
        ]
    )


def _lines(
    comparisons: Mapping[str, Mapping[str, Comparison]], measures: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    alone_names = {alone_name(name) for name in comparisons}
    for name, by_measure in comparisons.items():
        label = "  alone" if name in alone_names else name
        for measure in measures:
            if measure in by_measure:
                yield (label, measure, *_cells(by_measure[measure]))
                label = ""


def _cells(comparison: Comparison) -> tuple[str, str, str, str]:
    if comparison.low is None or comparison.high is None:
        interval = "-"
    else:
        interval = f"[{comparison.low:+.4f}, {comparison.high:+.4f}]"
    effect = "-" if comparison.effect_size is None else f"{comparison.effect_size:+.2f}"
    chance = "-"
    if comparison.p is not None:
        chance = f"<{_SMALLEST}" if comparison.p < _SMALLEST else f"{comparison.p:.4f}"
    return f"{comparison.difference:+.4f}", interval, effect, chance
