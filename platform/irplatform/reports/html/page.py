"""A comparison as one HTML file: tables, sentences, plots, rankings, and how it was made.

Jinja fills `page.html` and escapes all texts; style, script, Vega's runtime and the data stand in
the page. A policy in its head keeps browsers from loading anything.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from irplatform.comparison.identities import identities_told
from irplatform.comparison.sentences import p_text, sentences
from irplatform.errors import listing
from irplatform.reports.comparison_tables import (
    alone_text,
    best_places,
    group_means,
    has_shares,
    how,
    matrix_of,
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
from irplatform.reports.table import figure
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.comparison.bounds import Bounds
    from irplatform.comparison.curves import Curve
    from irplatform.comparison.ranking import Rank
    from irplatform.comparison.results import Comparison, Pair
    from irplatform.reports.html.made import Made

PAGES = ("altair", "vl_convert", "jinja2")
"""The packages that make pages."""
GENERATOR = '<meta name="generator" content="irplatform'
"""By which a page of ours is known."""
_NAMED = 4
"""Systems in the page's title."""
_RAISED_LINES = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029"})


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, the value it is sorted by, and its class of style."""

    text: str
    value: float | str = ""
    style: str = ""


def render_page(
    comparison: Comparison,
    *,
    browser: Mapping[str, Any],
    curves: Sequence[Curve],
    made: Sequence[Made] = (),
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
    seconds = {each.system: sum(each.seconds.values()) for each in made if each.seconds}
    of = listing(names, _NAMED)
    if comparison.matrix:
        of = f"{listing(comparison.matrix.rows)} × {listing(comparison.matrix.columns)}"
    title = title or f"{comparison.collection}: {of}"
    return environment.from_string(_resource("page.html")).render(
        title=title,
        comparison=comparison,
        names=names,
        styles=line_styles(len(names), PAGE),
        points=POINTS,
        how=how(comparison),
        measures=[_measure(comparison, measure) for measure in comparison.measures],
        overview=_overview(comparison, seconds),
        overview_header=[
            "system",
            *["W"] * has_shares(comparison),
            *comparison.measures,
            *["seconds"] * bool(seconds),
        ],
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
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return re.sub(r"</(?=script)", r"<\\/", bundle, flags=re.IGNORECASE)


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
    scores = {system.name: system.scores[measure] for system in comparison.systems}
    depth = next(iter(scores.values())).judged_at
    mixed = has_shares(comparison)
    best = best_places(comparison, [round(score.mean, 4) for score in scores.values()])
    header = ["system", *["W"] * mixed, measure, *["alone"] * mixed, "95 % interval", "rank"]
    header += [f"Judged@{depth}"] if depth else []
    rows = []
    by_system = {pair.system: pair for pair in pairs} if comparison.has_baselines else {}
    for place, (name, score) in enumerate(scores.items()):
        row = [
            Cell(name, name, "name"),
            *_shares(comparison, name),
            Cell(figure(measure, score.mean), score.mean, "best" if place in best else ""),
            *([Cell(alone_text(measure, score), score.alone or 0.0)] if mixed else []),
            Cell(_between(score.interval), score.mean, "quiet"),
            Cell(_rank(score.rank), score.rank.rank if score.rank else len(scores)),
        ]
        if depth:
            row.append(
                Cell("" if score.judged is None else f"{score.judged:.3f}", score.judged or 0.0)
            )
        if comparison.has_baselines:
            row += _pair_cells(by_system.get(name), comparison.system(name).ranking_of)
        rows.append(row)
    if comparison.has_baselines:
        header += _OF_PAIR
    told = [
        {
            "text": text,
            "verdict": pair.verdict if pair else "",
            "depends": bool(pair and pair.depends_on),
        }
        for text, pair in _told(comparison, measure, pairs)
    ]
    return {
        "name": measure,
        "header": header,
        "rows": rows,
        "pairs": []
        if comparison.has_baselines
        else [[Cell(_pair_name(p), _pair_name(p), "name"), *_pair_cells(p)] for p in pairs],
        "pair_header": ["pair", *_OF_PAIR],
        **_matrix(comparison, measure),
        "sentences": told,
    }


def _shares(comparison: Comparison, name: str) -> list[Cell]:
    """The cell of W, where a system has one."""
    mixture = comparison.system(name).mixture
    share = -1.0 if mixture.share is None else mixture.share
    return [Cell(mixture.share_text, share)] if has_shares(comparison) else []


def _matrix(comparison: Comparison, measure: str) -> dict[str, Any]:
    """A measure's table of first stages and rerankers; nothing unless they make a matrix."""
    if comparison.matrix is None:
        return {"matrix": [], "matrix_header": []}
    first, *columns = matrix_of(comparison, measure).columns
    cells = [[Cell(name.strip(), name, "name") for name in first.cells]]
    for column in columns:
        cells.append([])
        for row, (value, mark) in enumerate(zip(column.cells, column.marks, strict=True)):
            styles = ["gain"] * ("▲" in mark) + ["loss"] * ("▼" in mark)
            styles += ["best"] * (row in column.best)
            cells[-1].append(Cell(f"{value}{mark}", value.strip("-"), " ".join(styles)))
    header = ["first stage", *(column.name for column in columns)]
    return {"matrix": [*zip(*cells, strict=True)], "matrix_header": header}


