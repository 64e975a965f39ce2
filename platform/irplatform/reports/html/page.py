"""A comparison as one HTML file: tables, sentences, plots, rankings, and how it was made.

Jinja fills `page.html` and escapes all texts; style, script, Vega's runtime and the data stand in
the page. A policy in its head keeps browsers from loading anything.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import metadata
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from irplatform.comparison.identities import identities_told
from irplatform.comparison.sentences import sentences
from irplatform.errors import listing
from irplatform.files.facts import kept_fact
from irplatform.reports.columns import Cell
from irplatform.reports.comparison_tables import (
    alone_text,
    best_places,
    group_means,
    has_shares,
    matrix_of,
    method_in_words,
    share_legend,
)
from irplatform.reports.plots import (
    PAGE,
    POINTS,
    Colours,
    compiled,
    curve_plot,
    interval_plot,
    interval_rows,
    line_styles,
    topic_plot,
)
from irplatform.reports.statistic_columns import PAGE_OF_PAIR, STYLES, between
from irplatform.reports.table import figure
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.comparison.bounds import Bounds
    from irplatform.comparison.curves import Curve
    from irplatform.comparison.ranking import Rank
    from irplatform.comparison.results import Comparison, Pair
    from irplatform.reports.html.made import RunOrigin

PAGES = ("altair", "vl_convert", "jinja2")
"""The packages that make pages."""
GENERATOR = '<meta name="generator" content="irplatform'
"""By which a page of ours is known."""
_EMBED = "window.vegaEmbed = vegaEmbed;"
_NAMED = 4
"""Systems in the page's title."""
_RAISED_LINES = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029"})


_Column: TypeAlias = "tuple[str, list[Cell]]"
"""A header and the cells below it."""


class _Table(NamedTuple):
    """A table of the page."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    @classmethod
    def of(cls, columns: Iterable[_Column]) -> _Table:
        names, cells = zip(*columns, strict=True)
        return cls(names, [*zip(*cells, strict=True)])


def render_page(
    comparison: Comparison,
    *,
    browser: Mapping[str, Any],
    curves: Sequence[Curve],
    made: Sequence[RunOrigin] = (),
    notes: Sequence[str] = (),
    bibliography: str = "",
    title: str = "",
    footer: str = "",
) -> str:
    """Return a comparison as a page.

    Args:
        comparison: the comparison.
        browser: the data of rankings, of `browser_data`.
        curves: curves of the same systems.
        made: how each run was made.
        notes: what readers must know, in sentences.
        bibliography: BibTeX.
        title: the page's title; by default the collection's, with the systems.
        footer: what made the page, and when.
    """
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    names = [system.name for system in comparison.systems]
    rows = interval_rows(comparison, comparison.measures[0])
    plots = {
        "topics": compiled(topic_plot(None, "@title", PAGE)),
        "intervals": compiled(interval_plot(rows, "@title", PAGE, page=True)),
        **{f"curve-{n}": compiled(curve_plot(c, PAGE, page=True)) for n, c in enumerate(curves)},
    }
    data = {
        **browser,
        "pairs": [
            [pair.baseline, pair.system] for pair in comparison.shown_pairs(comparison.measures[0])
        ],
        "first": _most_different_pair(comparison),
        "intervals": {m: interval_rows(comparison, m) for m in comparison.measures},
        "plots": plots,
    }
    seconds = {run.system: sum(run.seconds.values()) for run in made if run.seconds}
    of = listing(names, _NAMED)
    if comparison.matrix:
        of = f"{listing(comparison.matrix.rows)} × {listing(comparison.matrix.columns)}"
    title = title or f"{comparison.collection}: {of}"
    return environment.from_string(_resource("page.html")).render(
        title=title,
        comparison=comparison,
        machine=any(topic.get("machine") for topic in browser["topics"]),
        names=names,
        styles=line_styles(len(names), PAGE),
        points=POINTS,
        how=method_in_words(comparison),
        measures=[_measure(comparison, measure) for measure in comparison.measures],
        overview=_overview(comparison, seconds),
        told=identities_told(comparison.systems),
        share_legend=share_legend(comparison),
        bounds=_bounds(comparison),
        groups=_groups(comparison),
        curves=curves,
        made=made,
        notes=notes,
        bibliography=bibliography,
        footer=footer,
        depth=browser["depth"],
        generator=f"irplatform {__version__}",
        style=_safe(_resource("page.css").replace("/* colours */", _colours())),
        script=_safe(_resource("page.js")),
        runtime=_safe(vega_runtime()),
        data=_safe(as_script(data)),
    )


def _most_different_pair(comparison: Comparison) -> int:
    """The place of the pair with the largest difference, or else the largest ones of topics."""
    pairs = comparison.shown_pairs(comparison.measures[0])

    def spread(place: int) -> tuple[float, float]:
        by_topic = comparison.topic_differences(pairs[place]).values()
        return round(abs(pairs[place].difference), 9), sum(map(abs, by_topic))

    return max(range(len(pairs)), key=spread)


@cache
def vega_runtime() -> str:
    """Return Vega's runtime as a script; `vegaEmbed` draws compiled plots."""
    version = metadata.version("vl-convert-python")
    bundle = kept_fact("check", "vega", {"vl-convert": version, "code": _EMBED}, _bundle)
    return re.sub(r"</(?=script)", r"<\\/", bundle, flags=re.IGNORECASE)


