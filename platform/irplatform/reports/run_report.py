"""What a run reports: each system's scores, what seeds change of them, and how they compare.

A reranker that was trained with several seeds is reported by the mean over them; what is compared
with the first stage is then each topic's mean.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from statistics import stdev
from typing import TYPE_CHECKING, Any

from irplatform.errors import for_display
from irplatform.evaluation.significance import comparisons_json
from irplatform.reports.table import ResultRow, aligned, marks, render_table, shows_glyphs
from irplatform.retrieval.candidates import Provenance
from irplatform.runs.names import alone_name
from irplatform.system.console import say, terminal_width, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.evaluation.significance import Comparison


# How far systems are from a baseline: differences, 95 % intervals, effect sizes.
#
# A line for each system and measure: the mean difference over topics with Student's 95 % interval,
# Cohen's d for pairs (the mean difference in standard deviations of the differences), and the
# p-value after Holm's correction.

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


@dataclass(frozen=True)
class SeedResult:
    """A reranker trained with one of several seeds.

    Attributes:
        seed: the seed.
        path: its final run.
        interpolation: the first stage's share in it.
        measures: measure name to mean over topics.
        measures_alone: what the reranker's own scores give.
    """

    seed: int
    path: Path
    interpolation: float
    measures: Mapping[str, float]
    measures_alone: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """An entry of `seeds`."""
        return {
            "seed": self.seed,
            "path": str(self.path),
            "measures": dict(self.measures),
            "interpolation": self.interpolation,
            "measures_alone": dict(self.measures_alone),
        }


@dataclass(frozen=True)
class SystemResult:
    """One run, written and scored; or, of several seeds, their mean.

    Attributes:
        name: the system.
        path: its run file; of several seeds the first one's.
        measures: measure name to mean; empty where the collection has no judgments.
        per_topic: measure name to topic id to value.
        seconds: per stage; of all seeds together.
        interpolation: the first stage's share in a reranker's final run.
        measures_alone: what the reranker's own scores give.
        remark: what a reader of the scores must know.
        seeds: the results of each seed, where there were several.
        warnings: what was said of it on the way, such as that it learned from evaluated topics.
        results: how many documents its run has for each topic that it finds some for.
    """

    name: str
    path: Path
    measures: Mapping[str, float]
    per_topic: Mapping[str, Mapping[str, float]] = field(repr=False)
    seconds: Mapping[str, float]
    interpolation: float | None = None
    measures_alone: Mapping[str, float] | None = None
    remark: str = ""
    seeds: Sequence[SeedResult] = ()
    warnings: Sequence[str] = ()
    results: Sequence[int] = field(default=(), repr=False)

    def spread(self, *, own_scores: bool = False) -> dict[str, dict[str, float]]:
        """Per measure, `std` (n - 1), `min` and `max` over seeds; empty where there was one seed.

        Args:
            own_scores: of the reranker alone.
        """
        per_seed = [seed.measures_alone if own_scores else seed.measures for seed in self.seeds]
        spread = {}
        for measure in per_seed[0] if per_seed else ():
            values = [measures[measure] for measures in per_seed]
            spread[measure] = {"std": stdev(values), "min": min(values), "max": max(values)}
        return spread

    def as_json(self) -> dict[str, Any]:
        """The entry of `platform run --json`."""
        entry: dict[str, Any] = {
            "name": self.name,
            "path": str(self.path),
            "measures": dict(self.measures),
            "seconds": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
        }
        if self.interpolation is not None:
            entry["interpolation"] = self.interpolation
            entry["measures_alone"] = dict(self.measures_alone or {})
        if self.seeds:
            entry["seeds"] = [seed.as_json() for seed in self.seeds]
            entry["spread"] = self.spread()
            entry["spread_alone"] = self.spread(own_scores=True)
        if self.remark:
            entry["remark"] = self.remark
        return entry

    @property
    def label(self) -> str:
        """Its name in the table, with what a reranker's final run is made of."""
        details = [] if self.interpolation is None else [f"first stage × {self.interpolation:.2f}"]
        details += [f"mean of {len(self.seeds)} seeds"] if self.seeds else []
        return f"{self.name} ({', '.join(details)})" if details else self.name

    def rows(self, own: Mapping[str, int], alone: Mapping[str, int]) -> Iterator[ResultRow]:
        """Its lines in the table, given the marks of its final run and of its own scores."""
        yield ResultRow(self.label, self.measures, own, seconds=sum(self.seconds.values()))
        yield from _spread_rows(self.spread(), 1)
        if self.measures_alone is not None:
            yield ResultRow("alone", self.measures_alone, alone, 1)
            yield from _spread_rows(self.spread(own_scores=True), 2)


