"""A comparison as CSV: a line for each system and measure, each group or each topic, unrounded."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.comparison.results import Comparison, Pair, Score

_OF_SCORE = (
    *("mean", "mean_low", "mean_high", "rank", "rank_low", "rank_high", "judged_at", "judged"),
    *("condensed", "unjudged_relevant", "ties_low", "ties_high", "alone"),
)
_OF_PAIR = (
    *("baseline", "difference", "difference_low", "difference_high", "effect_size", "p"),
    *("p_adjusted", "wins", "ties", "losses", "detectable", "topics_needed", "verdict"),
    *("depends_on", "unjudged_low", "unjudged_high", "worst_ties", "best_ties", "sentence"),
)


def csv_of(comparison: Comparison, *, per_topic: bool = False) -> str:
    """Return the lines of topics, of groups if there are some, or of systems."""
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
    columns = comparison.place(first.name)
    yield ["measure", "system", *columns, *_OF_SCORE, *first.about(), *_OF_PAIR]
    for measure in comparison.measures:
        pairs = comparison.pairs_by(measure)
        for system in comparison.systems:
            place, score = comparison.place(system.name).values(), system.scores[measure]
            about = system.about().values()
            beginning = [measure, system.name, *place, *_score(score), *about]
            own = [pair for pair in pairs if pair.system == system.name]
            for pair in own:
                yield [*beginning, *_pair(pair)]
            if not own:
                yield [*beginning, *[None] * len(_OF_PAIR)]


def _score(score: Score) -> list[object]:
    rank, unjudged, ties = score.rank, score.unjudged, score.ties
    return [
        score.mean,
        *(score.interval or (None, None)),
        *((rank.rank, rank.low, rank.high) if rank else (None, None, None)),
        *(score.judged_at, score.judged, score.condensed),
        unjudged and unjudged.high,
        *((ties.low, ties.high) if ties else (None, None)),
        score.alone,
    ]


def _pair(pair: Pair) -> list[object]:
    return [
        pair.baseline,
        pair.difference,
        *(pair.interval or (None, None)),
        *(pair.effect, pair.p, pair.adjusted_p),
        *(pair.wins, pair.ties_of_topics, pair.losses),
        *((pair.power.detectable, pair.power.topics) if pair.power else (None, None)),
        pair.verdict,
        " ".join(pair.depends_on),
        *((b.low, b.high) if (b := pair.unjudged) else (None, None)),
        *((b.low, b.high) if (b := pair.ties) else (None, None)),
        pair.sentence,
    ]


def _topics(comparison: Comparison) -> Iterator[list[object]]:
    names = [system.name for system in comparison.systems]
    yield ["measure", "topic", "query", *names]
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
