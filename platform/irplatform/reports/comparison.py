"""A comparison as text, Markdown, LaTeX or CSV.

Text fits a screen: a table by the first measure, the means by the others, a sentence for each pair,
and the topics that differ most. Further parts come if asked for: all measures, bounds, groups,
topics.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from irplatform.comparison.sentences import p_text, ranks_sentence
from irplatform.comparison.tests import CORRECTION_NAMES, FEWEST_TOPICS, TEST_NAMES
from irplatform.errors import counted, for_display
from irplatform.reports.table import (
    ResultRow,
    aligned,
    blocks,
    figure,
    latex_text,
    markdown_text,
    marks,
    render_table,
    short,
)
from irplatform.system.console import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.comparison.bounds import Bounds
    from irplatform.comparison.results import ComparedTopic, Comparison, Pair, Score
    from irplatform.comparison.tests import Difference

Form = Literal["text", "markdown", "latex", "csv"]

_ASCII = str.maketrans({"–": "-", "−": "-", "×": "x", "…": "."})

_MOST_TOPICS = 5

_NARROWEST_QUERY = 20

_USUAL_WIDTH = 100
"""Columns where the output is no terminal."""


@dataclass(frozen=True)
class Parts:
    """The parts to show beside the usual ones.

    Attributes:
        every_measure: the table and sentences by every measure, not by the first alone.
        bounds: condensed lists, and bounds for unjudged and tied documents.
        per_topic: the values of every topic.
    """

    every_measure: bool = False
    bounds: bool = False
    per_topic: bool = False


@dataclass(frozen=True)
class _Table:
    """A table of text cells with a title, left-aligned columns first."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    best: frozenset[tuple[int, int]] = frozenset()
    """Rows and columns of the best values."""


def render(
    comparison: Comparison,
    form: Form = "text",
    parts: Parts | None = None,
    *,
    width: int | None = None,
    ascii_only: bool = False,
) -> str:
    """Render a comparison.

    Args:
        comparison: the comparison.
        form: text, markdown, latex or csv.
        parts: the parts to show.
        width: columns of the terminal, for text.
        ascii_only: write text without typographic characters.
    """
    parts = parts or Parts()
    if form == "csv":
        from irplatform.reports.comparison_csv import csv_of

        return csv_of(comparison, per_topic=parts.per_topic)
    if form == "text":
        text = "\n\n".join(_text(comparison, parts, width, ascii_only))
        return text.translate(_ASCII) if ascii_only else text
    tables = _tables(comparison, parts)
    if form == "latex":
        return "\n\n".join([*map(_latex, tables), *_latex_notes(comparison, parts)])
    notes = [f"- {markdown_text(note)}" for note in _sentences(comparison, parts)]
    legend = markdown_text(_legend(comparison))
    return "\n\n".join([*map(_markdown, tables), legend, "\n".join(notes)])


def _measures(comparison: Comparison, parts: Parts) -> Sequence[str]:
    return comparison.measures if parts.every_measure else comparison.measures[:1]


def _sentences(comparison: Comparison, parts: Parts) -> Iterator[str]:
    for measure in _measures(comparison, parts):
        yield from (pair.sentence for pair in comparison.pairs_by(measure))
        if len(comparison.systems) > 2:
            yield ranks_sentence(comparison, measure)


def _text(
    comparison: Comparison, parts: Parts, width: int | None, ascii_only: bool
) -> Iterator[str]:
    """Paragraphs and tables, in their order."""
    heading = counted(len(comparison.topics), "topic")
    heading = f"{comparison.collection}: {heading}" if comparison.collection else heading
    lines = [for_display(line) for line in (heading, comparison.note) if line]
    yield "\n".join(wrapped(line, width) for line in lines)
    for measure in _measures(comparison, parts):
        yield from (_aligned(table, width) for table in _main(comparison, measure))
    others = () if parts.every_measure else comparison.measures[1:]
    if others and comparison.baseline is not None:
        yield render_table(
            _other_rows(comparison),
            others,
            baseline=comparison.baseline,
            ascii_only=ascii_only,
            width=width,
            how=_how(comparison),
        )
    elif others:
        yield render_table(_other_rows(comparison), others, width=width)
    yield wrapped(_legend(comparison), width)
    yield "\n".join(_hanging(sentence, width) for sentence in _sentences(comparison, parts))
    if parts.bounds:
        yield from (_aligned(table, width) for table in _bounds(comparison))
    if comparison.groups:
        yield from (_aligned(table, width) for table in _groups(comparison, parts))
    if parts.per_topic:
        yield from (_aligned(table, width) for table in _per_topic(comparison))
    elif topics := comparison.most_different(comparison.measures[0], _MOST_TOPICS):
        table = _values_of(comparison, comparison.measures[0], topics, "topics that differ most by")
        yield _with_queries(table, width)


def _tables(comparison: Comparison, parts: Parts) -> Iterator[_Table]:
    """The tables of Markdown and LaTeX."""
    for measure in _measures(comparison, parts):
        yield from _main(comparison, measure)
    if parts.bounds:
        yield from _bounds(comparison)
    yield from _groups(comparison, parts)
    if parts.per_topic:
        yield from _per_topic(comparison)


