"""The tables of a comparison: systems, pairs, a matrix, bounds, groups and topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.comparison.sentences import rank_text
from irplatform.comparison.tests import CORRECTION_NAMES, FEWEST_TOPICS, TEST_NAMES
from irplatform.reports.columns import Column, Table, short
from irplatform.reports.statistic_columns import TEXT_OF_PAIR, difference_text
from irplatform.reports.table import (
    CEILING,
    FOUND,
    SAME,
    ResultRow,
    best_of,
    figure,
    glyphs,
    mark,
    marks,
    matrix_table,
    measure_column,
    results_table,
    share_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.comparison.bounds import Bounds
    from irplatform.comparison.results import ComparedTopic, Comparison, Pair, Score
    from irplatform.comparison.tests import Difference
    from irplatform.run_folder.mixture import Mixture

_MOST_LETTERS = 26
"""Systems that have a letter of their own."""

_WIDEST = 12
"""Characters of a name beside a figure; a wide terminal has more."""


def method_in_words(comparison: Comparison) -> str:
    """Return the test and the correction, in words; of a matrix, also what is corrected for."""
    method = TEST_NAMES[comparison.test]
    constant = [pair for pair in comparison.pairs if pair.difference and not pair.test.deviation]
    if constant and comparison.test in ("t-test", "bootstrap"):
        method += " (of all sign flips where every topic has the same difference)"
    if comparison.comparisons > 1:
        method += f", {CORRECTION_NAMES[comparison.correction]}"
        if comparison.matrix and comparison.correction != "none":
            differing = "differing " * (comparison.comparisons < len(comparison.matrix.pairs()))
            method += f" over the {comparison.comparisons} {differing}pairs, measure by measure"
    return method


def matrix_of(comparison: Comparison, measure: str) -> Table:
    """Return the matrix of first stages and rerankers by a measure."""
    assert comparison.matrix is not None
    places, ceilings = comparison.matrix.places, comparison.matrix.ceilings
    tests = {pair.system: pair.test for pair in comparison.pairs_by(measure)}
    rows: dict[str, dict[str, tuple[float, str]]] = {row: {} for row in comparison.matrix.rows}
    for system in comparison.systems:
        row, column = places[system.name]
        marked = glyphs(mark(tests[system.name])) if system.name in tests else ""
        marked = SAME if column and system.ranking_of == row else marked
        rows[row][column or FOUND] = system.scores[measure].mean, marked
    for row, ceiling in ceilings.items():
        if measure in ceiling:
            rows[row][CEILING] = ceiling[measure], ""
    last = [CEILING] if any(CEILING in cells for cells in rows.values()) else []
    columns = [FOUND, *comparison.matrix.columns, *last]
    return matrix_table(measure, columns, [*rows.items()])


def share_tables(comparison: Comparison) -> list[Table]:
    """Return the matrix of W, the first stages' shares; nothing if there are none."""
    assert comparison.matrix is not None
    if not has_shares(comparison):
        return []
    rows: dict[str, dict[str, Mixture]] = {row: {} for row in comparison.matrix.rows}
    for system in comparison.systems:
        row, column = comparison.matrix.places[system.name]
        if column:
            rows[row][column] = system.mixture
    return [share_table(comparison.matrix.columns, rows)]


def main_tables(
    comparison: Comparison, measure: str, width: int | None = None, *, indented: bool = False
) -> Iterator[Table]:
    """Means, Judged@k and pairs: in one table if there are baselines, in two if not.

    The effect size is left out if a terminal has no room for it. `indented` rerankers stand below
    the first stage of their row in a matrix.
    """
    means, tested = _means(comparison, measure), comparison.tested(measure)
    if not comparison.has_baselines:
        yield Table(_with_letters(comparison, means, comparison.pairs_by(measure)))
        names = Column("pair", [_name(pair) for pair in tested])
        table = Table([names, *(Column(name, [*map(text, tested)]) for name, text in TEXT_OF_PAIR)])
    else:
        by_system = {pair.system: pair for pair in tested}
        if indented and comparison.matrix:
            places = comparison.matrix.places.items()
            below = {name: f"  {column}" for name, (_, column) in places if column}
            means[0] = replace(means[0], cells=[below.get(n, n) for n in means[0].cells])
        first = [f"= {s.ranking_of}" if s.ranking_of else "baseline" for s in comparison.systems]
        pairs = [by_system.get(system.name) for system in comparison.systems]
        for name, text in TEXT_OF_PAIR:
            cells = zip(pairs, first, strict=True)
            means.append(Column(name, [text(pair) if pair else remark for pair, remark in cells]))
            first = [""] * len(first)
        table = Table(means)
    if width is not None and table.width > width:
        table = replace(table, columns=[c for c in table.columns if c.name != "d"])
    yield table


def _means(comparison: Comparison, measure: str) -> list[Column]:
    scores = [system.scores[measure] for system in comparison.systems]
    contenders = [not system.ranking_of for system in comparison.systems]
    columns = [Column("system", [system.name for system in comparison.systems])]
    if has_shares(comparison):
        columns.append(Column("W", [s.mixture.share_text for s in comparison.systems]))
    columns.append(measure_column(measure, [score.mean for score in scores], contends=contenders))
    if any(score.alone is not None for score in scores):
        columns.append(Column("alone", [alone_text(measure, score) for score in scores]))
    if depth := scores[0].judged_at:
        judged = ["" if score.judged is None else f"{score.judged:.3f}" for score in scores]
        columns.append(Column(f"Judged@{depth}", judged))
    if machine := [score.machine for score in scores if score.machine is not None]:
        columns.append(Column("machine", [f"{count:.1f}" for count in machine]))
    return columns


