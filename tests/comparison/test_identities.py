"""Systems without a ranking of their own: no verdict, no rank, no bold figure, in any form."""

import csv
import io
import json

import pytest

import irplatform as ir
from irplatform.comparison.compare import compare
from irplatform.comparison.results import Matrix
from irplatform.evaluation.judgments import Judgments
from irplatform.evaluation.scoring import evaluate
from irplatform.reports.comparison import ComparisonReport, render
from irplatform.run_folder.mixture import Mixture

TOPICS = [f"q{n}" for n in range(12)]
JUDGMENTS = Judgments({t: {"x": 1, "y": 0} for t in TOPICS}, None, ["RR", "P@1"])


def run(name, hits):
    """A run that ranks the relevant document first for the topics below `hits`."""
    orders = {t: ["x", "y"] if n < hits else ["z", "x"] for n, t in enumerate(TOPICS)}
    return ir.Run(name, {t: ir.Ranking.of(ids, [2.0, 1.0]) for t, ids in orders.items()})


RUNS = {"bm25": run("bm25", 1), "fused": run("fused", 8), "ce": run("ce", 8), "ltr": run("ltr", 12)}
NONE = Mixture("fused", 1.0)
MIXTURES = {"ce": NONE, "ltr": Mixture("fused", 0.25)}


def compared(runs=RUNS, mixtures=MIXTURES, **options):
    alone = {"ce": evaluate(JUDGMENTS.qrels, run("ce", 0), JUDGMENTS.measures)}
    return compare(JUDGMENTS, runs, mixtures=mixtures, alone=alone, **options)


def verdicts(comparison):
    return {(p.baseline, p.system): p.verdict for p in comparison.pairs_by("RR")}


@pytest.mark.parametrize("all_pairs", [False, True])
def test_a_reranker_without_weight_has_no_verdict_and_no_rank(all_pairs):
    comparison = compared(all_pairs=all_pairs)
    outcomes = verdicts(comparison)
    assert {verdict for pair, verdict in outcomes.items() if "ce" in pair} == {"none"}
    assert outcomes["bm25", "fused"] == outcomes["bm25", "ltr"] == "better"
    assert {s.name: s.scores["RR"].rank is None for s in comparison.systems} == {
        "bm25": False, "fused": False, "ce": True, "ltr": False,
    }  # fmt: skip
    pair = next(p for p in comparison.pairs if p.system == "ce")
    assert pair.sentence == "ce was given no weight: this is fused's ranking."
    assert (pair.p, pair.interval, pair.power) == (None, None, None)
    assert pair.difference > 0


def test_what_is_left_out_does_not_count_in_the_correction():
    assert (
        compared().comparisons
        == compared({n: RUNS[n] for n in ("bm25", "fused", "ltr")}).comparisons
    )
    assert compared(all_pairs=True).comparisons == 3


def test_text_says_whose_ranking_it_is():
    text = render(compared(), "text", width=120)
    assert "ce was given no weight: this is fused's ranking." in text
    assert "ce is better" not in text
    line = next(line for line in text.splitlines() if line.startswith("ce "))
    assert line.split() == ["ce", "1.00", "0.8333", "0.5000", "1.000", "=", "fused"] or (
        line.split()[:4] == ["ce", "1.00", "0.8333", "0.5000"] and line.endswith("= fused")
    )
    ranks = next(line for line in text.splitlines() if line.startswith("Ranks"))
    assert "ce" not in ranks.split(": ")[1].replace("fused", "")


def test_a_run_without_weight_has_no_letter_and_is_not_bold():
    runs = {name: RUNS[name] for name in ("bm25", "fused", "ce")}
    latex = render(compared(runs, all_pairs=True), "latex")
    rows = [line for line in latex.splitlines() if " & " in line]
    assert [row.split(" & ")[0].strip() for row in rows[:4]] == [
        "system",
        "a bm25",
        "b fused",
        "ce",
    ]
    assert r"\textbf" in rows[2]
    assert r"\textbf" not in rows[3]
    assert "= fused" in rows[3]
    assert "ce − " not in latex
    assert "% ce was given no weight: this is fused's ranking." in latex


def test_json_csv_and_frames_have_it_as_a_field():
    comparison = ComparisonReport.of(compared())
    content = json.loads(json.dumps(comparison.as_json()))
    ce = next(system for system in content["systems"] if system["name"] == "ce")
    assert (ce["first_stage_share"], ce["ranking_of"]) == (1.0, "fused")
    assert (ce["measures"]["RR"]["alone"], ce["measures"]["RR"]["rank"]) == (0.5, None)
    rows = [*csv.DictReader(io.StringIO(render(comparison, "csv")))]
    row = next(row for row in rows if row["system"] == "ce")
    assert (row["first_stage_share"], row["ranking_of"], row["alone"]) == ("1.0", "fused", "0.5")
    assert (row["verdict"], row["rank"], row["p"]) == ("none", "", "")
    frame = comparison.to_polars()
    assert frame.filter(frame["system"] == "ce")["ranking_of"].to_list() == ["fused"] * 2


