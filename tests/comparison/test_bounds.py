"""Bounds for unjudged and tied documents, reckoned by hand."""

from itertools import combinations
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.comparison.bounds import Bounds, Rescorer, depth_of, judged_at
from irplatform.comparison.compare import compare
from irplatform.evaluation.judgments import Judgments
from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.sampled import Pool
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run

MEASURES = ["P@2", "RR", "nDCG@3", "AP"]
QRELS = {"t": {"x": 1, "y": 0, "w": 2}}


def a_run(*doc_ids, scores=None):
    scores = scores or range(len(doc_ids), 0, -1)
    return Run("r", {"t": Ranking.of(doc_ids, scores)})


def filled(run, qrels=QRELS, measures=MEASURES):
    rescorer = Rescorer(Judgments(qrels, None, measures))
    values = rescorer.filled(run, evaluate(qrels, run, measures).per_topic)
    return {measure: by_topic["t"] for measure, by_topic in values.items()}


def test_unjudged_documents_get_the_highest_grade_of_the_topic():
    upper = filled(a_run("u", "x", "v"))
    assert upper["P@2"] == 1.0
    assert upper["RR"] == 1.0
    # u and v with grade 2; of the four relevant documents three have it.
    ideal = 2 + 2 / log2(3) + 2 / 2
    assert upper["nDCG@3"] == pytest.approx((2 + 1 / log2(3) + 2 / 2) / ideal)
    assert upper["AP"] == pytest.approx((1 + 1 + 1) / 4)


def test_a_bound_is_never_below_the_value():
    # Filling the fourth would raise the ideal more than the gain.
    assert filled(a_run("w", "x", "y", "u"), measures=["nDCG@4"]) == {"nDCG@4": 1.0}


def test_only_the_documents_within_the_cutoff_are_filled():
    assert filled(a_run("x", "y", "u"), measures=["P@2"]) == {"P@2": 0.5}
    assert [depth_of(m) for m in ("P@2", "R@1000", "AP")] == [2, 100, 100]
    assert [judged_at(m) for m in ("P@2", "R@1000", "AP")] == [2, 1000, 100]


def test_without_a_relevant_document_the_grade_is_1_and_negative_grades_are_unjudged():
    assert filled(a_run("u"), {"t": {"x": 0}}, ["nDCG@1"]) == {"nDCG@1": 1.0}
    assert filled(a_run("n", "x"), {"t": {"x": 1, "n": -1}}, ["RR"]) == {"RR": 1.0}


def test_levels_with_decimals_stay_floats():
    assert filled(a_run("u"), {"t": {"x": 2.5}}, ["nDCG@1"]) == {"nDCG@1": 1.0}


def test_condensed_lists_leave_unjudged_documents_out():
    values = Rescorer(Judgments(QRELS, None, MEASURES)).condensed(a_run("u", "y", "v", "x"))
    assert values["RR"]["t"] == 0.5
    assert values["AP"]["t"] == pytest.approx(0.5 / 2)


def test_tied_documents_are_put_in_the_best_and_the_worst_order():
    rescorer = Rescorer(Judgments(QRELS, None, MEASURES))
    run = a_run("y", "x", "u", "w", scores=[3, 3, 2, 1])
    assert run.rankings["t"].doc_ids == ("y", "x", "u", "w")
    assert rescorer.reordered(run, best=True)["RR"] == {"t": 1.0}
    assert rescorer.reordered(run, best=False)["RR"] == {}  # it is the order already
    untied = a_run("y", "x", "u", "w")
    assert rescorer.reordered(untied, best=True)["RR"] == {}


def test_between_two_systems_a_document_has_one_grade():
    judgments = Judgments({"t": {"x": 1}}, None, ["RR"])
    runs = {"one": a_run("u", "x"), "two": a_run("x", "u")}
    (pair,) = compare(judgments, runs).pairs
    # A single topic has no test, hence no bounds; three topics do.
    assert pair.unjudged is None
    topics = ("1", "2", "3")
    judgments = Judgments({t: {"x": 1} for t in topics}, None, ["RR"])
    runs = {n: Run(n, dict.fromkeys(topics, run.rankings["t"])) for n, run in runs.items()}
    (pair,) = compare(judgments, runs).pairs
    assert pair.difference == 0.5
    # Relevant: u, which one ranks higher: 1 and 1. Relevant: what two ranks higher: nothing.
    assert pair.unjudged == Bounds(0.0, 0.5)


def test_sampled_judgments_and_counts_have_no_bounds():
    pool = Pool({"x": 0}, *([[0]] * 2))
    judgments = Judgments(QRELS, {"t": pool}, ["infNDCG", "infAP", "NumRel", "Judged@5", "AP"])
    assert Rescorer(judgments).measures == ["AP"]


def test_measures_of_subtopics_have_no_bounds_and_are_compared_all_the_same(tmp_path):
    path = tmp_path / "qrels.txt"
    lines = [f"{topic} {sub} x{sub} 1\n" for topic in (1, 2, 3) for sub in (1, 2)]
    path.write_text("".join(lines))
    judgments = Judgments(read_qrels(path), None, ["alpha_nDCG@5", "RR"])
    one, two = (
        Run(name, {t: Ranking.of(ids, [2, 1]) for t in ("1", "2", "3")})
        for name, ids in (("one", ["x1", "u"]), ("two", ["u", "x1"]))
    )
    comparison = compare(judgments, {"one": one, "two": two})
    alpha, rr = comparison.pairs
    assert (alpha.unjudged, alpha.difference < 0) == (None, True)
    assert rr.unjudged == Bounds(-0.5, 0.0)


GRADES = st.sampled_from([None, 0, 1, 2])


@settings(max_examples=40)
@given(st.lists(GRADES, min_size=1, max_size=7), st.lists(st.sampled_from([0, 1, 2]), max_size=3))
def test_the_upper_bound_is_the_best_of_all_judgments(grades, missed):
    """Of up to three unjudged documents all numbers are tried, so the bound is exact."""
    doc_ids = [f"d{place}" for place in range(len(grades))]
    unjudged = [d for d, grade in zip(doc_ids, grades, strict=True) if grade is None][:3]
    judged = {d: g for d, g in zip(doc_ids, grades, strict=True) if g is not None}
    judged |= {f"m{place}": grade for place, grade in enumerate(missed)} or {"m": 0}
    ranking = [d for d in doc_ids if d in judged or d in unjudged]
    run = Run("r", {"t": Ranking.of(ranking, range(len(ranking), 0, -1))})
    measures = ["nDCG@5", "AP", "Rprec", "P@3", "RR", "R@5"]
    best = max(judged.values()) or 1
    bounds = filled(run, {"t": judged}, measures)
    worlds = [
        {**judged, **dict.fromkeys(subset, best)}
        for count in range(len(unjudged) + 1)
        for subset in combinations(unjudged, count)
    ]
    for measure in measures:
        values = [evaluate({"t": w}, run, [measure]).per_topic[measure]["t"] for w in worlds]
        assert bounds[measure] == pytest.approx(max(values))
