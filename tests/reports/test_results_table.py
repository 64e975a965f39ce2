"""The table of results, as text and on a terminal."""

import io
import re
import sys

import pytest

from irplatform.comparison.tests import Difference
from irplatform.reports.columns import print_text
from irplatform.reports.table import ResultRow, mark, render_table, results_table

ROWS = [
    ResultRow("bm25", {"nDCG@20": 0.4404, "AP": 0.2408}, seconds=3.21),
    ResultRow("delta", {"nDCG@20": 0.46519, "AP": 0.2508}, {"nDCG@20": 1, "AP": 2}, seconds=130),
    ResultRow("alone", {"nDCG@20": 0.41}, {"nDCG@20": -1}, indent=1),
]
MEASURES = ["nDCG@20", "AP"]


def rendered(rows, measures=MEASURES, **options):
    return render_table(results_table(rows, measures), **options)


def test_numbers_line_up_and_marks_follow_them():
    assert rendered(ROWS, note="A closed pool.", baseline="bm25") == (
        "A closed pool.\n"
        "\n"
        "system   nDCG@20       AP    seconds\n"
        "------------------------------------\n"
        "bm25      0.4404   0.2408        3.2\n"
        "delta     0.4652▲  0.2508▲▲    130.0\n"
        "  alone   0.4100▼       -\n"
        "▲ better than bm25, ▼ worse: p < 0.05; ▲▲ ▼▼ p < 0.01 (paired t-test, Holm's correction)"
    )


def test_counts_are_whole_numbers():
    counts = {"NumRet": 3875.0, "NumRet(rel=1)": 12.0, "P@1": 1.0}
    mean = {"NumRet": 3875.0, "NumRet(rel=1)": 11.5, "P@1": 0.5}
    lines = rendered([ResultRow("a", counts), ResultRow("b", mean)], list(counts)).splitlines()
    assert [line.split() for line in lines[2:]] == [
        ["a", "3,875", "12", "1.0000"],
        ["b", "3,875", "11.5000", "0.5000"],
    ]


def test_plain_ascii_will_do(monkeypatch):
    rows = [*ROWS, ResultRow("mixed (first stage × 0.10)", {"nDCG@20": 0.1})]
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stdout)
    print_text(rendered(rows))
    text = stdout.buffer.getvalue().decode("ascii")
    assert "mixed (first stage x 0.10)" in text
    assert "0.2508++" in text
    assert "0.4100-" in text


def test_without_marks_there_is_no_legend_and_without_seconds_no_column():
    text = rendered([ResultRow("bm25", {"AP": 0.5})], ["AP"])
    assert text == "system      AP\n--------------\nbm25    0.5000"


def test_a_terminal_shows_the_best_values_in_bold_and_keeps_markup_as_it_is():
    text = rendered(ROWS, note="A [bold]pool[/bold].", baseline="bm25", width=80)
    (delta,) = (line for line in text.splitlines() if line.startswith("delta"))
    assert delta == "delta    \x1b[1m 0.4652▲\x1b[0m  \x1b[1m0.2508▲▲\x1b[0m    130.0"
    assert text.startswith("A [bold]pool[/bold].\n\n")


@pytest.mark.parametrize("width", [40, 60, 80, 140])
@pytest.mark.parametrize("systems", [1, 30])
def test_no_line_is_wider_than_the_terminal_and_every_figure_is_shown(width, systems):
    measures = [f"nDCG@{10 * n}" for n in range(1, 13)]
    rows = [
        ResultRow(
            f"system-{n}", dict.fromkeys(measures, n / 100), dict.fromkeys(measures, 2), seconds=n
        )
        for n in range(systems)
    ]
    text = rendered(rows, measures, note="A note. " * 20, baseline="bm25", width=width)
    lines = re.sub(r"\x1b\[\d*m", "", text).splitlines()
    assert max(map(len, lines)) <= width
    assert text.count("▲▲") >= systems * len(measures)
    headers = [word for line in lines if line.startswith("system ") for word in line.split()]
    assert [word for word in headers if word in measures] == measures


def test_a_name_that_leaves_no_room_is_cut_in_its_middle():
    text = rendered([ResultRow("a" * 50 + "b" * 50, {"AP": 0.5})], ["AP"], width=60)
    name, value = re.sub(r"\x1b\[\d*m", "", text).splitlines()[-1].split()
    assert (name, value) == ("a" * 15 + "…" + "b" * 14, "0.5000")


@pytest.mark.parametrize(
    ("difference", "p_value", "adjusted", "expected"),
    [
        (0.1, 0.04, None, 1),
        (0.1, 0.009, None, 2),
        (-0.1, 0.009, 0.03, -1),
        (-0.1, 0.001, 0.002, -2),
        (0.1, 0.04, 0.08, 0),
        (0.1, 0.05, None, 0),
        (0.1, None, None, 0),
        (0.0, 1.0, 1.0, 0),
    ],
)
def test_marks_follow_the_corrected_p_value(difference, p_value, adjusted, expected):
    comparison = Difference(difference, p_value, None, None, None, 30, adjusted)
    assert mark(comparison) == expected


def test_without_colours_nothing_is_bold(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in rendered(ROWS, width=80)
