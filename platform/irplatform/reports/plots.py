"""Plots of a comparison: topics, intervals and curves, as Altair charts.

For files and notebooks the charts hold their data and their colours. A page gives them colours that
follow its theme, and the data later: without values, their rows are named "rows".
"""

from __future__ import annotations

import io
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from irplatform.system.packages import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.comparison.curves import Curve
    from irplatform.comparison.results import Comparison, Pair

PLOTTING = ("altair", "vl_convert")
"""The packages that plot."""
FORMS = ("svg", "pdf", "png")
_WIDTH, _HEIGHT = 620, 240
_LABEL = 50
"""Characters of a line of a name in a plot; a telephone has room for them."""
POINTS = {
    "circle": "M19 7a4 4 0 1 1 8 0a4 4 0 1 1-8 0Z",
    "square": "M19 3h8v8h-8Z",
    "diamond": "M23 2l5 5l-5 5l-5-5Z",
    "triangle-up": "M23 2l5 9h-10Z",
    "triangle-down": "M23 12l-5-9h10Z",
}
"""The shapes of points, and their outlines in a key of 46 × 14 pixels."""
_RESOURCES = re.compile(rb"(?:^ +/[a-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
"""The named objects of a page of a PDF, a line each."""
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3], [10, 2, 2, 2, 2, 2])


@dataclass(frozen=True)
class Colours:
    """The colours of plots: of text, lines, gains and losses, and one for each system in turn.

    Those of systems are told apart with any colour vision (Okabe and Ito, 2008).
    """

    text: str = "#1c2733"
    lines: str = "#d5dbe1"
    gain: str = "#0072b2"
    loss: str = "#c8501a"
    same: str = "#8a94a0"
    systems: tuple[str, ...] = (
        "#56616c", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7a3fa0",
    )  # fmt: skip

    @property
    def of_results(self) -> dict[str, list[str]]:
        """The scale of gains and losses."""
        return {
            "domain": ["gain", "same", "loss"],
            "range": [self.gain, self.same, self.loss],
        }


PAGE = Colours(
    "var(--text)",
    "var(--rule)",
    "var(--gain)",
    "var(--loss)",
    "var(--muted)",
    tuple(f"var(--system-{n})" for n in range(len(Colours().systems))),
)
"""The colours of a page, which its style sheet defines for light and dark."""


class LineStyle(NamedTuple):
    """How the line of a system looks: its colour, its dashes and gaps, the shape of its points."""

    colour: str
    dash: Sequence[int]
    shape: str


def line_styles(count: int, colours: Colours | None = None) -> list[LineStyle]:
    """Return a style for each system: 64 differ in colour or dashes, 40 in dashes or points.

    Args:
        count: of systems.
        colours: by default those for files.
    """
    palette, shapes = (colours or Colours()).systems, [*POINTS]
    styles = []
    for number in range(count):
        turn, place = divmod(number, len(_DASHES))
        dash = _DASHES[(place + turn) % len(_DASHES)]
        styles.append(LineStyle(palette[place], dash, shapes[turn % len(shapes)]))
    return styles


def topic_rows(comparison: Comparison, pair: Pair) -> list[dict[str, Any]]:
    """Return a row for each topic, largest gain first: difference, both values and query."""
    queries = {topic.id: topic.query for topic in comparison.topics}
    one, other = comparison.values_of(pair)
    differences = comparison.topic_differences(pair)
    return [
        {
            "order": order,
            "topic": topic,
            "query": queries.get(topic, ""),
            "difference": difference,
            "baseline": one.get(topic, 0.0),
            "system": other.get(topic, 0.0),
            "result": _result(difference),
        }
        for order, (topic, difference) in enumerate(differences.items())
    ]


def _result(difference: float) -> str:
    return "same" if difference == 0 else "gain" if difference > 0 else "loss"


