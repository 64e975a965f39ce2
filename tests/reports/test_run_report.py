"""What a run reports of a reranker that was trained with several seeds."""

from pathlib import Path
from statistics import stdev

import pytest

from irplatform.comparison.tests import Difference
from irplatform.reports.run_report import RunReport, SystemResult

SEEDS = [
    SystemResult(
        "delta",
        Path(f"d-seed{seed}.run"),
        {"AP": value},
        {},
        {},
        weight,
        {"AP": alone},
        seed=seed,
    )
    for seed, weight, value, alone in ((42, 0.5, 0.30, 0.20), (1042, 0.6, 0.40, 0.24))
]
BM25 = SystemResult("bm25", Path("bm25.run"), {"AP": 0.25}, {}, {"retrieve": 1.0})
DELTA = SystemResult(
    "delta",
    SEEDS[0].path,
    {"AP": 0.35},
    {},
    {"train": 3.0},
    0.55,
    {"AP": 0.22},
    seeds=SEEDS,
)
COMPARISON = Difference(0.1, 0.001, 0.05, 0.15, 0.8, 20, 0.002)


def _report(*systems):
    comparisons = {"delta": {"AP": COMPARISON}, "delta-alone": {"AP": COMPARISON}}
    return RunReport("c", "", ["AP"], systems, "bm25", comparisons)


def test_mean_and_spread_are_in_the_json():
    entry = DELTA.as_json()
    assert (entry["measures"], entry["interpolation"]) == ({"AP": 0.35}, 0.55)
    assert entry["spread"]["AP"] == pytest.approx(
        {"std": stdev([0.3, 0.4]), "min": 0.3, "max": 0.4}
    )
    assert entry["spread_alone"]["AP"]["max"] == 0.24
    assert [seed["seed"] for seed in entry["seeds"]] == [42, 1042]
    assert entry["path"] == entry["seeds"][0]["path"] == "d-seed42.run"


def test_one_seed_has_no_spread():
    assert not {"seeds", "spread", "spread_alone"} & BM25.as_json().keys()
    assert BM25.spread() == {}


def test_the_table_shows_the_spread_below_the_mean(capsys):
    _report(BM25, DELTA).print_table()
    lines = capsys.readouterr().out.splitlines()
    names = [line.split("  ")[0] or line.strip().split("  ")[0] for line in lines[2:10]]
    assert names[:2] == ["bm25", "delta (first stage × 0.55, mean of 2 seeds)"]
    assert [line.split()[0] for line in lines[4:7]] == ["std", "min", "max"]
    assert lines[5].endswith("0.3000")
    assert lines[7].startswith("  alone")


def test_comparisons_are_in_the_json():
    report = _report(BM25, DELTA)
    comparisons = report.as_json()["comparisons"]
    assert comparisons["baseline"] == "bm25"
    assert comparisons["systems"]["delta"]["AP"] == {
        "difference": 0.1,
        "interval_95": [0.05, 0.15],
        "effect_size": 0.8,
        "p": 0.001,
        "p_adjusted": 0.002,
        "topics": 20,
    }


def test_without_judgments_the_table_counts_results(capsys):
    unjudged = {"measures": {}, "seconds": {"retrieve": 1.0}, "per_topic": {}}
    runs = [
        SystemResult("bm25", Path("bm25.run"), **unjudged, results=(1000, 1000)),
        SystemResult("delta", Path("d.run"), **unjudged, results=(7, 1200), interpolation=0.5),
        SystemResult("nothing", Path("n.run"), **unjudged),
    ]
    RunReport("c", "A note.", ["AP", "P@5"], runs, "bm25").print_table()
    assert capsys.readouterr().out.splitlines() == [
        "A note.",
        "",
        "system                      topics  results per topic  seconds",
        "--------------------------------------------------------------",
        "bm25                             2              1,000      1.0",
        "delta (first stage × 0.50)       2         7 to 1,200      1.0",
        "nothing                          0                  0      1.0",
        "first stage × W: W of bm25's score, 1 − W of the reranker's",
    ]


def test_measures_that_look_deeper_than_the_runs_are_named_below_the_table(capsys):
    report = RunReport("c", "", ["AP"], [BM25], "bm25", cut_short=["R@1000: runs end at 100"])
    report.print_table()
    assert capsys.readouterr().out.splitlines()[-1] == "R@1000: runs end at 100"
    assert report.as_json()["warnings"] == ["R@1000: runs end at 100"]


def test_a_report_is_printed_as_its_table(capsys):
    report = _report(BM25, DELTA)
    report.print_table()
    output = capsys.readouterr().out
    assert f"{report}\n" == f"{report!r}\n" == output
    assert output.splitlines()[0].split() == ["system", "AP", "seconds"]
    assert "first stage × W: W of bm25's score, 1 − W of the reranker's; alone: W = 0\n" in output


def test_the_table_says_what_the_first_stage_is_whose_share_is_all(capsys):
    share = {"interpolation": 1.0, "measures_alone": {"AP": 0.2}}
    _report(BM25, SystemResult("d", Path("d.run"), {"AP": 0.25}, {}, {}, **share)).print_table()
    assert (
        "alone: W = 0\nd was given no weight: this is bm25's ranking.\n" in capsys.readouterr().out
    )
    _report(BM25).print_table()
    assert "W" not in capsys.readouterr().out