def best_places(comparison: Comparison, values: Sequence[float]) -> set[int]:
    """Return the places of the systems with the highest value, of those with their own ranking."""
    places = [n for n, system in enumerate(comparison.systems) if not system.ranking_of]
    return best_of({place: values[place] for place in places})


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


def _with_letters(
    comparison: Comparison, means: Sequence[Column], pairs: Sequence[Pair]
) -> list[Column]:
    """Means with intervals and ranks, and the letters of systems that each one is better than."""
    systems, measure = comparison.systems, pairs[0].measure
    scores = [system.scores[measure] for system in systems]
    intervals = Column("95 % interval", [_interval_text(score) for score in scores])
    ranks = Column("rank", [rank_text(score.rank) for score in scores])
    contenders = [system.name for system in systems if not system.ranking_of]
    if len(contenders) > _MOST_LETTERS:
        return [*means, intervals, ranks]
    letters = {name: chr(ord("a") + number) for number, name in enumerate(contenders)}
    below: dict[str, str] = dict.fromkeys(letters, "")
    for pair in pairs:
        if pair.verdict == "better":
            below[pair.system] += letters[pair.baseline]
        elif pair.verdict == "worse":
            below[pair.baseline] += letters[pair.system]
    names = Column("system", [f"{letters.get(s.name, ' ')} {s.name}" for s in systems])
    better_than = [
        f"= {s.ranking_of}" if s.ranking_of else "".join(sorted(below[s.name])) or "-"
        for s in systems
    ]
    return [names, *means[1:], intervals, ranks, Column("better than", better_than)]


def _name(pair: Pair) -> str:
    return f"{pair.system} − {pair.baseline}"


def _interval_text(score: Score) -> str:
    return "-" if score.interval is None else "[{:.3f}, {:.3f}]".format(*score.interval)


def other_means(comparison: Comparison) -> Table:
    """The means by the other measures, with marks."""
    rows = []
    for system in comparison.systems:
        pairs = [pair for pair in comparison.pairs if pair.system == system.name]
        tests = {pair.measure: pair.test for pair in pairs if comparison.has_baselines}
        means = {measure: score.mean for measure, score in system.scores.items()}
        borrowed = bool(system.ranking_of)
        rows.append(ResultRow(system.name, means, marks(tests), borrowed=borrowed))
    return results_table(rows, comparison.measures[1:])


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
    yield Table.of(header, rows, "Means with other judgments and tie orders", left=2)
    lines = [
        [pair.measure, _name(pair), f"{pair.difference:+.4f}", *ends]
        for measure in comparison.measures
        for pair in comparison.pairs_by(measure)
        if (ends := [_range(pair.unjudged, "+"), _range(pair.ties, "+")]) != ["-", "-"]
    ]
    header = ["measure", "pair", "difference", "all judged", "tie orders"]
    yield Table.of(header, lines, "Differences with other judgments and tie orders", left=2)


def _range(bounds: Bounds | None, sign: str = "") -> str:
    return "-" if bounds is None else f"{bounds.low:{sign}.4f} to {bounds.high:{sign}.4f}"


def group_tables(comparison: Comparison, measures: Sequence[str]) -> Iterator[Table]:
    """The means of each group of topics, and the differences from a baseline."""
    by = comparison.group_by
    for measure in measures if comparison.groups else ():
        yield group_means(comparison, measure)
        if not comparison.has_baselines or not comparison.groups[0].tests:
            continue  # a line for each group and pair is too long to read
        first = next(iter(comparison.groups[0].tests))
        lines = [
            [
                group.value if pair == first else "",
                pair[1],
                difference_text(tests[measure].difference, _interval_of(tests[measure])),
                f"{tests[measure].wins}/{tests[measure].ties}/{tests[measure].losses}",
            ]
            for group in comparison.groups
            for pair, tests in group.tests.items()
            if measure in tests
        ]
        title = f"Differences from {comparison.baseline} by {by}, not corrected for their number"
        yield Table.of([by, "system", "difference [95 % interval]", "W/T/L"], lines, title, left=2)


def group_means(comparison: Comparison, measure: str) -> Table:
    """The means of each group of topics, a line for each."""
    values = [
        [group.means[system.name][measure] for system in comparison.systems]
        for group in comparison.groups
    ]
    names = Column(comparison.group_by, [group.value for group in comparison.groups])
    counts = Column("topics", [str(len(group.topics)) for group in comparison.groups])
    columns = [names, counts, *_by_system(comparison, measure, values)]
    return Table(columns, f"{measure} by {comparison.group_by}")


def _by_system(
    comparison: Comparison, measure: str, values: Sequence[Sequence[float]]
) -> list[Column]:
    """A column for each system, of lines of values; the best of each line is bold."""
    best = [best_places(comparison, line) for line in values]
    return [
        Column(
            system.name,
            [figure(measure, line[place]) for line in values],
            best=[row for row, places in enumerate(best) if place in places],
            values=[line[place] for line in values],
        )
        for place, system in enumerate(comparison.systems)
    ]


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
    values = [
        [s.scores[measure].per_topic.get(topic.id, 0.0) for s in comparison.systems]
        for topic in topics
    ]
    columns = [Column("topic", [topic.id for topic in topics])]
    columns += _by_system(comparison, measure, values)
    queries = [topic.query for topic in topics]
    if any(queries):
        columns.append(Column("query", queries))
    return Table(columns, title, text=any(queries))


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
    return replace(Table.of(["topic", "lowest", "highest", "query"], rows, title), text=True)