def topic_plot(
    rows: Sequence[Mapping[str, Any]] | None,
    title: str = "difference",
    colours: Colours | None = None,
) -> Any:
    """Return a bar for each topic: the difference of a system from its baseline, sorted.

    Args:
        rows: those of `topic_rows`; None for data that come later.
        title: of the vertical axis, such as "nDCG@20: ltr − bm25".
        colours: by default those for files.
    """
    import altair as alt

    colours = colours or Colours()
    results = alt.Scale(**colours.of_results)
    base = alt.Chart(_data(rows))
    bars = base.mark_bar(cursor="pointer", minBandSize=2).encode(
        x=alt.X(
            "topic:N",
            sort=alt.EncodingSortField("order"),
            axis=alt.Axis(
                labelAngle=0, labelOverlap="parity", labelSeparation=4, ticks=False, grid=False
            ),
            scale=alt.Scale(paddingInner=0.15),
        ),
        y=alt.Y("difference:Q", title=title),
        color=alt.Color("result:N", scale=results, legend=None),
        tooltip=[
            alt.Tooltip("topic:N"),
            alt.Tooltip("query:N"),
            alt.Tooltip("difference:Q", format="+.4f"),
            alt.Tooltip("baseline:Q", format=".4f"),
            alt.Tooltip("system:Q", format=".4f"),
        ],
    )
    zero = base.mark_rule(color=colours.text).encode(y=alt.datum(0))
    about = f"Difference of each topic, largest gain first. {title}"
    return _styled(alt.layer(bars, zero), colours, about, page=rows is None)


def interval_rows(comparison: Comparison, measure: str) -> list[dict[str, Any]]:
    """Return a row for each pair: its difference with the ends of its interval."""
    rows = []
    for pair in comparison.shown_pairs(measure):
        low, high = pair.interval or (pair.difference, pair.difference)
        name = pair.system if comparison.has_baselines else f"{pair.system} − {pair.baseline}"
        result = {"better": "gain", "worse": "loss"}.get(pair.verdict, "same")
        rows.append(
            {
                "pair": name,
                "label": "\n".join(textwrap.wrap(name, _LABEL)),
                "difference": pair.difference,
                "low": low,
                "high": high,
                "result": result,
            }
        )
    return rows


def interval_plot(
    rows: Sequence[Mapping[str, Any]],
    title: str = "difference",
    colours: Colours | None = None,
    *,
    page: bool = False,
) -> Any:
    """Return each pair's name, and below it a dot and a line: the mean and its 95 % interval.

    Args:
        rows: those of `interval_rows`.
        title: of the horizontal axis.
        colours: by default those for files.
        page: whether the data come later, and it is as wide as its place in a page.
    """
    import altair as alt

    colours = colours or Colours()
    results = alt.Scale(**colours.of_results)
    lines_of_name = 1 + max((row["label"].count("\n") for row in rows), default=0)
    data = _data(None if page else rows)
    base = alt.Chart(data).encode(
        y=alt.Y("pair:N", sort=None, axis=None, scale=alt.Scale(padding=0.4)),
        color=alt.Color("result:N", scale=results, legend=None),
        tooltip=[
            alt.Tooltip("pair:N"),
            alt.Tooltip("difference:Q", format="+.4f"),
            alt.Tooltip("low:Q", format="+.4f", title="95 % from"),
            alt.Tooltip("high:Q", format="+.4f", title="to"),
        ],
    )
    names = base.mark_text(
        align="left", baseline="bottom", fontSize=12, lineBreak="\n", yOffset=-7
    ).encode(x=alt.value(2), text="label:N", color=alt.value(colours.text), tooltip=alt.value(None))
    lines = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(x="difference:Q")
    zero = alt.Chart(data).mark_rule(color=colours.text, strokeDash=[3, 3]).encode(x=alt.datum(0))
    plot = _styled(
        alt.layer(zero, lines, dots, names),
        colours,
        f"Differences with 95 % intervals. {title}",
        page=page,
    )
    return plot.properties(height=alt.Step(22 + 16 * lines_of_name))


def curve_plot(curve: Curve, colours: Colours | None = None, *, page: bool = False) -> Any:
    """Return a line for each system, in the styles of `line_styles`.

    Args:
        curve: of `comparison.curves`.
        colours: by default those for files.
        page: whether it is as wide as its place in a page, which has its legend.
    """
    import altair as alt

    colours = colours or Colours()
    names = [*curve.points]
    rows = [
        {"system": name, "x": x, "y": y} for name, points in curve.points.items() for x, y in points
    ]
    styles = line_styles(len(names), colours)
    palette = alt.Scale(domain=names, range=[style.colour for style in styles])
    dashes = alt.Scale(domain=names, range=[style.dash for style in styles])
    shapes = alt.Scale(domain=names, range=[style.shape for style in styles])
    scale = alt.Scale(type="log") if curve.logarithmic else alt.Scale(domain=[0, 1])
    ticks = [1, 2, 5, 10, 20, 50, 100] if curve.logarithmic else [n / 5 for n in range(6)]
    of_entry = 60 + 7 * max(map(len, names), default=0)  # pixels, about
    legend = alt.Legend(
        orient="bottom",
        title=None,
        columns=max(1, _WIDTH // of_entry),
        symbolStrokeWidth=2.5,
        symbolSize=400,
        symbolType="stroke",
    )
    key = None if page else legend
    chart = (
        alt.Chart(_data(rows))
        .mark_line(point=alt.OverlayMarkDef(size=28), strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=curve.x, scale=scale, axis=alt.Axis(values=ticks)),
            y=alt.Y("y:Q", title=curve.y, scale=alt.Scale(zero=True)),
            color=alt.Color("system:N", scale=palette, legend=key),
            strokeDash=alt.StrokeDash("system:N", scale=dashes, legend=key),
            shape=alt.Shape("system:N", scale=shapes, legend=None),
            tooltip=[
                alt.Tooltip("system:N"),
                alt.Tooltip("x:Q", title=curve.x),
                alt.Tooltip("y:Q", title=curve.y, format=".4f"),
            ],
        )
    )
    return _styled(chart, colours, curve.name, page=page)