_COUNTED = ("system", "topics", "results per topic", "seconds")


def _counts(system: SystemResult) -> tuple[str, ...]:
    """A line of the table of runs that have no scores."""
    least, most = min(system.results, default=0), max(system.results, default=0)
    results = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    seconds = f"{sum(system.seconds.values()):.1f}"
    return system.label, f"{len(system.results):,}", results, seconds


def _spread_rows(spread: Mapping[str, Mapping[str, float]], indent: int) -> Iterator[ResultRow]:
    for name in ("std", "min", "max") if spread else ():
        values = {measure: figures[name] for measure, figures in spread.items()}
        yield ResultRow(f"{name} of the seeds", values, indent=indent, aside=True)


@dataclass(frozen=True, repr=False)
class RunReport:
    """All runs of a command.

    Attributes:
        collection: the collection's id.
        note: what a reader of the scores must know.
        measures: names, in the order of the table.
        systems: the retrievers, their fusion, the rerankers.
        baseline: the run that others are tested against: the first stage that rerankers start from;
            without rerankers, the first retriever's.
        comparisons: reranker (and NAME-alone), or retriever, to measure to comparison with the
            baseline.
        candidates: which documents the rerankers were given.
        warnings: what a reader of the scores must know and was told on the way.
        cut_short: lines about measures that look deeper than the runs, or rerankers, go.
    """

    collection: str
    note: str
    measures: Sequence[str]
    systems: Sequence[SystemResult]
    baseline: str
    comparisons: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)
    candidates: Provenance = field(default_factory=Provenance)
    warnings: Sequence[str] = ()
    cut_short: Sequence[str] = ()

    @property
    def scored(self) -> bool:
        """Whether there were judgments to score the runs with."""
        return any(system.measures for system in self.systems)

    def as_json(self) -> dict[str, Any]:
        """What `platform run --json` prints."""
        content: dict[str, Any] = {
            "collection": self.collection,
            "candidates": dict(self.candidates.facts),
            "warnings": [*self.warnings, *self.cut_short],
            "runs": [system.as_json() for system in self.systems],
        }
        if self.comparisons:
            content["comparisons"] = comparisons_json(self.baseline, self.comparisons)
        return content

    def print_table(self, *, effects: bool = False) -> None:
        """Print the table that ends a run; without judgments, how many results each run has.

        Args:
            effects: print the differences from the baseline below it.
        """
        width = terminal_width(sys.stdout)
        print(self._text(width, ascii_only=not shows_glyphs(sys.stdout)), flush=True)
        if effects and self.comparisons:
            say()
            say(render_effects(self.comparisons, self.measures, self.baseline))

    def __repr__(self) -> str:
        """The table, for `print` and for notebooks."""
        return self._text()

    def _text(self, width: int | None = None, *, ascii_only: bool = False) -> str:
        """The table, and below it what a reader of it must know."""
        told = [*self._share(ascii_only), *self.cut_short]
        told += [f"{system.name}: {system.remark}" for system in self.systems if system.remark]
        if self.candidates.sentence and (self._reranked or not self.candidates.usual):
            told.append(f"Candidates: {self.candidates.sentence}")
        lines = [wrapped(for_display(line), width) for line in told]
        return "\n".join([self._table(width, ascii_only), *lines])

    def _table(self, width: int | None, ascii_only: bool) -> str:
        note = for_display(self.note)
        if not self.scored:
            table = "\n".join(aligned([_COUNTED, *map(_counts, self.systems)]))
            return (f"{wrapped(note, width)}\n\n" if note else "") + for_display(table)
        rows: list[ResultRow] = []
        for system in self.systems:
            own, alone = (
                self.comparisons.get(n, {}) for n in (system.name, alone_name(system.name))
            )
            rows += system.rows(marks(own), marks(alone))
        baseline = self.baseline
        return render_table(
            rows, self.measures, note=note, baseline=baseline, ascii_only=ascii_only, width=width
        )

    @property
    def _reranked(self) -> bool:
        return any(system.interpolation is not None for system in self.systems)

    def _share(self, ascii_only: bool) -> Iterator[str]:
        """What the share of the first stage is that stands beside names."""
        if self._reranked:
            text = f"first stage × W: W of {self.baseline}'s score, 1 − W of the reranker's"
            text += "; alone: W = 0" if self.scored else ""
            if any(system.interpolation == 1 for system in self.systems):
                text += f"; W = 1 leaves {self.baseline}'s ranking"
            yield text.replace("×", "x").replace("−", "-") if ascii_only else text