def _main(comparison: Comparison, measure: str) -> Iterator[_Table]:
    """Means, Judged@k and, in the same table where there is a baseline, the pairs."""
    scores = {system.name: system.scores[measure] for system in comparison.systems}
    depth = next(iter(scores.values())).judged_at
    judged = [f"Judged@{depth}"] if depth else []
    header = ["system", measure, *judged]
    rows = [[name, *_mean_cells(measure, score)] for name, score in scores.items()]
    highest = max(round(score.mean, 4) for score in scores.values())
    best = frozenset((n, 1) for n, s in enumerate(scores.values()) if round(s.mean, 4) == highest)
    pairs = {pair.system: pair for pair in comparison.pairs_by(measure)}
    columns = ["difference [95 % interval]", "p", "W/T/L"]
    if comparison.baseline is None:
        yield _Table("", header, rows, best=best)
        lines = [[_pair_name(p), *_pair_cells(p)] for p in comparison.pairs_by(measure)]
        yield _Table("", ["pair", *columns], lines)
        return
    blank = ["baseline", "", ""]
    cells = [_pair_cells(pairs[name]) if name in pairs else blank for name in scores]
    rows = [[*row, *more] for row, more in zip(rows, cells, strict=True)]
    yield _Table("", [*header, *columns], rows, best=best)


def _mean_cells(measure: str, score: Score) -> list[str]:
    judged = [] if score.judged is None else [f"{score.judged:.3f}"]
    return [figure(measure, score.mean), *judged]


def _pair_name(pair: Pair) -> str:
    return f"{pair.system} − {pair.baseline}"


def _pair_cells(pair: Pair) -> list[str]:
    counts = f"{pair.wins}/{pair.ties_of_topics}/{pair.losses}"
    return [_difference(pair.difference, pair.interval), p_text(pair.adjusted_p), counts]


def _difference(difference: float, interval: tuple[float, float] | None) -> str:
    if interval is None:
        return f"{difference:+.4f}" + " " * len(" [+0.000, +0.000]")
    return f"{difference:+.4f} [{interval[0]:+.3f}, {interval[1]:+.3f}]"


def _legend(comparison: Comparison) -> str:
    return f"p: {_how(comparison)}; W/T/L: topics won, tied and lost"


def _how(comparison: Comparison) -> str:
    how = TEST_NAMES[comparison.test]
    if comparison.comparisons > 1:
        how += f", {CORRECTION_NAMES[comparison.correction]}"
    return how


def _other_rows(comparison: Comparison) -> list[ResultRow]:
    rows = []
    for system in comparison.systems:
        tests = {
            pair.measure: pair.test
            for pair in comparison.pairs
            if pair.system == system.name and comparison.baseline is not None
        }
        means = {measure: score.mean for measure, score in system.scores.items()}
        rows.append(ResultRow(system.name, means, marks(tests)))
    return rows


def _bounds(comparison: Comparison) -> Iterator[_Table]:
    """What unjudged documents and tied ones may be worth, for systems and pairs."""
    header = ["measure", "system", "mean", "judged", "condensed", "unjudged relevant", "ties"]
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
    if rows:
        yield _Table("What unjudged and tied documents may be worth", header, rows, left=2)
    lines = [
        [pair.measure, _pair_name(pair), f"{pair.difference:+.4f}", *ends]
        for pair in comparison.pairs
        if (ends := [_range(pair.unjudged, "+"), _range(pair.ties, "+")]) != ["-", "-"]
    ]
    if lines:
        header = ["measure", "pair", "difference", "unjudged", "ties"]
        yield _Table("What they may do to the differences", header, lines, left=2)


def _range(bounds: Bounds | None, sign: str = "") -> str:
    return "-" if bounds is None else f"{bounds.low:{sign}.4f} to {bounds.high:{sign}.4f}"


def _groups(comparison: Comparison, parts: Parts) -> Iterator[_Table]:
    """The means and differences of each group of topics."""
    for measure in _measures(comparison, parts) if comparison.groups else ():
        names = [system.name for system in comparison.systems]
        rows = [
            [
                group.value,
                str(len(group.topics)),
                *(figure(measure, group.means[name][measure]) for name in names),
            ]
            for group in comparison.groups
        ]
        title = f"{measure} by {comparison.group_by}"
        yield _Table(title, [comparison.group_by, "topics", *names], rows)
        if comparison.baseline is None:
            continue  # a line for each group and pair is too long to read
        lines = [
            [
                group.value,
                f"{system} − {baseline}",
                _difference(test.difference, _interval_of(test)),
                f"{test.wins}/{test.n - test.wins - test.losses}/{test.losses}",
            ]
            for group in comparison.groups
            for (baseline, system), tests in group.tests.items()
            for test in [tests[measure]]
        ]
        header = [comparison.group_by, "pair", "difference [95 % interval]", "W/T/L"]
        yield _Table(f"Differences of {measure} by {comparison.group_by}", header, lines, left=2)


