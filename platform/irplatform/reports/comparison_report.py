"""A comparison that shows itself in a notebook, and gives frames and plots."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self

from irplatform.comparison.identities import identities_told
from irplatform.comparison.results import Comparison
from irplatform.comparison.sentences import p_text, sentences
from irplatform.errors import InputError, for_display, unknown
from irplatform.reports.comparison import render
from irplatform.reports.comparison_tables import (
    alone_text,
    best_places,
    has_shares,
    how,
    matrix_of,
    share_legend,
    shares_of,
    values_of,
)
from irplatform.reports.evaluations import html_table, topic_columns
from irplatform.reports.table import figure
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import Html, block, cell, table
from irplatform.system.packages import require

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd
    import polars as pl

    from irplatform.comparison.results import Group, Pair, Score
    from irplatform.comparison.tests import Difference
    from irplatform.system.html import Html as HtmlText

Part = Literal["systems", "pairs", "topics", "groups"]
PARTS: tuple[Part, ...] = ("systems", "pairs", "topics", "groups")
_MOST_TOPICS = 5
_KINDS = {"better": "better", "worse": "worse"}


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
        return pandas_frame(self._columns(part))

    def to_polars(self, part: Part = "systems") -> pl.DataFrame:
        """Return what `to_pandas` returns, as a frame of polars."""
        return polars_frame(self._columns(part))

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
        parts: list[str] = [_systems_table(self, measure), told]
        if self.matrix:
            matrices = [*(matrix_of(self, each) for each in self.measures), shares_of(self)]
            parts[:0] = map(html_table, matrices)
        elif len(self.measures) > 1:
            parts.append(_other_measures(self))
        if topics := self.most_different(measure, _MOST_TOPICS):
            shown = values_of(self, measure, topics, f"Topics that differ most by {measure}")
            parts += [Html(f'<p class="heading">{cell(shown.title)}</p>'), html_table(shown)]
        count = len(self.topics)
        heading = f"{count:,} topic{'s' if count != 1 else ''}"
        heading = f"{self.collection}: {heading}" if self.collection else heading
        return block(
            *parts,
            heading=heading,
            notes=[f"p: {how(self)}", share_legend(self), *self.notes, self.note],
        )

    def _columns(self, part: Part) -> dict[str, list[object]]:
        if part == "topics":
            queries = {topic.id: topic.query for topic in self.topics}
            values = {
                system.name: {name: score.per_topic for name, score in system.scores.items()}
                for system in self.systems
            }
            columns = topic_columns(values)
            return {**columns, "query": [queries.get(str(topic), "") for topic in columns["topic"]]}
        rows: list[dict[str, object]]
        if part == "systems":
            rows = [
                {
                    "system": system.name,
                    **self.place(system.name),
                    **system.about(),
                    "measure": name,
                    **_of_score(score),
                }
                for system in self.systems
                for name, score in system.scores.items()
            ]
        elif part == "pairs":
            rows = [_of_pair(pair) for pair in self.pairs]
        elif part == "groups":
            rows = [row for group in self.groups for row in _of_group(group)]
        else:
            raise unknown("part", str(part), PARTS, of="a comparison")
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _of_score(score: Score) -> dict[str, object]:
    low, high = score.interval or (None, None)
    return {
        "mean": score.mean,
        "low": low,
        "high": high,
        "alone": score.alone,
        "rank": score.rank and score.rank.rank,
        "rank_low": score.rank and score.rank.low,
        "rank_high": score.rank and score.rank.high,
        "judged": score.judged,
        "condensed": score.condensed,
    }


def _of_pair(pair: Pair) -> dict[str, object]:
    low, high = pair.interval or (None, None)
    return {
        "baseline": pair.baseline,
        "system": pair.system,
        "measure": pair.measure,
        "difference": pair.difference,
        "low": low,
        "high": high,
        "effect": pair.effect,
        "p": pair.p,
        "adjusted_p": pair.adjusted_p,
        "wins": pair.wins,
        "ties": pair.ties_of_topics,
        "losses": pair.losses,
        "detectable": pair.power.detectable if pair.power else None,
        "topics_needed": pair.power.topics if pair.power else None,
        "verdict": pair.verdict,
        "sentence": pair.sentence,
    }


def _of_group(group: Group) -> Iterator[dict[str, object]]:
    """A row for each system and measure; several if it is compared with several."""
    for system, means in group.means.items():
        own: dict[str | None, Mapping[str, Difference]] = {
            one: tests for (one, other), tests in group.tests.items() if other == system
        }
        for measure, mean in means.items():
            for baseline, tests in (own or {None: {}}).items():
                test = tests.get(measure)
                yield {
                    "group": group.value,
                    "topics": len(group.topics),
                    "system": system,
                    "measure": measure,
                    "mean": mean,
                    "baseline": baseline,
                    "difference": test and test.difference,
                    "low": test and test.low,
                    "high": test and test.high,
                    "wins": test and test.wins,
                    "ties": test and test.ties,
                    "losses": test and test.losses,
                }


def _systems_table(comparison: Comparison, measure: str) -> HtmlText:
    """Means by a measure, with differences beside them, or below where all pairs are compared."""
    scores = {system.name: system.scores[measure] for system in comparison.systems}
    depth = next(iter(scores.values())).judged_at
    mixed = has_shares(comparison)
    best = best_places(comparison, [round(score.mean, 4) for score in scores.values()])
    header = ["system", *["W"] * mixed, measure, *["alone"] * mixed]
    header += [f"Judged@{depth}"] if depth else []
    rows: list[list[str]] = [
        [
            name,
            *([comparison.system(name).mixture.share_text] if mixed else []),
            cell(figure(measure, score.mean), bold=place in best),
            *([alone_text(measure, score)] if mixed else []),
            *([] if score.judged is None else [f"{score.judged:.3f}"]),
        ]
        for place, (name, score) in enumerate(scores.items())
    ]
    pairs = comparison.tested(measure)
    columns = ["difference", "95 % interval", "d", "p", "won / tied / lost"]
    if not comparison.has_baselines:
        between = [[f"{pair.system} − {pair.baseline}", *_cells(pair)] for pair in pairs]
        return Html(table(header, rows) + table(["pair", *columns], between))
    of_pair = {pair.system: _cells(pair) for pair in pairs}
    blank = [""] * (len(columns) - 1)
    same = {s.name: cell(f"= {s.ranking_of}") for s in comparison.systems if s.ranking_of}
    both = [[*row, *of_pair.get(row[0], [same.get(row[0], "baseline"), *blank])] for row in rows]
    return table([*header, *columns], both)


def _cells(pair: Pair) -> list[str]:
    low, high = pair.interval or (None, None)
    kind = _KINDS.get(pair.verdict, "")
    return [
        cell(f"{pair.difference:+.4f}", bold=bool(kind), kind=kind, title=pair.sentence),
        "" if low is None or high is None else f"{low:+.3f} to {high:+.3f}",
        "-" if pair.effect is None else f"{pair.effect:+.2f}",
        p_text(pair.adjusted_p),
        f"{pair.wins} / {pair.ties_of_topics} / {pair.losses}",
    ]


def _other_measures(comparison: Comparison) -> HtmlText:
    """The means by the other measures; significantly better and worse ones are coloured."""
    others = comparison.measures[1:]
    verdicts = {(pair.system, pair.measure): pair for pair in comparison.pairs}
    best = {
        m: best_places(comparison, [round(s.scores[m].mean, 4) for s in comparison.systems])
        for m in others
    }
    rows: list[list[str]] = []
    for place, system in enumerate(comparison.systems):
        row: list[str] = [system.name]
        for measure in others:
            mean = system.scores[measure].mean
            pair = verdicts.get((system.name, measure)) if comparison.baseline else None
            kind, title = (_KINDS.get(pair.verdict, ""), pair.sentence) if pair else ("", "")
            bold = place in best[measure]
            row.append(cell(figure(measure, mean), bold=bold, kind=kind, title=title))
        rows.append(row)
    return table(["system", *others], rows)