def _bundle() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(_EMBED)
    return bundle


def as_script(value: object) -> str:
    """Return JSON that can stand within a script element: `<`, `>` and `&` are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.translate(_RAISED_LINES)


def _safe(text: str) -> Any:
    """Mark a text as HTML, which is not escaped."""
    import markupsafe

    return markupsafe.Markup(text)


def _resource(name: str) -> str:
    return (files("irplatform.reports.html") / name).read_text(encoding="utf-8")


def _colours() -> str:
    """The colours of systems, for light pages."""
    return "".join(f"--system-{n}: {c}; " for n, c in enumerate(Colours().systems))


def _measure(comparison: Comparison, measure: str) -> dict[str, Any]:
    """A measure's table of systems, its table of pairs without a baseline, and its sentences."""
    pairs = comparison.tested(measure)
    names = [system.name for system in comparison.systems]
    scores = [system.scores[measure] for system in comparison.systems]
    best = best_places(comparison, [round(score.mean, 4) for score in scores])
    means = [
        Cell(figure(measure, score.mean), score.mean, "best" * (place in best))
        for place, score in enumerate(scores)
    ]
    columns = [_names("system", names), *_shares(comparison), (measure, means)]
    if has_shares(comparison):
        columns.append(("alone", [Cell(alone_text(measure, s), s.alone or 0.0) for s in scores]))
    intervals = [Cell(between(score.interval), score.mean, "quiet") for score in scores]
    ranks = [Cell(_rank(s.rank), s.rank.rank if s.rank else len(scores)) for s in scores]
    columns += [("95 % interval", intervals), ("rank", ranks)]
    if depth := scores[0].judged_at:
        judged = [
            Cell("" if s.judged is None else f"{s.judged:.3f}", s.judged or 0) for s in scores
        ]
        columns.append((f"Judged@{depth}", judged))
    if machine := [score.machine for score in scores if score.machine is not None]:
        columns.append(("machine", [Cell(f"{count:.1f}", count) for count in machine]))
    table = None
    if comparison.has_baselines:
        by_system = {pair.system: pair for pair in pairs}
        columns += _of_pairs([by_system.get(name) for name in names])
        for place, system in enumerate(comparison.systems):
            if system.name not in by_system:
                remark = f"= {system.ranking_of}" if system.ranking_of else "baseline"
                columns[-len(PAGE_OF_PAIR)][1][place] = Cell(remark, 0.0, "name quiet")
    else:
        table = _Table.of([_names("pair", map(_pair_name, pairs)), *_of_pairs(pairs)])
    return {
        "name": measure,
        "systems": _Table.of(columns),
        "pairs": table,
        "matrix": _matrix(comparison, measure),
        "sentences": _sentences_with_verdicts(comparison, measure, pairs),
    }


def _names(name: str, texts: Iterable[str]) -> _Column:
    return name, [Cell(text, text, "name") for text in texts]


def _shares(comparison: Comparison) -> list[_Column]:
    """The column of W, where systems have one."""
    if not has_shares(comparison):
        return []
    mixtures = [system.mixture for system in comparison.systems]
    return [("W", [Cell(m.share_text, -1.0 if m.share is None else m.share) for m in mixtures])]


