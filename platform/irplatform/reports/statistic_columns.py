"""The statistics of a comparison: in tables, in pages, and unrounded in CSV and data frames.

A new statistic of a pair is an entry of `OF_PAIR`, of `TEXT_OF_PAIR` for terminals, papers and
notebooks, and of `PAGE_OF_PAIR`.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from irplatform.comparison.sentences import p_text
from irplatform.errors import unknown
from irplatform.reports.columns import Cell
from irplatform.reports.evaluations import topic_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from irplatform.comparison.results import Comparison, Group, Pair
    from irplatform.comparison.tests import Difference

Part = Literal["systems", "pairs", "topics", "groups"]
PARTS: tuple[Part, ...] = ("systems", "pairs", "topics", "groups")


class Statistic(NamedTuple):
    """A value of a system or a pair by a measure.

    Attributes:
        name: its column in CSV.
        frame: its column in data frames; "" if they have none.
        value: returns it, of a `Score` or a `Pair`; None where it is unknown.
    """

    name: str
    frame: str
    value: Callable[[Any], object]


OF_SCORE = (
    Statistic("mean", "mean", lambda score: score.mean),
    Statistic("mean_low", "low", lambda score: score.interval and score.interval[0]),
    Statistic("mean_high", "high", lambda score: score.interval and score.interval[1]),
    Statistic("rank", "rank", lambda score: score.rank and score.rank.rank),
    Statistic("rank_low", "rank_low", lambda score: score.rank and score.rank.low),
    Statistic("rank_high", "rank_high", lambda score: score.rank and score.rank.high),
    Statistic("judged_at", "", lambda score: score.judged_at),
    Statistic("judged", "judged", lambda score: score.judged),
    Statistic("condensed", "condensed", lambda score: score.condensed),
    Statistic("unjudged_relevant", "", lambda score: score.unjudged and score.unjudged.high),
    Statistic("ties_low", "", lambda score: score.ties and score.ties.low),
    Statistic("ties_high", "", lambda score: score.ties and score.ties.high),
    Statistic("alone", "alone", lambda score: score.alone),
)
OF_PAIR = (
    Statistic("baseline", "baseline", lambda pair: pair.baseline),
    Statistic("difference", "difference", lambda pair: pair.difference),
    Statistic("difference_low", "low", lambda pair: pair.interval and pair.interval[0]),
    Statistic("difference_high", "high", lambda pair: pair.interval and pair.interval[1]),
    Statistic("effect_size", "effect", lambda pair: pair.effect),
    Statistic("p", "p", lambda pair: pair.p),
    Statistic("p_adjusted", "adjusted_p", lambda pair: pair.adjusted_p),
    Statistic("wins", "wins", lambda pair: pair.wins),
    Statistic("ties", "ties", lambda pair: pair.ties_of_topics),
    Statistic("losses", "losses", lambda pair: pair.losses),
    Statistic("detectable", "detectable", lambda pair: pair.power and pair.power.detectable),
    Statistic("topics_needed", "topics_needed", lambda pair: pair.power and pair.power.topics),
    Statistic("verdict", "verdict", lambda pair: pair.verdict),
    Statistic("depends_on", "", lambda pair: " ".join(pair.depends_on)),
    Statistic("unjudged_low", "", lambda pair: pair.unjudged and pair.unjudged.low),
    Statistic("unjudged_high", "", lambda pair: pair.unjudged and pair.unjudged.high),
    Statistic("worst_ties", "", lambda pair: pair.ties and pair.ties.low),
    Statistic("best_ties", "", lambda pair: pair.ties and pair.ties.high),
    Statistic("sentence", "sentence", lambda pair: pair.sentence),
)
STYLES = {"better": "gain", "worse": "loss"}
"""Verdict to class of style in a page."""
TEXT_OF_PAIR: tuple[tuple[str, Callable[[Pair], str]], ...] = (
    ("difference [95 % interval]", lambda p: difference_text(p.difference, p.interval)),
    ("d", lambda p: "-" if p.effect is None else f"{p.effect:+.2f}"),
    ("p", lambda p: p_text(p.adjusted_p)),
    ("W/T/L", lambda p: f"{p.wins}/{p.ties_of_topics}/{p.losses}"),
)
"""The columns of a pair p in tables of text, with their cells."""
PAGE_OF_PAIR: tuple[tuple[str, Callable[[Pair], Cell]], ...] = (
    ("difference", lambda p: Cell(f"{p.difference:+.4f}", p.difference, STYLES.get(p.verdict, ""))),
    ("95 % interval", lambda p: Cell(between(p.interval, "+"), p.difference, "quiet")),
    ("d", lambda p: Cell("–" if p.effect is None else f"{p.effect:+.2f}", p.effect or 0.0)),
    ("p", lambda p: Cell(p_text(p.adjusted_p), 2.0 if p.adjusted_p is None else p.adjusted_p)),
    ("won/tied/lost", lambda p: Cell(f"{p.wins}/{p.ties_of_topics}/{p.losses}", p.wins - p.losses)),
)
"""The columns of a pair p in a page, with their cells."""


def difference_text(difference: float, interval: tuple[float, float] | None) -> str:
    """Return a difference with its interval, or room for one."""
    if interval is None:
        return f"{difference:+.4f}" + " " * len(" [+0.000, +0.000]")
    return f"{difference:+.4f} [{interval[0]:+.3f}, {interval[1]:+.3f}]"


def between(interval: tuple[float, float] | None, sign: str = "") -> str:
    """Return an interval in the words of a page."""
    return "–" if interval is None else f"{interval[0]:{sign}.3f} to {interval[1]:{sign}.3f}"


def csv_of(comparison: Comparison, *, per_topic: bool = False) -> str:
    """Return a line for each system and measure, each group or each topic, as CSV."""
    rows = _systems(comparison)
    if per_topic:
        rows = _topics(comparison)
    elif comparison.groups:
        rows = _groups(comparison)
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue().rstrip("\n")


def _systems(comparison: Comparison) -> Iterator[list[object]]:
    first = comparison.systems[0]
    place, about = comparison.place(first.name), first.about()
    of_score, of_pair = ([one.name for one in statistics] for statistics in (OF_SCORE, OF_PAIR))
    yield ["measure", "system", *place, *of_score, *about, *of_pair]
    for measure in comparison.measures:
        for system in comparison.systems:
            place, score = comparison.place(system.name), system.scores[measure]
            scores = [one.value(score) for one in OF_SCORE]
            beginning = [*place.values(), *scores, *system.about().values()]
            pairs = [pair for pair in comparison.pairs_by(measure) if pair.system == system.name]
            for pair in pairs:
                yield [measure, system.name, *beginning, *(one.value(pair) for one in OF_PAIR)]
            if not pairs:
                yield [measure, system.name, *beginning, *[None] * len(OF_PAIR)]


def _topics(comparison: Comparison) -> Iterator[list[object]]:
    yield ["measure", "topic", "query", *(system.name for system in comparison.systems)]
    for measure in comparison.measures:
        for topic in comparison.topics:
            values = [s.scores[measure].per_topic.get(topic.id) for s in comparison.systems]
            yield [measure, topic.id, topic.query, *values]


def _groups(comparison: Comparison) -> Iterator[list[object]]:
    names = [system.name for system in comparison.systems]
    yield ["measure", comparison.group_by, "topics", *names]
    for measure in comparison.measures:
        for group in comparison.groups:
            means = [group.means[name][measure] for name in names]
            yield [measure, group.value, len(group.topics), *means]


def columns_of(comparison: Comparison, part: Part) -> dict[str, list[object]]:
    """Return a part of a comparison as columns of a data frame.

    Raises:
        InputError: there is no such part.
    """
    systems = comparison.systems
    if part == "topics":
        queries = {topic.id: topic.query for topic in comparison.topics}
        values = {s.name: {name: of.per_topic for name, of in s.scores.items()} for s in systems}
        columns = topic_columns(values)
        return {**columns, "query": [queries.get(str(topic), "") for topic in columns["topic"]]}
    if part == "systems":
        rows = [
            {"system": system.name, **comparison.place(system.name), **system.about()}
            | {"measure": name, **_framed(OF_SCORE, score)}
            for system in systems
            for name, score in system.scores.items()
        ]
    elif part == "pairs":
        rows = [
            {"baseline": pair.baseline, "system": pair.system, "measure": pair.measure}
            | _framed(OF_PAIR, pair)
            for pair in comparison.pairs
        ]
    elif part == "groups":
        rows = [row for group in comparison.groups for row in _of_group(group)]
    else:
        raise unknown("part", str(part), PARTS, of="a comparison")
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _framed(statistics: tuple[Statistic, ...], of: object) -> dict[str, object]:
    return {one.frame: one.value(of) for one in statistics if one.frame}


def _of_group(group: Group) -> Iterator[dict[str, object]]:
    """A row for each system and measure; several if it is compared with several."""
    for system, means in group.means.items():
        baselines: dict[str | None, Mapping[str, Difference]] = {
            one: tests for (one, other), tests in group.tests.items() if other == system
        }
        for measure, mean in means.items():
            for baseline, tests in (baselines or {None: {}}).items():
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
