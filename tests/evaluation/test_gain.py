"""The numpy nDCG is the one that is reported."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.evaluation.gain import dcg, ndcg, ndcg_of
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run

GRADES = st.lists(st.integers(-1, 5), min_size=1, max_size=40)


@given(ranked=GRADES, others=GRADES, cutoff=st.integers(1, 50))
def test_it_equals_the_reported_measure(ranked, others, cutoff):
    judged = [*ranked, *others]
    ids = [f"d{number}" for number in range(len(judged))]
    run = Run("x", {"1": Ranking.of(ids[: len(ranked)], range(len(ranked), 0, -1))})
    reported = evaluate({"1": dict(zip(ids, judged, strict=True))}, run, [f"nDCG@{cutoff}"])
    expected = reported.aggregate[f"nDCG@{cutoff}"]
    assert ndcg(ranked, judged, cutoff) == pytest.approx(expected, abs=1e-12)


def test_gains_are_linear_and_discounted_by_the_logarithm():
    assert dcg([3, 0, 1]) == pytest.approx(3 + 1 / math.log2(4))
    assert dcg([3, 0, 1], cutoff=2) == 3.0


def test_nothing_relevant_scores_zero():
    assert ndcg([0, 0], [0, -1]) == 0.0
    assert ndcg([], []) == 0.0
    assert ndcg([], [1]) == 0.0


def test_levels_which_are_floats_gain_a_power_of_2():
    judgments = {"a": 3.0, "b": 1.5, "c": 0.0}
    expected = ndcg([1.5, 3.0], [3.0, 1.5, 0.0], exponential=True)
    assert expected == pytest.approx(
        ((2**1.5 - 1) + 7 / math.log2(3)) / (7 + (2**1.5 - 1) / math.log2(3))
    )
    assert ndcg_of(["b", "a"], judgments) == expected
    assert ndcg_of(["b", "a"], {"a": 3, "b": 1, "c": 0}) == ndcg([1, 3], [3, 1])


def test_documents_that_nobody_judged_gain_nothing():
    judgments = {"a": 2, "b": -1, "c": 1}
    assert ndcg_of(["x", "a", "b", "c"], judgments) == ndcg([0, 2, 0, 1], [2, 0, 1])
    assert ndcg_of(["x", "a"], judgments, cutoff=1) == 0.0
