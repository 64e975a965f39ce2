"""What a run would do."""

import json

import pytest
from commands import call

import irplatform as ir
from irplatform.errors import InputError
from irplatform.files.costs import Work
from irplatform.planning.estimates import Estimate
from irplatform.planning.steps import Forecast, Step, duration, sentences, size, table_of
from irplatform.reports.columns import as_text


def _steps(forecast):
    return {step.what: step for step in forecast.steps}


def test_before_the_first_run_all_is_missing_and_nothing_is_made(fresh_home, tmp_path):
    forecast = ir.plan("demo", ["bm25-text", "lexical"], run_dir=tmp_path / "runs")
    steps = _steps(forecast)
    assert all(step.work for step in forecast.steps)
    assert steps["index demo"].of == "1,491 documents"
    assert steps["search demo-train with bm25"].of == "40 topics"
    assert steps["train lexical"].work == Work(
        "train", "lexical", 200, steps["train lexical"].work.variant
    )
    assert "train bm25-text" not in steps
    assert forecast.unknown == [*steps]
    assert not (tmp_path / "runs").exists()
    assert not [*fresh_home.glob("index/*")]


@pytest.mark.java
def test_after_a_run_all_is_in_the_cache(tmp_path):
    ir.run("demo", ["bm25-text"], interpolate=0.5, run_dir=tmp_path)
    again = ir.plan("demo", ["bm25-text"], interpolate=0.5, run_dir=tmp_path)
    steps = [step.what for step in again.steps if step.work]
    assert steps == ["everything else", "start"]
    elsewhere = ir.plan("demo", ["bm25-text"], interpolate=0.5, run_dir=tmp_path / "other")
    steps = [step.what for step in elsewhere.steps if step.work]
    assert steps[:3] == ["mix bm25-text with the first stage", "write runs", "score runs"]
    measure = ir.plan("demo", ["bm25-text"], interpolate=0.5, run_dir=tmp_path, measures=["nDCG@3"])
    assert next(step.what for step in measure.steps if step.work) == "score runs"
    options = {"interpolate": 0.5, "rerank_depth": 7, "run_dir": tmp_path}
    deeper = ir.plan("demo", ["bm25-text"], force=True, **options)
    steps = [step.what for step in deeper.steps if step.work]
    assert steps[:2] == ["rank with bm25-text", "mix bm25-text with the first stage"]


def test_several_first_stages_are_planned_together(fresh_home, tmp_path):
    forecast = ir.plan("demo", ["bm25-text"], first_stages=["bm25", "rm3"], run_dir=tmp_path)
    whats = [step.what for step in forecast.steps]
    assert whats.count("index demo") == 1
    assert {"search demo with bm25", "search demo with rm3"} <= {*whats}


@pytest.mark.java
def test_what_a_run_would_refuse_is_refused(tmp_path):
    ir.run("demo", ["bm25-text"], interpolate=0.5, run_dir=tmp_path)
    options = {"interpolate": 0.4, "run_dir": tmp_path}
    with pytest.raises(InputError, match=r"made with other settings: interpolate 0\.5 -> 0\.4"):
        ir.plan("demo", ["bm25-text"], **options)
    assert ir.plan("demo", ["bm25-text"], force=True, **options).steps


@pytest.mark.java
def test_the_cells_of_a_matrix_have_folders_of_their_own(tmp_path):
    options = {"first_stages": ["bm25", "rm3"], "interpolate": 0.5, "run_dir": tmp_path}
    ir.run("demo", ["bm25-text"], **options)
    again = ir.plan("demo", ["bm25-text"], **options)
    steps = {(step.cell, step.what) for step in again.steps if step.work}
    rest = "everything else"
    assert steps == {("demo, bm25", rest), ("demo, rm3", rest), ("", "start")}


def test_each_fold_is_trained(fresh_home, tmp_path):
    collection = ir.collection("demo-train")
    forecast = ir.plan(collection, ["lexical"], run_dir=tmp_path)
    assert [step.what for step in forecast.steps].count("train lexical") == 5


@pytest.mark.usefixtures("fresh_home")
def test_the_command_prints_a_table_or_json(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    output = call(capsys, monkeypatch, "run", "--collection", "demo", "--plan").out
    assert output.startswith("step ")
    assert "How long this takes is not known" in output
    content = json.loads(
        call(capsys, monkeypatch, "run", "--collection", "demo", "--plan", "--json").out
    )
    assert content["not_known"][0] == "index demo"
    assert not (tmp_path / "runs").exists()


FORECAST = Forecast(
    [
        Step("index demo", "1,491 documents"),
        Step("train delta", "40 topics", Work("train"), Estimate(95, 60, 130, 50, 36_700_000)),
        Step("rank with delta", "20 topics", Work("rank")),
    ],
    ["torch"],
)


def test_a_table_of_a_matrix_has_a_line_for_each_cell():
    cells = [Step("search", cell="demo, bm25"), Step("rank", cell="demo, rm3")]
    lines = as_text(table_of(Forecast([Step("index"), *cells, Step("start")])), 80).splitlines()
    firsts = [line.split("  ")[0] for line in lines[2:]]
    assert firsts == ["index", "demo, bm25:", "search", "demo, rm3:", "rank", "all:", "start"]


def test_a_table_says_what_is_known():
    lines = as_text(table_of(FORECAST), 80).splitlines()
    assert lines[2].split() == ["index", "demo", "1,491", "documents", "in", "the", "cache"]
    assert lines[3].split() == ["train", "delta", "40", "topics", "95.0", "37", "MB"]
    assert lines[4].split() == ["rank", "with", "delta", "20", "topics", "not", "known"]


def test_sentences_add_up():
    first, second, third = sentences(FORECAST)
    assert first.startswith("About 1 min 35 s of processor time (1 min 0 s to 2 min 10 s), 50.0 s")
    assert "37 MB of disk" in first
    assert second.endswith("has not done it before: rank with delta.")
    assert third == "Not installed, and needed: torch."
    assert [*sentences(Forecast([Step("index demo")]))] == ["Everything is in the cache."]


def test_seconds_and_bytes_in_words():
    assert [duration(s) for s in (0.04, 59.9, 3599.7)] == ["0.0 s", "59.9 s", "1 h 0 min"]
    assert [size(n) for n in (1, 999_999, 2_000_000)] == ["1 kB", "1000 kB", "2 MB"]