def _told(
    comparison: Comparison, measure: str, pairs: Sequence[Pair]
) -> list[tuple[str, Pair | None]]:
    """The sentences of a measure, with the pair that each is about."""
    by_text = {pair.sentence: pair for pair in pairs}
    return [(text, by_text.get(text)) for text in sentences(comparison, measure)]


_OF_PAIR = ["difference", "95 % interval", "d", "p", "won/tied/lost"]


def _pair_cells(pair: Pair | None, ranking_of: str = "") -> list[Cell]:
    if pair is None:
        told = f"= {ranking_of}" if ranking_of else "baseline"
        return [Cell(told, 0.0, "name quiet"), *[Cell("", -2.0)] * (len(_OF_PAIR) - 1)]
    style = {"better": "gain", "worse": "loss"}.get(pair.verdict, "")
    adjusted = pair.adjusted_p
    return [
        Cell(f"{pair.difference:+.4f}", pair.difference, style),
        Cell(_between(pair.interval, "+"), pair.difference, "quiet"),
        Cell("–" if pair.effect is None else f"{pair.effect:+.2f}", pair.effect or 0.0),
        Cell(p_text(adjusted), 2.0 if adjusted is None else adjusted),
        Cell(f"{pair.wins}/{pair.ties_of_topics}/{pair.losses}", pair.wins - pair.losses),
    ]


def _pair_name(pair: Pair) -> str:
    return f"{pair.system} − {pair.baseline}"


def _between(interval: tuple[float, float] | None, sign: str = "") -> str:
    return "–" if interval is None else f"{interval[0]:{sign}.3f} to {interval[1]:{sign}.3f}"


def _rank(rank: Rank | None) -> str:
    if rank is None:
        return "–"
    return str(rank.rank) if rank.low == rank.high else f"{rank.rank} ({rank.low}–{rank.high})"


def _overview(comparison: Comparison, seconds: Mapping[str, float]) -> list[list[Cell]]:
    """The means by all measures, marked where they differ from the baseline, and seconds."""
    rows = []
    best = {
        m: best_places(comparison, [round(s.scores[m].mean, 4) for s in comparison.systems])
        for m in comparison.measures
    }
    for place, system in enumerate(comparison.systems):
        row = [Cell(system.name, system.name, "name"), *_shares(comparison, system.name)]
        verdicts = {
            pair.measure: pair.verdict
            for pair in comparison.pairs
            if pair.system == system.name and comparison.has_baselines
        }
        for measure in comparison.measures:
            mean = system.scores[measure].mean
            verdict = verdicts.get(measure, "")
            mark = {"better": " ▲", "worse": " ▼"}.get(verdict, "")
            style = {"better": "gain", "worse": "loss"}.get(verdict, "")
            style += " best" if place in best[measure] else ""
            row.append(Cell(f"{figure(measure, mean)}{mark}", mean, style.strip()))
        if seconds:
            spent = seconds.get(system.name)
            row.append(Cell("–") if spent is None else Cell(f"{spent:,.1f}", spent))
        rows.append(row)
    return rows


def _bounds(comparison: Comparison) -> list[list[Cell]]:
    """Means with other judgments and tie orders; nothing if they were not computed."""
    rows = []
    for measure in comparison.measures:
        for system in comparison.systems:
            score = system.scores[measure]
            if score.unjudged is None or score.condensed is None:
                continue
            judged = score.judged or 0.0
            rows.append(
                [
                    Cell(measure, measure),
                    Cell(system.name, system.name, "name"),
                    Cell(f"{score.mean:.4f}", score.mean),
                    Cell(f"{1 - judged:.1%} of {score.judged_at}", 1 - judged),
                    Cell(f"{score.condensed:.4f}", score.condensed),
                    Cell(f"{score.unjudged.high:.4f}", score.unjudged.high),
                    Cell(_range(score.ties), score.ties.low if score.ties else 0.0),
                ]
            )
    return rows


def _range(bounds: Bounds | None) -> str:
    if bounds is None:
        return "–"
    low, high = f"{bounds.low:.4f}", f"{bounds.high:.4f}"
    return "none" if low == high else f"{low} to {high}"


def _groups(comparison: Comparison) -> list[tuple[Cell, ...]]:
    """The means of groups of topics by the first measure."""
    if not comparison.groups:
        return []
    names, counts, *columns = group_means(comparison, comparison.measures[0]).columns
    cells = [[Cell(name, name, "name") for name in names.cells]]
    cells.append([Cell(count, count) for count in counts.cells])
    for column in columns:
        figures = enumerate(zip(column.cells, column.values, strict=True))
        cells.append([Cell(*figure, "best" * (row in column.best)) for row, figure in figures])
    return [*zip(*cells, strict=True)]
