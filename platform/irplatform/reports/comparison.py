"""A comparison as text, Markdown, LaTeX or CSV, in a notebook, as frames and as plots.

Text fits a screen: a table by the first measure, the means by the others, a sentence for each pair,
and the topics that differ most. Further parts come if asked for: all measures, bounds, groups,
topics.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self

from irplatform.comparison.identities import identities_told
from irplatform.comparison.results import Comparison
from irplatform.comparison.sentences import sentences
from irplatform.errors import InputError, counted, for_display, unknown
from irplatform.reports.columns import (
    NARROWEST_TEXT,
    Table,
    as_latex,
    as_markdown,
    as_text,
    markdown_text,
    print_text,
    side_by_side,
)
from irplatform.reports.comparison_tables import (
    bound_tables,
    extremes_of,
    group_tables,
    main_tables,
    matrix_of,
    method_in_words,
    other_means,
    share_legend,
    share_tables,
    topic_tables,
    values_of,
)
from irplatform.reports.evaluations import html_table
from irplatform.reports.statistic_columns import columns_of, csv_of
from irplatform.reports.table import (
    CEILING,
    FOUND,
    OF_ROW,
    SAME_TOLD,
    legend_of,
    render_table,
)
from irplatform.system.console import say, terminal_width, wrapped
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import Html, block, cell
from irplatform.system.packages import require

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    import polars as pl

    from irplatform.reports.statistic_columns import Part

Form = Literal["text", "markdown", "latex", "csv"]

_ARROWS = str.maketrans({"▲": "↑", "▼": "↓"})
"""Marks as LaTeX shows them."""

_MOST_TOPICS = 5


@dataclass(frozen=True)
class Parts:
    """The parts to show.

    Attributes:
        every_measure: the table and sentences by every measure, not by the first alone.
        bounds: condensed lists, and bounds for unjudged and tied documents.
        per_topic: the values of every topic.
        means: the means by the other measures, and a heading in text.
    """

    every_measure: bool = False
    bounds: bool = False
    per_topic: bool = False
    means: bool = True


@dataclass(frozen=True, repr=False)
class ComparisonReport(Comparison):
    """A comparison, as `irplatform.compare` and the report of a run return it."""

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        """Return a comparison as a report."""
        return cls(**{field.name: getattr(comparison, field.name) for field in fields(Comparison)})

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
        paragraphs = Html("".join(f"<p>{cell(text)}</p>" for text in _sentences(self, Parts())))
        parts: list[str] = [
            *map(html_table, [*_matrices(self), *main_tables(self, measure)]),
            paragraphs,
        ]
        if _shows_others(self, Parts()):
            parts.append(html_table(other_means(self)))
        if topics := self.most_different(measure, _MOST_TOPICS):
            table = values_of(self, measure, topics, f"Topics that differ most by {measure}")
            parts += [Html(f'<p class="heading">{cell(table.title)}</p>'), html_table(table)]
        notes = [_legend(self), share_legend(self), *self.notes, self.note]
        return block(*parts, heading=_heading(self), notes=notes)


def print_comparison(
    comparison: Comparison, form: Form = "text", parts: Parts | None = None
) -> None:
    """Print a comparison, fitted to a terminal; see `render`."""
    text = render(comparison, form, parts, width=terminal_width(sys.stdout))
    (print_text if form == "text" else say)(text)


def render(
    comparison: Comparison,
    form: Form = "text",
    parts: Parts | None = None,
    *,
    width: int | None = None,
) -> str:
    """Render a comparison.

    Args:
        comparison: the comparison.
        form: text, markdown, latex or csv.
        parts: the parts to show; csv has one table: of topics, of groups, or of systems.
        width: columns of the terminal, for text.
    """
    parts = parts or Parts()
    if form == "csv":
        return csv_of(comparison, per_topic=parts.per_topic)
    if form == "text":
        return "\n\n".join(_text(comparison, parts, width))
    remarks = [*_sentences(comparison, parts)]
    legends = [_legend(comparison), share_legend(comparison)]
    if comparison.matrix:
        legends = [*_matrix_legend(comparison), *legends]
    elif _shows_others(comparison, parts):
        baseline = comparison.baseline or ""
        legends.append(legend_of([other_means(comparison)], baseline, method_in_words(comparison)))
    if form == "latex":
        notes = [note.translate(_ARROWS) for note in (*legends, *remarks) if note]
        tables = map(as_latex, _tables(comparison, parts))
        return "\n\n".join([*tables, "\n".join(f"% {note}" for note in notes)])
    tables = map(as_markdown, _tables(comparison, parts))
    bullets = "\n".join(f"- {markdown_text(sentence)}" for sentence in remarks)
    return "\n\n".join([*tables, *map(markdown_text, filter(None, legends)), bullets])


def _text(comparison: Comparison, parts: Parts, width: int | None) -> Iterator[str]:
    """Paragraphs and tables, in their order."""
    if parts.means:
        lines = [for_display(line) for line in (_heading(comparison), comparison.note) if line]
        yield "\n".join(wrapped(line, width) for line in lines)
    if comparison.matrix:
        tables = [matrix_of(comparison, measure) for measure in comparison.measures]
        legend = (wrapped(line, width) for line in _matrix_legend(comparison))
        yield "\n".join([side_by_side(tables, width), *legend])
        yield from (as_text(table, width) for table in share_tables(comparison))
    lines = [line for line in (_legend(comparison), share_legend(comparison)) if line]
    explained = "\n".join(wrapped(line, width) for line in lines)
    for measure in _measures(comparison, parts):
        *before, last = main_tables(comparison, measure, width, indented=True)
        yield from (as_text(table, width) for table in before)
        yield f"{as_text(last, width)}\n{explained}"
    if _shows_others(comparison, parts):
        baseline = comparison.baseline or ""
        table = other_means(comparison)
        yield render_table(table, baseline=baseline, width=width, test=method_in_words(comparison))
    yield "\n".join(_hanging(sentence, width) for sentence in _sentences(comparison, parts))
    tables = [*_further(comparison, parts)]
    if parts.per_topic:
        tables += topic_tables(comparison)
    elif topics := comparison.most_different(comparison.measures[0], _MOST_TOPICS):
        title = f"Topics that differ most by {comparison.measures[0]}"
        table = values_of(comparison, comparison.measures[0], topics, title)
        narrow = Table(table.columns[:-1])
        if width and table.text and narrow.width + NARROWEST_TEXT > width:
            table = extremes_of(comparison, comparison.measures[0], topics, title, width)
        tables.append(table)
    yield from (as_text(table, width) for table in tables)


def _tables(comparison: Comparison, parts: Parts) -> Iterator[Table]:
    """The tables of Markdown and LaTeX."""
    yield from _matrices(comparison)
    for measure in _measures(comparison, parts):
        yield from main_tables(comparison, measure)
    if _shows_others(comparison, parts):
        yield other_means(comparison)
    yield from _further(comparison, parts)
    if parts.per_topic:
        yield from topic_tables(comparison)


def _matrices(comparison: Comparison) -> Iterator[Table]:
    """The tables of first stages and rerankers, if they make a matrix."""
    if comparison.matrix:
        yield from (matrix_of(comparison, measure) for measure in comparison.measures)
        yield from share_tables(comparison)


def _further(comparison: Comparison, parts: Parts) -> Iterator[Table]:
    if parts.bounds:
        yield from bound_tables(comparison)
    yield from group_tables(comparison, _measures(comparison, parts))


def _shows_others(comparison: Comparison, parts: Parts) -> bool:
    """Return True if the means by the other measures have a table of their own."""
    several = not comparison.matrix and len(comparison.measures) > 1
    return parts.means and not parts.every_measure and several


def _measures(comparison: Comparison, parts: Parts) -> Sequence[str]:
    return comparison.measures if parts.every_measure else comparison.measures[:1]


def _sentences(comparison: Comparison, parts: Parts) -> Iterator[str]:
    yield from identities_told(comparison.systems)
    for measure in _measures(comparison, parts):
        yield from sentences(comparison, measure)


def _hanging(text: str, width: int | None) -> str:
    """A sentence whose further lines are indented; "p = 0.05" is not broken."""
    sentence = for_display(text).replace("p = ", "p\xa0=\xa0")
    first, *rest = wrapped(sentence, width and width - 2).split("\n")
    return "\n".join([first, *(f"  {line}" for line in rest)]).replace("\xa0", " ")


def _heading(comparison: Comparison) -> str:
    topics = counted(len(comparison.topics), "topic")
    return f"{comparison.collection}: {topics}" if comparison.collection else topics


def _legend(comparison: Comparison) -> str:
    return f"p: {method_in_words(comparison)}; W/T/L: topics won, tied and lost"


def _matrix_legend(comparison: Comparison) -> Iterator[str]:
    tables = (matrix_of(comparison, measure) for measure in comparison.measures)
    if marked := legend_of(tables, OF_ROW, method_in_words(comparison)):
        yield marked
    ceiling = f"; {CEILING}: a perfect reranker of its candidates"
    assert comparison.matrix is not None
    has_ceiling = any(comparison.matrix.ceilings.values())
    same = f"; {SAME_TOLD}"
    has_same = any(s.ranking_of in comparison.matrix.rows for s in comparison.systems)
    yield f"{FOUND}: the first stage itself" + ceiling * has_ceiling + same * has_same
