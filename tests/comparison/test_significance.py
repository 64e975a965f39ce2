"""Several runs against a baseline: the correction for their number, and who is one run."""

import pytest
from scipy import stats

from irplatform.comparison.tests import compare_with, holm
from irplatform.errors import InputError
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run


def test_holms_correction_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([0.02]) == [0.02]


QRELS = {str(topic): {"a": 1} for topic in range(6)}


def scored(hits_first, measures=("RR", "P@1")):
    """What a run scores that has the relevant document first, or second, by topic."""
    return evaluate(
        QRELS,
        Run(
            "x",
            {
                topic: Ranking.of(["a", "b"], [2, 1] if hits_first(int(topic)) else [1, 2])
                for topic in QRELS
            },
        ),
        list(measures),
    )


def test_several_runs_are_compared_measure_by_measure():
    baseline, worse = scored(lambda topic: True), scored(lambda topic: topic % 3 == 0)
    other = scored(lambda topic: topic % 3)
    compared = compare_with(baseline, {"other": other, "worse": worse})
    assert compared["worse"]["RR"].difference == pytest.approx(-2 / 6)
    p_value = stats.ttest_rel([1, 0.5, 0.5, 1, 0.5, 0.5], [1] * 6).pvalue
    assert compared["worse"]["RR"].p_value == pytest.approx(p_value)
    assert compared["worse"]["RR"].adjusted_p == pytest.approx(2 * p_value)


def test_one_run_under_two_names_is_corrected_for_once():
    baseline, worse = scored(lambda topic: True), scored(lambda topic: topic % 3 == 0)
    alone = compare_with(baseline, {"worse": worse})["worse"]
    twice = compare_with(baseline, {"worse": worse, "again": scored(lambda topic: topic % 3 == 0)})
    assert twice == {"worse": alone, "again": alone}
    assert alone["RR"].adjusted_p == alone["RR"].p_value < 0.05


def test_the_baseline_under_another_name_is_not_tested():
    baseline, worse = scored(lambda topic: True), scored(lambda topic: topic % 3 == 0)
    compared = compare_with(baseline, {"same": scored(lambda topic: True), "worse": worse})
    assert compared["worse"] == compare_with(baseline, {"worse": worse})["worse"]
    same = compared["same"]["RR"]
    assert (same.difference, same.n) == (0.0, 6)
    assert (same.p_value, same.adjusted_p, same.low, same.effect_size) == (None,) * 4


def test_runs_that_differ_by_one_measure_are_two_runs():
    qrels = {str(topic): {"a": 1} for topic in range(6)}

    def ranked(second):
        rankings = {t: Ranking.of(["b", "c", "a"], [3, 2, 1]) for t in qrels}
        rankings["0"] = Ranking.of(["b", "a", "c"] if second else ["b", "c", "a"], [3, 2, 1])
        return evaluate(qrels, Run("x", rankings), ["P@1", "RR"])

    baseline = evaluate(
        qrels, Run("x", {t: Ranking.of(["a"], [1]) for t in qrels if t != "5"}), ["P@1", "RR"]
    )
    compared = compare_with(baseline, {"one": ranked(second=True), "two": ranked(second=False)})
    assert compared["one"]["P@1"].p_value == compared["two"]["P@1"].p_value
    assert compared["one"]["P@1"].adjusted_p == 2 * compared["one"]["P@1"].p_value


def test_a_topic_that_one_run_was_not_scored_on_is_no_zero():
    baseline = scored(lambda topic: True)
    fewer = {q: judged for q, judged in QRELS.items() if q != "0"}
    other = evaluate(fewer, Run("x", {"1": Ranking.of(["a"], [1])}), ["RR", "P@1"])
    with pytest.raises(InputError, match="scored on 6 and 5 topics"):
        compare_with(baseline, {"other": other})


def test_a_single_topic_is_compared_without_a_test():
    qrels = {"1": {"a": 1}}
    run = Run("x", {"1": Ranking.of(["a"], [1])})
    result = evaluate(qrels, run, ["RR"])
    assert compare_with(result, {"x": result})["x"]["RR"].adjusted_p is None