def _interval_of(test: Difference) -> tuple[float, float] | None:
    """The interval of a group's difference; two topics give none that says anything."""
    if test.n < FEWEST_TOPICS or test.low is None or test.high is None:
        return None
    return test.low, test.high


def _per_topic(comparison: Comparison) -> Iterator[_Table]:
    for measure in comparison.measures:
        yield _values_of(comparison, measure, comparison.topics, "topics by")


def _values_of(
    comparison: Comparison, measure: str, topics: Sequence[ComparedTopic], title: str
) -> _Table:
    """A line for each topic: its values, and its query last."""
    names = [system.name for system in comparison.systems]
    rows, best = [], set()
    for number, topic in enumerate(topics):
        values = [s.scores[measure].per_topic.get(topic.id, 0.0) for s in comparison.systems]
        best |= {(number, n) for n, v in enumerate(values, start=1) if v == max(values)}
        rows.append([topic.id, *(figure(measure, value) for value in values), topic.query])
    header = ["topic", *names, "query"]
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return _Table(f"{title.capitalize()} {measure}", header, rows, best=frozenset(best))


# Tables as text, Markdown and LaTeX.


def _aligned(table: _Table, width: int | None) -> str:
    """The table, in parts below each other where the terminal is too narrow."""
    cells = [[for_display(cell) for cell in row] for row in (table.header, *table.rows)]
    if width:
        excess = sum(max(map(len, c)) + 2 for c in zip(*cells, strict=True)) - 2 - width
        longest = max(len(row[table.left - 1]) for row in cells)
        room = max(_NARROWEST_QUERY // 2, longest - max(excess, 0))
        for row in cells:
            row[table.left - 1] = short(row[table.left - 1], room)
    bold = set()
    if width and not os.environ.get("NO_COLOR"):
        bold = {(row + 1, column) for row, column in table.best}
    lines = []
    for columns in blocks(cells, width):
        part = [[row[column] for column in columns] for row in cells]
        placed = {(row, columns.index(column)) for row, column in bold if column in columns}
        lines.append("\n".join(aligned(part, left=table.left, bold=placed)))
    return "\n".join([*([table.title, ""] if table.title else []), "\n\n".join(lines)])


def _with_queries(table: _Table, width: int | None) -> str:
    """The table with the last column, the query, left-aligned and cut at the terminal's edge."""
    if table.header[-1] != "query":
        return _aligned(table, width)
    queries = ["query", *(for_display(row[-1]) for row in table.rows)]
    values = _Table("", table.header[:-1], [row[:-1] for row in table.rows], best=table.best)
    lines = _aligned(values, None).split("\n")
    room = (width or _USUAL_WIDTH) - len(lines[1]) - 2
    if room < _NARROWEST_QUERY:
        return "\n".join([table.title, "", _aligned(values, width)])
    rule = lines.pop(1)
    cut = [query if len(query) <= room else f"{query[: room - 1]}…" for query in queries]
    full = [f"{line.ljust(len(rule))}  {query}" for line, query in zip(lines, cut, strict=True)]
    rule = "-" * (len(rule) + 2 + max(map(len, cut)))
    return "\n".join([table.title, "", full[0].rstrip(), rule, *full[1:]])


def _hanging(text: str, width: int | None) -> str:
    """A sentence whose further lines are indented; "p = 0.05" is not broken."""
    whole = for_display(text).replace("p = ", "p\xa0=\xa0")
    first, *rest = wrapped(whole, width and width - 2).split("\n")
    return "\n".join([first, *(f"  {line}" for line in rest)]).replace("\xa0", " ")


def _markdown(table: _Table) -> str:
    rows = [
        [
            f"**{markdown_text(cell)}**" if (number, column) in table.best else markdown_text(cell)
            for column, cell in enumerate(row)
        ]
        for number, row in enumerate(table.rows)
    ]
    header = [markdown_text(cell) for cell in table.header]
    rule = "|" + "---|" * table.left + "---:|" * (len(header) - table.left)
    lines = ["| " + " | ".join(row) + " |" for row in [header, *rows]]
    title = [f"**{markdown_text(table.title)}**", ""] if table.title else []
    return "\n".join([*title, lines[0], rule, *lines[1:]])


def _latex(table: _Table) -> str:
    def cell(number: int, column: int, text: str) -> str:
        escaped = latex_text(text.replace("−", "–")).replace("–", "--")
        return rf"\textbf{{{escaped}}}" if (number, column) in table.best else escaped

    rows = [
        " & ".join(cell(number, column, text) for column, text in enumerate(row)) + r" \\"
        for number, row in enumerate(table.rows)
    ]
    columns = "l" * table.left + "r" * (len(table.header) - table.left)
    return "\n".join(
        [
            *([f"% {latex_text(table.title)}"] if table.title else []),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(map(latex_text, table.header)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex_notes(comparison: Comparison, parts: Parts) -> Iterator[str]:
    notes = [r"\usepackage{booktabs}", _legend(comparison), *_sentences(comparison, parts)]
    yield "\n".join(f"% {note}" for note in notes)
