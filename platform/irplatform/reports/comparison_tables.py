"""The tables of a comparison: systems, pairs, a matrix, bounds, groups and topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.comparison.sentences import p_text
from irplatform.comparison.tests import CORRECTION_NAMES, FEWEST_TOPICS, TEST_NAMES
from irplatform.reports.columns import Table, short
from irplatform.reports.table import (
    CEILING,
    FOUND,
    SAME,
    ResultRow,
    best_cells,
    figure,
    glyphs,
    mark,
    marks,
    matrix_table,
    share_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.comparison.bounds import Bounds
    from irplatform.comparison.ranking import Rank
    from irplatform.comparison.results import ComparedTopic, Comparison, Pair, Score
    from irplatform.comparison.tests import Difference
    from irplatform.run_folder.mixture import Mixture

_MOST_LETTERS = 26
"""Systems that have a letter of their own."""

_WIDEST = 12
"""Characters of a name beside a figure; a wide terminal has more."""


def how(comparison: Comparison) -> str:
    """Return the test and the correction, in words; of a matrix, also what is corrected for."""
    how = TEST_NAMES[comparison.test]
    constant = [pair for pair in comparison.pairs if pair.difference and not pair.test.deviation]
    if constant and comparison.test in ("t-test", "bootstrap"):
        how += " (of all sign flips where every topic has the same difference)"
    if comparison.comparisons > 1:
        how += f", {CORRECTION_NAMES[comparison.correction]}"
        if comparison.matrix and comparison.correction != "none":
            differing = "differing " * (comparison.comparisons < len(comparison.matrix.pairs()))
            how += f" over the {comparison.comparisons} {differing}pairs, measure by measure"
    return how


def matrix_of(comparison: Comparison, measure: str, *, ascii_only: bool = False) -> Table:
    """Return the matrix of first stages and rerankers by a measure."""
    assert comparison.matrix is not None
    places, ceilings = comparison.matrix.places, comparison.matrix.ceilings
    tests = {pair.system: pair.test for pair in comparison.pairs_by(measure)}
    rows: dict[str, dict[str, tuple[float, str]]] = {row: {} for row in comparison.matrix.rows}
    for system in comparison.systems:
        row, column = places[system.name]
        marked = glyphs(mark(tests[system.name]), ascii_only) if system.name in tests else ""
        marked = SAME if column and system.ranking_of == row else marked
        rows[row][column or FOUND] = system.scores[measure].mean, marked
    for row, ceiling in ceilings.items():
        if measure in ceiling:
            rows[row][CEILING] = ceiling[measure], ""
    last = [CEILING] if any(CEILING in cells for cells in rows.values()) else []
    columns = [FOUND, *comparison.matrix.columns, *last]
    return matrix_table(measure, columns, [*rows.items()])


def shares_of(comparison: Comparison) -> Table:
    """Return the matrix of W, the first stages' shares."""
    assert comparison.matrix is not None
    rows: dict[str, dict[str, Mixture]] = {row: {} for row in comparison.matrix.rows}
    for system in comparison.systems:
        row, column = comparison.matrix.places[system.name]
        if column:
            rows[row][column] = system.mixture
    return share_table(comparison.matrix.columns, rows)


def main_tables(
    comparison: Comparison, measure: str, width: int | None = None, *, indented: bool = False
) -> Iterator[Table]:
    """Means, Judged@k and pairs: in one table if there are baselines, in two if not.

    The effect size is left out if a terminal has no room for it. `indented` rerankers stand below
    the first stage of their row in a matrix.
    """
    means, pairs = _means(comparison, measure), comparison.pairs_by(measure)
    if not comparison.has_baselines:
        yield _with_letters(comparison, means, pairs)
    for shown in (range(len(_OF_PAIR)), [n for n, name in enumerate(_OF_PAIR) if name != "d"]):
        columns = [_OF_PAIR[place] for place in shown]
        if not comparison.has_baselines:
            rows = [[_name(pair), *_cells(pair, shown)] for pair in comparison.tested(measure)]
            table = Table("", ["pair", *columns], rows)
        else:
            cells = {pair.system: _cells(pair, shown) for pair in comparison.tested(measure)}
            blank = [""] * (len(columns) - 1)
            borrowed = {s.name: f"= {s.ranking_of}" for s in comparison.systems if s.ranking_of}
            rows = [
                [*row, *cells.get(row[0], [borrowed.get(row[0], "baseline"), *blank])]
                for row in means.rows
            ]
            if indented and comparison.matrix:
                places = comparison.matrix.places
                below = {name: f"  {column}" for name, (_, column) in places.items() if column}
                rows = [[below.get(name, name), *row] for name, *row in rows]
            table = replace(means, header=[*means.header, *columns], rows=rows)
        if width is None or table.width <= width:
            break
    yield table


_OF_PAIR = ("difference [95 % interval]", "d", "p", "W/T/L")