def test_a_matrix_marks_cells_without_weight_and_shows_shares():
    runs = {"bm25": RUNS["bm25"], "bm25/ce": run("ce", 1), "bm25/ltr": RUNS["ltr"]}
    places = {"bm25": ("bm25", ""), "bm25/ce": ("bm25", "ce"), "bm25/ltr": ("bm25", "ltr")}
    mixtures = {"bm25/ce": Mixture("bm25", 1.0), "bm25/ltr": Mixture("bm25", 0.25)}
    text = render(compared(runs, mixtures, matrix=Matrix(places)), "text", width=120)
    assert "0.5417 = " in text
    assert ["bm25", "1.00", "0.25"] in [line.split() for line in text.splitlines()]
    assert "=: the first stage's ranking, since the reranker was given no weight (W = 1)" in text
    assert "bm25/ce was given no weight: this is bm25's ranking." in text


def test_a_first_stage_that_is_not_compared_is_named_all_the_same():
    runs = {name: RUNS[name] for name in ("bm25", "ce")}
    comparison = compared(runs)
    assert verdicts(comparison) == {("bm25", "ce"): "none"}
    assert "ce was given no weight: this is fused's ranking." in render(comparison)


def test_a_copy_of_the_first_stage_under_another_name_is_found_by_its_ranking():
    runs = {"mine": run("mine", 8), "ce": RUNS["ce"], "bm25": RUNS["bm25"]}
    assert "ce was given no weight: this is mine's ranking." in render(compared(runs))


def test_two_rerankers_without_weight_are_two_names_of_one_ranking():
    runs = {"bm25": RUNS["bm25"], "ce": RUNS["ce"], "drmm": run("drmm", 8)}
    comparison = compared(runs, {"ce": NONE, "drmm": NONE}, all_pairs=True)
    assert {*verdicts(comparison).values()} == {"none"}
    assert "ce and drmm were given no weight: these are fused's ranking." in render(comparison)


def test_the_same_ranking_without_metadata_is_said_to_be_the_same():
    comparison = compared({"a": run("a", 3), "b": run("b", 3), "c": RUNS["ltr"]}, {})
    assert verdicts(comparison) == {("a", "b"): "none", ("a", "c"): "better"}
    assert "b has the same ranking as a." in render(comparison)


def test_a_baseline_keeps_its_ranking_and_a_retriever_is_its_twin():
    runs = {"rm3": run("rm3", 8), "fused": RUNS["fused"], "ltr": RUNS["ltr"]}
    fused = Mixture(fused=(("bm25", 0.0), ("rm3", 1.0)))
    text = render(compared(runs, {"fused": fused}, baseline="fused"))
    assert "rm3 has the same ranking as fused." in text
    assert "ltr is better than fused" in text
    assert "fused: 0 × bm25 + 1 × rm3 (bm25 got no weight)" in text


def test_metadata_that_the_rankings_contradict_are_not_believed():
    comparison = compared({**RUNS, "ce": run("ce", 3)})
    assert verdicts(comparison)["bm25", "ce"] != "none"
    assert any("its metadata say that it was given no weight" in n for n in comparison.notes)


def test_means_over_seeds_have_no_ranking_and_are_known_by_their_share():
    runs = {name: ir.Run(name, {}) for name in RUNS}
    evaluations = {n: evaluate(JUDGMENTS.qrels, r, JUDGMENTS.measures) for n, r in RUNS.items()}
    comparison = compared(runs, evaluations=evaluations, bounds=False)
    assert verdicts(comparison)["bm25", "ce"] == "none"


def test_without_a_baseline_the_first_run_with_a_ranking_of_its_own_is_taken():
    runs = {name: RUNS[name] for name in ("ce", "bm25", "ltr")}
    assert compared(runs).baseline == "bm25"
    assert {*verdicts(compared(runs, baseline="ce")).values()} == {"none"}


def test_groups_leave_such_pairs_out():
    topics = [ir.Topic(t, "word", {"kind": "a" if n % 2 else "b"}) for n, t in enumerate(TOPICS)]
    comparison = compared(topics=topics, group_by="kind")
    assert ("bm25", "ce") not in comparison.groups[0].tests
    assert "ce" in render(comparison)