def save_plots(
    comparison: Comparison, drawn: Sequence[Curve], folder: Path, forms: Sequence[str] = FORMS
) -> list[Path]:
    """Save all plots of a comparison for a paper: by its first measure, and the curves.

    Args:
        comparison: the comparison.
        drawn: its curves.
        folder: made if missing; files of the same names are replaced.
        forms: "svg", "pdf" and "png" (twice as fine as a screen).

    Returns:
        The files.

    Raises:
        InputError: a plotting package is missing, or the folder cannot be written to.
    """
    require("a plot", *PLOTTING)
    from irplatform.files.writing import atomic_write

    measure = comparison.measures[0]
    plots: dict[str, Any] = {
        f"topics-{_file_name(pair.baseline)}-{_file_name(pair.system)}": topic_plot(
            topic_rows(comparison, pair), f"{measure}: {pair.system} − {pair.baseline}"
        )
        for pair in comparison.shown_pairs(measure)
    }
    plots["intervals"] = interval_plot(
        interval_rows(comparison, measure), f"{measure}: difference, 95 % interval"
    )
    plots |= {_file_name(curve.name.lower()): curve_plot(curve) for curve in drawn}
    paths = []
    for name, plot in plots.items():
        for form in forms:
            path = folder / f"{name}.{form}"
            with atomic_write(path, "wb") as file:
                file.write(drawn_as(plot, form))
            paths.append(path)
    return paths


def drawn_as(plot: Any, form: str) -> bytes:
    """Return a chart as a file of one of `FORMS`, whose bytes depend on the chart alone."""
    file = io.StringIO() if form == "svg" else io.BytesIO()
    plot.save(file, format=form, **({"scale_factor": 2} if form == "png" else {}))
    content = file.getvalue()
    if isinstance(content, str):
        return content.encode()
    return _RESOURCES.sub(_in_order, content) if form == "pdf" else content


def _in_order(names: re.Match[bytes]) -> bytes:
    """Sort lines of a PDF, which svg2pdf writes in an order that changes; all stay as long."""
    lines = sorted(names[0].splitlines(keepends=True), key=lambda line: (len(line), line))
    return b"".join(lines)


def compiled(plot: Any) -> dict[str, Any]:
    """Return a chart as Vega, which its runtime draws without Vega-Lite."""
    import vl_convert

    spec: dict[str, Any] = vl_convert.vegalite_to_vega(plot.to_dict(format="vega-lite"))
    return spec


def _data(rows: Sequence[Mapping[str, Any]] | None) -> Any:
    import altair as alt

    return alt.NamedData("rows") if rows is None else alt.InlineData([dict(row) for row in rows])


def _styled(chart: Any, colours: Colours, about: str, *, page: bool) -> Any:
    font = "system-ui, sans-serif" if page else "Helvetica, Arial, sans-serif"
    axis = {
        "labelColor": colours.text, "titleColor": colours.text, "gridColor": colours.lines,
        "domainColor": colours.lines, "tickColor": colours.lines, "titleFontWeight": "normal",
        "labelFontSize": 12, "titleFontSize": 13, "labelLimit": 260,
    }  # fmt: skip
    return (
        chart.properties(width="container" if page else _WIDTH, height=_HEIGHT, description=about)
        .configure(font=font, background="transparent" if page else "white")
        .configure_axis(**axis)
        .configure_legend(labelColor=colours.text, labelFontSize=12, labelLimit=0)
        .configure_view(stroke=None)
    )


def _file_name(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in text)