def _means(comparison: Comparison, measure: str) -> Table:
    scores = {system.name: system.scores[measure] for system in comparison.systems}
    depth = next(iter(scores.values())).judged_at
    mixed, alone = has_shares(comparison), any(s.alone is not None for s in scores.values())
    rows = [
        [
            system.name,
            *([system.mixture.share_text] if mixed else []),
            figure(measure, s.mean),
            *([alone_text(measure, s)] if alone else []),
            *([] if s.judged is None else [f"{s.judged:.3f}"]),
        ]
        for system, s in zip(comparison.systems, scores.values(), strict=True)
    ]
    own = [{} if s.ranking_of else {measure: s.scores[measure].mean} for s in comparison.systems]
    best = frozenset((row, column + mixed) for row, column in best_cells(own, [measure]))
    judged = [f"Judged@{depth}"] if depth else []
    header = ["system", *["W"] * mixed, measure, *["alone"] * alone, *judged]
    return Table("", header, rows, best=best)


def best_places(comparison: Comparison, values: Sequence[float]) -> list[int]:
    """Return the places of the systems with the highest value, of those with their own ranking."""
    own = [n for n, system in enumerate(comparison.systems) if not system.ranking_of]
    return [place for place in own if values[place] == max(values[n] for n in own)]


def share_legend(comparison: Comparison) -> str:
    """Explain the columns of shares and of rerankers' own scores; "" if there are none."""
    if not has_shares(comparison):
        return ""
    scores = (score for system in comparison.systems for score in system.scores.values())
    alone = "; alone: the reranker's own scores" * any(s.alone is not None for s in scores)
    return f"W: the first stage's share in a reranker's run, 1 − W the reranker's{alone}"


def has_shares(comparison: Comparison) -> bool:
    """Return whether a system is known to be a mixture with its first stage."""
    return any(system.mixture.share is not None for system in comparison.systems)


def alone_text(measure: str, score: Score) -> str:
    """Return the mean of a reranker's own scores, as text."""
    return "" if score.alone is None else figure(measure, score.alone)


def _with_letters(comparison: Comparison, means: Table, pairs: Sequence[Pair]) -> Table:
    """Means with intervals and ranks, and the letters of systems that each one is better than."""
    measure = pairs[0].measure
    own = [system.name for system in comparison.systems if not system.ranking_of]
    letters = {name: chr(ord("a") + number) for number, name in enumerate(own)}
    lettered = len(letters) <= _MOST_LETTERS
    below: dict[str, str] = dict.fromkeys(letters, "")
    for pair in pairs:
        if pair.verdict == "better":
            below[pair.system] += letters[pair.baseline]
        elif pair.verdict == "worse":
            below[pair.baseline] += letters[pair.system]
    rows = []
    for row, system in zip(means.rows, comparison.systems, strict=True):
        score, name = system.scores[measure], system.name
        cells = [*row[1:], _interval_text(score), rank_text(score.rank)]
        if lettered:
            better_than = "".join(sorted(below.get(name, ""))) or "-"
            cells.append(f"= {system.ranking_of}" if system.ranking_of else better_than)
        rows.append([f"{letters.get(name, ' ')} {name}" if lettered else name, *cells])
    header = [*means.header, "95 % interval", "rank", *(["better than"] if lettered else [])]
    return replace(means, header=header, rows=rows)


def _cells(pair: Pair, places: Sequence[int]) -> list[str]:
    cells = [
        _difference(pair.difference, pair.interval),
        "-" if pair.effect is None else f"{pair.effect:+.2f}",
        p_text(pair.adjusted_p),
        f"{pair.wins}/{pair.ties_of_topics}/{pair.losses}",
    ]
    return [cells[place] for place in places]


def _name(pair: Pair) -> str:
    return f"{pair.system} − {pair.baseline}"


def _difference(difference: float, interval: tuple[float, float] | None) -> str:
    if interval is None:
        return f"{difference:+.4f}" + " " * len(" [+0.000, +0.000]")
    return f"{difference:+.4f} [{interval[0]:+.3f}, {interval[1]:+.3f}]"


def _interval_text(score: Score) -> str:
    return "-" if score.interval is None else "[{:.3f}, {:.3f}]".format(*score.interval)


def rank_text(rank: Rank | None) -> str:
    """Return a rank's interval; "-" for none."""
    if rank is None:
        return "-"
    return f"{rank.low}" if rank.low == rank.high else f"{rank.low}–{rank.high}"


def other_rows(comparison: Comparison) -> list[ResultRow]:
    """The means and marks of each system by all measures."""
    rows = []
    for system in comparison.systems:
        own = [pair for pair in comparison.pairs if pair.system == system.name]
        tests = {pair.measure: pair.test for pair in own if comparison.has_baselines}
        means = {measure: score.mean for measure, score in system.scores.items()}
        borrowed = bool(system.ranking_of)
        rows.append(ResultRow(system.name, means, marks(tests), borrowed=borrowed))
    return rows


