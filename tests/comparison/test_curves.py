"""Curves of precision over recall and of gain over ranks, computed by hand."""

from math import log2

import pytest

from irplatform.comparison.curves import curves
from irplatform.runs import Ranking, Run


def run(*doc_ids):
    return Run("run", {"1": Ranking.of(doc_ids, range(len(doc_ids), 0, -1))})


def test_precision_is_interpolated_at_eleven_levels_of_recall():
    # Ten are relevant, at ranks 1 to 5 and 11 to 15: 5 of 5 up to recall 0.5, and then 10 of 15.
    relevant = dict.fromkeys("abcdeklmno", 1)
    precision, _ = curves({"1": relevant}, {"one": run(*"abcdefghijklmno")})
    levels, values = zip(*precision.points["one"], strict=True)
    assert levels == tuple(n / 10 for n in range(11))
    assert values == pytest.approx([1.0] * 6 + [10 / 15] * 5)


def test_gain_is_ndcg_at_each_cutoff():
    _, gain = curves({"1": {"a": 1, "d": 1}}, {"one": run("b", "a", "c", "d")})
    points = dict(gain.points["one"])
    assert (points[1], gain.logarithmic) == (0.0, True)
    ideal = 1 + 1 / log2(3)
    assert points[2] == pytest.approx((1 / log2(3)) / ideal)
    assert points[5] == pytest.approx((1 / log2(3) + 1 / log2(5)) / ideal)


def test_a_topic_without_results_counts_as_zero():
    qrels = {"1": {"a": 1}, "2": {"a": 1}}
    precision, gain = curves(qrels, {"one": run("a")})
    assert precision.points["one"][0] == (0.0, 0.5)
    assert gain.points["one"][0] == (1.0, 0.5)
