"""The report of a run: each system's scores, their spread over seeds, and comparisons.

A reranker that was trained with several seeds is reported by the mean over them; each topic's mean
is compared with the first stage.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from irplatform.comparison.tests import CORRECTION, TEST
from irplatform.errors import InputError, for_display
from irplatform.reports.columns import Table, as_text, print_text
from irplatform.reports.evaluations import html_table, topic_columns
from irplatform.reports.system_result import SystemResult  # noqa: TC001 - of a dataclass
from irplatform.reports.table import (
    ResultRow,
    legend_of,
    marks,
    render_table,
    results_table,
)
from irplatform.retrieval.candidates import Provenance
from irplatform.run_folder.mixture import folds_told, no_weight_told, weights_told
from irplatform.runs import read_run
from irplatform.runs.names import alone_name
from irplatform.spelling import option
from irplatform.system.console import terminal_width, wrapped
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    import polars as pl

    from irplatform.comparison.tests import Correction, Difference, Test
    from irplatform.reports.comparison import ComparisonReport
    from irplatform.runs import Run


@dataclass(frozen=True, repr=False)
class RunReport:
    """All runs of a command.

    Attributes:
        collection: the collection's id.
        note: a note for readers of the scores.
        measures: names, in the order of the table.
        systems: the retrievers, their fusion, the rerankers.
        baseline: the run that others are tested against: the first stage, or without rerankers the
            first retriever's.
        comparisons: system (and NAME-alone) to measure to comparison with the baseline.
        candidates: the documents that the rerankers were given.
        warnings: warnings for readers of the scores, given during the run.
        cut_short: notices of measures that look deeper than the runs go.
        comparing: compares the runs in full, from their files and known scores; None if there is
            nothing to compare.
        first_stage: the name of the run that rerankers were given.
        ceiling: measure name to the score of a perfect reranking of the candidates.
        part: the topics that were asked for, how many were ranked, and of how many; empty if all
            were.
    """

    collection: str
    note: str
    measures: Sequence[str]
    systems: Sequence[SystemResult]
    baseline: str
    comparisons: Mapping[str, Mapping[str, Difference]] = field(default_factory=dict)
    candidates: Provenance = field(default_factory=Provenance)
    warnings: Sequence[str] = ()
    cut_short: Sequence[str] = ()
    comparing: Callable[..., ComparisonReport] | None = field(default=None, compare=False)
    first_stage: str = ""
    ceiling: Mapping[str, float] = field(default_factory=dict)
    part: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The folder of the runs."""
        return self.systems[0].path.parent

    @property
    def scored(self) -> bool:
        """True if judgments gave the runs scores."""
        return any(system.measures for system in self.systems)

    @property
    def runs(self) -> dict[str, Run]:
        """The runs by their systems' names, read from their files."""
        return {system.name: read_run(system.path) for system in self.systems}

    def compare(
        self,
        *,
        baseline: str | None = None,
        all_pairs: bool = False,
        test: Test = "t-test",
        correction: Correction = "holm",
        group_by: str | None = None,
        alone: bool = False,
        seed: int = 0,
    ) -> ComparisonReport:
        """Compare the runs over topics, as `irplatform.compare` does.

        Args:
            baseline: the run that others are compared with; by default the first stage.
            all_pairs: compare every two runs.
            test: "t-test", "randomization", "wilcoxon" or "bootstrap".
            correction: "holm", "bonferroni", "benjamini-hochberg" or "none".
            group_by: a field of the topics, or "query-length".
            alone: rerankers' own scores, not mixed with the first stage's, too.
            seed: of the draws of tests and rank intervals.

        Raises:
            InputError: there are no two scored runs, or a name is wrong.
        """
        if self.comparing is None:
            raise InputError("there is nothing to compare: no judgments, or one run only.")
        return self.comparing(
            baseline=baseline,
            all_pairs=all_pairs,
            test=test,
            correction=correction,
            group_by=group_by,
            alone=alone,
            seed=seed,
        )

    def to_pandas(self, *, per_topic: bool = False) -> pd.DataFrame:
        """Return means and seconds, a row for each system; or the values of topics.

        Args:
            per_topic: columns system, topic, measure and value.

        Raises:
            InputError: pandas is not installed.
        """
        return pandas_frame(self._columns(per_topic))

    def to_polars(self, *, per_topic: bool = False) -> pl.DataFrame:
        """Return what `to_pandas` returns, as a frame of polars."""
        return polars_frame(self._columns(per_topic))

    def _columns(self, per_topic: bool) -> dict[str, list[object]]:
        if per_topic:
            return topic_columns({system.name: system.per_topic for system in self.systems})
        measures = self.measures if self.scored else ()
        return {
            "system": [system.name for system in self.systems],
            **{m: [system.measures.get(m) for system in self.systems] for m in measures},
            **{
                f"{m} alone": [(s.measures_alone or {}).get(m) for s in self.systems]
                for m in measures
                if self._reranked
            },
            "first_stage_share": [system.interpolation for system in self.systems],
            "ranking_of": [system.ranking_of or None for system in self.systems],
            "seconds": [sum(system.seconds.values()) for system in self.systems],
        }

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `platform run`."""
        content: dict[str, Any] = {
            "collection": self.collection,
            "candidates": dict(self.candidates.facts),
            "warnings": [*self.warnings, *self.cut_short],
            "runs": [system.as_json() for system in self.systems],
        }
        if self.ceiling:
            content["ceiling"] = dict(self.ceiling)
        if self.part:
            content["topics chosen"] = dict(self.part)
        if self.comparisons:
            content["comparisons"] = {
                "baseline": self.baseline,
                "test": TEST,
                "correction": CORRECTION,
                "systems": {
                    name: {measure: test.as_json() for measure, test in by_measure.items()}
                    for name, by_measure in self.comparisons.items()
                },
            }
        return content

    def print_table(self) -> None:
        """Print the table that ends a run; without judgments, the number of results."""
        print_text(self._text(terminal_width(sys.stdout)))

    def __repr__(self) -> str:
        """The table, for `print` and notebooks."""
        return self._text()

    def _repr_html_(self) -> str:
        if not self.scored:
            return block(html_table(self._counts()), heading=self.collection)
        rows = self._rows()
        table = results_table(rows, self.measures, seconds="{:,.1f}")
        asides = {number for number, row in enumerate(rows) if row.indent or row.aside}
        notes = [legend_of([table], self.baseline), *self._notes(), self.note]
        return block(html_table(table, asides), heading=self.collection, notes=notes)

    def _text(self, width: int | None = None) -> str:
        """The table, and the notes below it."""
        lines = [wrapped(for_display(line), width) for line in self._notes()]
        return "\n".join([self._table(width), *lines])

    def _notes(self) -> list[str]:
        """Notes below the table."""
        notes = [*part_remark(self.part), *self._share(), *self.cut_short]
        notes += [f"{system.name}: {system.remark}" for system in self.systems if system.remark]
        if self.candidates.sentence and (self._reranked or not self.candidates.usual):
            notes.append(f"Candidates: {self.candidates.sentence}")
        return notes

    def _rows(self) -> list[ResultRow]:
        rows: list[ResultRow] = []
        for system in self.systems:
            tests, alone = (
                self.comparisons.get(n, {}) for n in (system.name, alone_name(system.name))
            )
            rows += system.rows(marks(tests), marks(alone))
        return rows

    def _table(self, width: int | None) -> str:
        note = for_display(self.note)
        if not self.scored:
            counts = as_text(self._counts(), None)
            return (f"{wrapped(note, width)}\n\n" if note else "") + counts
        table = results_table(self._rows(), self.measures)
        return render_table(table, note=note, baseline=self.baseline, width=width)

    def _counts(self) -> Table:
        """The table of runs without scores."""
        rows = []
        for system in self.systems:
            least, most = min(system.results, default=0), max(system.results, default=0)
            results = f"{most:,}" if least == most else f"{least:,} to {most:,}"
            seconds = f"{sum(system.seconds.values()):.1f}"
            rows.append((system.label, f"{len(system.results):,}", results, seconds))
        return Table.of(("system", "topics", "results per topic", "seconds"), rows)

    @property
    def final_stage(self) -> SystemResult:
        """The first stage that rerankers were given."""
        return next(system for system in self.systems if system.name == self.first_stage)

    @property
    def rerankers(self) -> list[SystemResult]:
        """The rerankers' results."""
        return [system for system in self.systems if system.interpolation is not None]

    @property
    def _reranked(self) -> bool:
        return bool(self.rerankers)

    def _share(self) -> Iterator[str]:
        """Explain the weight of the first stage beside names."""
        if self._reranked:
            text = f"first stage × W: W of {self.baseline}'s score, 1 − W of the reranker's"
            yield text + ("; alone: W = 0" if self.scored else "")
        mixtures = {system.name: system.mixture for system in self.systems}
        yield from no_weight_told({s.name: self.baseline for s in self.systems if s.ranking_of})
        yield from (*folds_told(mixtures), *weights_told(mixtures))


def part_remark(part: Mapping[str, Any]) -> list[str]:
    """Mark a report of some topics, in a line; none if all were ranked."""
    if not part:
        return []
    topics = ",".join(part["asked"])
    return [
        f"A quick look: {part['ranked']:,} of {part['of']:,} topics "
        f"({option('topics', topics)}). Not comparable with runs over all topics."
    ]
