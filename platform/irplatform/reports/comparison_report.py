"""A comparison that shows itself in a notebook, and gives frames and plots."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self

from irplatform.comparison.identities import identities_told
from irplatform.comparison.results import Comparison
from irplatform.comparison.sentences import sentences
from irplatform.errors import InputError, for_display, unknown
from irplatform.reports.comparison import render
from irplatform.reports.comparison_tables import (
    has_shares,
    how,
    main_tables,
    matrix_of,
    other_means,
    share_legend,
    shares_of,
    values_of,
)
from irplatform.reports.comparison_values import columns_of
from irplatform.reports.evaluations import html_table
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import Html, block, cell
from irplatform.system.packages import require

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from irplatform.reports.comparison_values import Part

_MOST_TOPICS = 5


@dataclass(frozen=True, repr=False)
class ComparisonReport(Comparison):
    """A comparison, as `irplatform.compare` and the report of a run return it."""

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        """Return a comparison as a report."""
        return cls(**{each.name: getattr(comparison, each.name) for each in fields(Comparison)})

    def to_pandas(self, part: Part = "systems") -> pd.DataFrame:
        """Return a part of the comparison as a frame.

        Args:
            part: "systems" has a row for each system and measure: mean, interval, Judged@k, rank;
                "pairs" one for each pair and measure: difference, interval, effect, p-values,
                topics won, tied and lost, sentence; "topics" one for each system, topic and
                measure; "groups" one for each group of topics, system and measure, with the
                difference from each baseline.

        Raises:
            InputError: pandas is not installed, or there is no such part.

        Examples:
            >>> import irplatform as ir
            >>> one = ir.Run("one", {"1": ir.Ranking.of(["a", "b"], [2.0, 1.0])})
            >>> other = ir.Run("other", {"1": ir.Ranking.of(["b", "a"], [2.0, 1.0])})
            >>> comparison = ir.compare([one, other], qrels={"1": {"b": 1}}, measures="RR")
            >>> comparison.to_pandas("topics")[["system", "topic", "value"]]
              system topic  value
            0    one     1    0.5
            1  other     1    1.0
        """
        return pandas_frame(columns_of(self, part))

    def to_polars(self, part: Part = "systems") -> pl.DataFrame:
        """Return what `to_pandas` returns, as a frame of polars."""
        return polars_frame(columns_of(self, part))

    def plot(
        self,
        kind: Literal["topics", "intervals"] = "topics",
        *,
        system: str | None = None,
        measure: str | None = None,
    ) -> Any:
        """Plot differences, as a chart of Altair.

        Args:
            kind: "topics" has a bar for each topic, the difference of a system from its baseline,
                sorted; "intervals" has the mean difference of each pair with its 95 % interval.
            system: whose topics; by default the first that is compared with a baseline.
            measure: by default the first.

        Raises:
            InputError: Altair is not installed, or there is no such system or measure.
        """
        from irplatform.reports import plots

        require("a plot", "altair")
        measure = self.measures[0] if measure is None else measure
        if measure not in self.measures:
            raise unknown("measure", measure, self.measures, of="this comparison")
        pairs = self.shown_pairs(measure)
        if kind == "intervals":
            title = f"{measure}: difference, 95 % interval"
            return plots.interval_plot(plots.interval_rows(self, measure), title)
        if kind != "topics":
            raise InputError(f"kind is {kind!r}; it is 'topics' or 'intervals'.")
        pair = next((p for p in pairs if system in (None, p.system)), None)
        if pair is None:
            raise unknown("system", str(system), [p.system for p in pairs], of="this comparison")
        title = f"{measure}: {pair.system} − {pair.baseline}"
        return plots.topic_plot(plots.topic_rows(self, pair), title)

    def __repr__(self) -> str:
        """The notes, tables and sentences, for `print`."""
        return "\n".join([*map(for_display, self.notes), render(self)])

    def _repr_html_(self) -> str:
        measure = self.measures[0]
        lines = [*identities_told(self.systems), *sentences(self, measure)]
        told = Html("".join(f"<p>{cell(text)}</p>" for text in lines))
        parts: list[str] = [*map(html_table, main_tables(self, measure)), told]
        if self.matrix:
            matrices = [matrix_of(self, each) for each in self.measures]
            matrices += [shares_of(self)] if has_shares(self) else []
            parts[:0] = map(html_table, matrices)
        elif len(self.measures) > 1:
            parts.append(html_table(other_means(self)))
        if topics := self.most_different(measure, _MOST_TOPICS):
            shown = values_of(self, measure, topics, f"Topics that differ most by {measure}")
            parts += [Html(f'<p class="heading">{cell(shown.title)}</p>'), html_table(shown)]
        count = len(self.topics)
        heading = f"{count:,} topic{'s' if count != 1 else ''}"
        heading = f"{self.collection}: {heading}" if self.collection else heading
        return block(
            *parts,
            heading=heading,
            notes=[
                f"p: {how(self)}; W/T/L: topics won, tied and lost",
                share_legend(self),
                *self.notes,
                self.note,
            ],
        )