def _matrix(comparison: Comparison, measure: str) -> _Table | None:
    """A measure's table of first stages and rerankers, if they make a matrix."""
    if comparison.matrix is None:
        return None
    first, *others = matrix_of(comparison, measure).columns
    columns = [_names("first stage", first.cells)]
    for column in others:
        cells = enumerate(zip(column.cells, column.marks, strict=True))
        columns.append((column.name, [_of_matrix(*c, row in column.best) for row, c in cells]))
    return _Table.of(columns)


def _of_matrix(value: str, mark: str, best: bool) -> Cell:
    style = "gain" if "▲" in mark else "loss" if "▼" in mark else ""
    return Cell(f"{value}{mark}", value.strip("-"), f"{style}{' best' * best}".strip())


def _sentences_with_verdicts(
    comparison: Comparison, measure: str, pairs: Sequence[Pair]
) -> list[tuple[str, str]]:
    """The sentences of a measure, with the verdict on the pair that each is about."""
    verdicts = {pair.sentence: pair.verdict for pair in pairs}
    return [(text, verdicts.get(text, "")) for text in sentences(comparison, measure)]


def _of_pairs(pairs: Sequence[Pair | None]) -> list[_Column]:
    return [
        (name, [cell_of(pair) if pair else Cell("", -2.0) for pair in pairs])
        for name, cell_of in PAGE_OF_PAIR
    ]


def _pair_name(pair: Pair) -> str:
    return f"{pair.system} − {pair.baseline}"


def _rank(rank: Rank | None) -> str:
    if rank is None:
        return "–"
    return str(rank.rank) if rank.low == rank.high else f"{rank.rank} ({rank.low}–{rank.high})"


def _overview(comparison: Comparison, seconds: Mapping[str, float]) -> _Table:
    """The means by all measures, marked where they differ from the baseline, and seconds."""
    systems = comparison.systems
    columns = [_names("system", (system.name for system in systems)), *_shares(comparison)]
    for measure in comparison.measures:
        means = [system.scores[measure].mean for system in systems]
        best = best_places(comparison, [round(mean, 4) for mean in means])
        pairs = comparison.pairs_by(measure) if comparison.has_baselines else []
        verdicts = {pair.system: pair.verdict for pair in pairs}
        columns.append((measure, []))
        for place, (system, mean) in enumerate(zip(systems, means, strict=True)):
            verdict = verdicts.get(system.name, "")
            mark = {"better": " ▲", "worse": " ▼"}.get(verdict, "")
            style = f"{STYLES.get(verdict, '')}{' best' * (place in best)}".strip()
            columns[-1][1].append(Cell(f"{figure(measure, mean)}{mark}", mean, style))
    if seconds:
        spent = [seconds.get(system.name) for system in systems]
        columns.append(
            ("seconds", [Cell("–") if s is None else Cell(f"{s:,.1f}", s) for s in spent])
        )
    return _Table.of(columns)


def _bounds(comparison: Comparison) -> _Table | None:
    """Means with other judgments and tie orders; None if they were not computed."""
    rows = [
        [
            Cell(measure, measure),
            Cell(system.name, system.name, "name"),
            Cell(f"{score.mean:.4f}", score.mean),
            Cell(f"{1 - judged:.1%} of {score.judged_at}", 1 - judged),
            Cell(f"{score.condensed:.4f}", score.condensed),
            Cell(f"{score.unjudged.high:.4f}", score.unjudged.high),
            Cell(_range(score.ties), score.ties.low if score.ties else 0.0),
        ]
        for measure in comparison.measures
        for system in comparison.systems
        for score in [system.scores[measure]]
        if score.unjudged is not None and score.condensed is not None
        for judged in [score.judged or 0.0]
    ]
    header = ["measure", "system", "mean", "not judged", "condensed", "unjudged relevant"]
    return _Table([*header, "tie orders"], rows) if rows else None


def _range(bounds: Bounds | None) -> str:
    if bounds is None:
        return "–"
    low, high = f"{bounds.low:.4f}", f"{bounds.high:.4f}"
    return "none" if low == high else f"{low} to {high}"


def _groups(comparison: Comparison) -> _Table | None:
    """The means of groups of topics by the first measure."""
    if not comparison.groups:
        return None
    names, counts, *others = group_means(comparison, comparison.measures[0]).columns
    columns = [_names(names.name, names.cells), (counts.name, [Cell(n, n) for n in counts.cells])]
    for column in others:
        figures = enumerate(zip(column.cells, column.values, strict=True))
        cells = [Cell(text, value, "best" * (row in column.best)) for row, (text, value) in figures]
        columns.append((column.name, cells))
    return _Table.of(columns)
