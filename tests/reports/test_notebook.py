"""Reports in a notebook: tables in HTML, and frames of pandas and polars."""

import sys
from xml.etree import ElementTree

import pytest

import irplatform as ir
from irplatform.errors import InputError
from irplatform.reports.run_report import RunReport, SystemResult
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import block, cell, table

QRELS = {t: {"b": 1} for t in "1234"}


def _runs(second="other"):
    one = ir.Run("one", {t: ir.Ranking.of(["a", "b"], [2.0, 1.0]) for t in "1234"})
    other = ir.Run(second, {t: ir.Ranking.of(["b", "a"], [2.0, 1.0]) for t in "123"})
    return one, other


def _parsed(html):
    return ElementTree.fromstring(html)


def _cells(html):
    return [["".join(element.itertext()) for element in row] for row in _parsed(html).iter("tr")]


def _report():
    systems = [
        SystemResult("bm25", "bm25.run", {"AP": 0.25}, {"AP": {"1": 0.25}}, {"retrieve": 1.0}),
        SystemResult(
            "<b>x", "x.run", {"AP": 0.5}, {"AP": {"1": 0.5}}, {"rerank": 2.0}, 0.5, {"AP": 0.4}
        ),
    ]
    return RunReport("c", "A note.", ["AP"], systems, "bm25")


def test_a_report_shows_itself_and_texts_stay_texts():
    html = _report()._repr_html_()
    assert _cells(html) == [
        ["system", "AP", "seconds"],
        ["bm25", "0.2500", "1.0"],
        ["<b>x (first stage × 0.50)", "0.5000", "2.0"],
        ["alone", "0.4000", ""],
    ]
    assert [bold.text for bold in _parsed(html).iter("b")] == ["0.5000"]
    assert "A note." in html


def test_colours_are_those_of_the_page():
    html = _report()._repr_html_()
    assert "background: none" in html
    assert "prefers-color-scheme: dark" in html
    assert "data-jp-theme-light" in html


def test_a_comparison_shows_itself():
    comparison = ir.compare([*_runs("<script>")], qrels=QRELS, measures=["RR", "P@1"])
    html = comparison._repr_html_()
    rows = _cells(html)
    assert rows[0][:2] == ["system", "RR"]
    assert rows[0][-3:] == ["d", "p", "W/T/L"]
    assert rows[2][0] == "<script>"
    assert rows[2][-1] == "3/0/1"
    assert "<script" not in html
    missing = "1 topic with no results (they count as 0): "
    assert missing in html
    assert missing in repr(comparison).splitlines()[0]
    every = ir.compare([*_runs()], qrels=QRELS, measures="RR", all_pairs=True)
    assert _cells(every._repr_html_())[4][0] == "other − one"


def test_a_run_shows_its_beginning():
    html = _runs()[0]._repr_html_()
    assert _cells(html)[1] == ["1", "2", "a, b"]
    assert repr(_runs()[0]) == "Run('one', 4 topics, 8 results)"


FRAMES = [
    (_runs()[1].to_polars, ["query_id", "doc_id", "score", "rank"], 6),
    (
        lambda: _report().to_polars(),
        ["system", "AP", "AP alone", "first_stage_share", "ranking_of", "seconds"],
        2,
    ),
    (lambda: _report().to_polars(per_topic=True), ["system", "topic", "measure", "value"], 2),
    (lambda: _scores().to_polars(), ["system", "RR"], 2),
    (lambda: _scores().to_polars(per_topic=True), ["system", "topic", "measure", "value"], 8),
]


def _scores():
    return ir.evaluate([*_runs()], qrels=QRELS, measures="RR")


@pytest.mark.parametrize(("frame", "columns", "rows"), FRAMES)
def test_frames_of_polars(frame, columns, rows):
    pytest.importorskip("polars")
    result = frame()
    assert (result.columns, result.height) == (columns, rows)


def test_the_parts_of_a_comparison_are_frames():
    comparison = ir.compare([*_runs()], qrels=QRELS, measures="RR")
    pytest.importorskip("polars")
    pairs = comparison.to_polars("pairs").row(0, named=True)
    assert (pairs["system"], pairs["difference"], pairs["wins"]) == ("other", 0.25, 3)
    systems = comparison.to_polars()
    assert systems["mean"].to_list() == [0.5, 0.75]
    assert comparison.to_polars("topics").height == 8
    assert comparison.to_polars("groups").height == 0
    with pytest.raises(InputError, match="Did you mean 'pairs'"):
        comparison.to_polars("pair")


def test_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = _runs()[1].to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["rank"].tolist() == [1, 2] * 3
    comparison = ir.compare([*_runs()], qrels=QRELS, measures="RR")
    assert comparison.to_pandas("pairs")["losses"].tolist() == [1]


@pytest.mark.parametrize(("make", "package"), [(pandas_frame, "pandas"), (polars_frame, "polars")])
def test_a_missing_package_is_one_clear_line(make, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        InputError, match=rf"needs {package}. Run pip install 'irplatform\[frames\]"
    ):
        make({"a": [1]})


def test_cells_may_have_kinds_and_tips():
    text = cell("1 < 2", bold=True, kind="better", title='say "x"')
    assert text == '<span class="better" title="say &quot;x&quot;"><b>1 &lt; 2</b></span>'
    html = block(table(["a", "b"], [[text, "<i>"]]), "Text <x>.", heading="H", notes=["n", ""])
    assert _cells(html) == [["a", "b"], ["1 < 2", "<i>"]]
    assert [p.text for p in _parsed(html).iter("p")] == ["H", "Text <x>.", "n"]