def other_means(comparison: Comparison) -> Table:
    """The means by the other measures, with marks."""
    others, rows = comparison.measures[1:], other_rows(comparison)
    cells = [
        [row.name, *(f"{figure(m, row.measures[m])}{glyphs(row.marks.get(m, 0))}" for m in others)]
        for row in rows
    ]
    best = best_cells([row.contends for row in rows], others)
    return Table("", ["system", *others], cells, best=best)


def bound_tables(comparison: Comparison) -> Iterator[Table]:
    """Bounds of systems and of pairs; nothing if there are none."""
    rows = [
        [
            measure,
            system.name,
            f"{score.mean:.4f}",
            f"{score.judged:.3f}",
            f"{score.condensed:.4f}",
            f"{score.unjudged.high:.4f}",
            _range(score.ties),
        ]
        for measure in comparison.measures
        for system in comparison.systems
        for score in [system.scores[measure]]
        if score.unjudged is not None and score.judged is not None
    ]
    if not rows:
        return
    header = ["measure", "system", "mean", "judged", "condensed", "unjudged relevant", "tie orders"]
    yield Table("Means with other judgments and tie orders", header, rows, left=2)
    lines = [
        [pair.measure, _name(pair), f"{pair.difference:+.4f}", *ends]
        for measure in comparison.measures
        for pair in comparison.pairs_by(measure)
        if (ends := [_range(pair.unjudged, "+"), _range(pair.ties, "+")]) != ["-", "-"]
    ]
    header = ["measure", "pair", "difference", "all judged", "tie orders"]
    yield Table("Differences with other judgments and tie orders", header, lines, left=2)


def _range(bounds: Bounds | None, sign: str = "") -> str:
    return "-" if bounds is None else f"{bounds.low:{sign}.4f} to {bounds.high:{sign}.4f}"


def group_tables(comparison: Comparison, measures: Sequence[str]) -> Iterator[Table]:
    """The means of each group of topics, and the differences from a baseline."""
    by = comparison.group_by
    for measure in measures if comparison.groups else ():
        names = [system.name for system in comparison.systems]
        rows, best = [], set()
        for number, group in enumerate(comparison.groups):
            means = [group.means[name][measure] for name in names]
            best |= {(number, place + 2) for place in best_places(comparison, means)}
            cells = [figure(measure, mean) for mean in means]
            rows.append([group.value, str(len(group.topics)), *cells])
        title = f"{measure} by {by}"
        yield Table(title, [by, "topics", *names], rows, best=frozenset(best))
        if not comparison.has_baselines or not comparison.groups[0].tests:
            continue  # a line for each group and pair is too long to read
        first = next(iter(comparison.groups[0].tests))
        lines = [
            [
                group.value if pair == first else "",
                pair[1],
                _difference(tests[measure].difference, _interval_of(tests[measure])),
                f"{tests[measure].wins}/{tests[measure].ties}/{tests[measure].losses}",
            ]
            for group in comparison.groups
            for pair, tests in group.tests.items()
            if measure in tests
        ]
        title = f"Differences from {comparison.baseline} by {by}, not corrected for their number"
        yield Table(title, [by, "system", "difference [95 % interval]", "W/T/L"], lines, left=2)


def _interval_of(test: Difference) -> tuple[float, float] | None:
    """The interval of a group's difference; that of two topics says nothing."""
    if test.n < FEWEST_TOPICS or test.low is None or test.high is None:
        return None
    return test.low, test.high


def topic_tables(comparison: Comparison) -> Iterator[Table]:
    """A table for each measure: the values of every topic."""
    for measure in comparison.measures:
        yield values_of(comparison, measure, comparison.topics, f"Topics by {measure}")


def values_of(
    comparison: Comparison, measure: str, topics: Sequence[ComparedTopic], title: str
) -> Table:
    """A line for each topic: its values, and its query last, if queries are known."""
    rows, best = [], set()
    queries = any(topic.query for topic in topics)
    for number, topic in enumerate(topics):
        values = [s.scores[measure].per_topic.get(topic.id, 0.0) for s in comparison.systems]
        best |= {(number, place + 1) for place in best_places(comparison, values)}
        cells = [figure(measure, value) for value in values]
        rows.append([topic.id, *cells, *([topic.query] if queries else [])])
    names = [system.name for system in comparison.systems]
    header = ["topic", *names, *(["query"] if queries else [])]
    return Table(title, header, rows, best=frozenset(best), text=queries)


def extremes_of(
    comparison: Comparison, measure: str, topics: Sequence[ComparedTopic], title: str, width: int
) -> Table:
    """A line for each topic: its lowest and highest value, the systems, and its query."""
    widest = max(_WIDEST, width // 5)
    rows = []
    for topic in topics:
        values = [(s.scores[measure].per_topic.get(topic.id, 0.0), s) for s in comparison.systems]
        ends = [end(values, key=lambda item: item[0]) for end in (min, max)]
        cells = [f"{short(system.name, widest)} {figure(measure, value)}" for value, system in ends]
        rows.append([topic.id, *cells, topic.query])
    return Table(title, ["topic", "lowest", "highest", "query"], rows, text=True)
