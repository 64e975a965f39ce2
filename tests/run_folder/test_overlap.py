"""How alike two runs are."""

import pytest

from irplatform.run_folder.overlap import overlap, rank_biased_overlap
from irplatform.runs import Ranking, Run

# First ranking, second ranking, and RBO of repro_eval 0.5.0 with p = 0.8.
OF_REPRO_EVAL = [
    (
        "d7 d9 d8 d2 d5 d14 d15 d1 d0 d6",
        "d7 d9 d8 d2 d14 d4 d15 d0 d6 d3",
        0.9349027289410324,
    ),
    (
        "d7 d3 d11 d15 d8 d13 d12 d6 d2 d1",
        "d7 d3 d15 d11 d8 d4 d6 d12 d1 d0",
        0.9029412791649069,
    ),
    ("d5 d0 d4 d2 d10", "d5 d0 d3 d4 d1", 0.8497223544343963),
]


def run_of(**topics):
    rankings = {
        topic: Ranking.of(ids.split(), range(len(ids.split()), 0, -1))
        for topic, ids in topics.items()
    }
    return Run("x", rankings)


@pytest.mark.parametrize(("first", "second", "rbo"), OF_REPRO_EVAL)
def test_the_overlap_is_that_of_repro_eval(first, second, rbo):
    assert rank_biased_overlap(first.split(), second.split()) == pytest.approx(rbo, abs=1e-12)


def test_overlap_by_hand():
    # Depth 1: 1/1 in common, weight 1; depth 2: 1/2, weight 0.5; depth 3: 3/3, weight 0.25.
    assert rank_biased_overlap("abc", "acb", p=0.5) == pytest.approx((1 + 0.25 + 0.25) / 1.75)
    assert rank_biased_overlap("ab", "cd") == 0
    assert rank_biased_overlap("", "") == 1


def test_means_are_of_the_topics_of_both():
    first = run_of(q1="a b c", q2="a b", q3="a")
    second = run_of(q1="a b c", q2="b a", q4="a")
    result = overlap(first, second)
    assert (result.same, result.topics, result.missing) == (1, 2, ("q3", "q4"))
    assert result.rbo == pytest.approx((1 + 0.8 / 1.8) / 2)


def test_other_names_of_the_documents_change_nothing():
    first, second = ["d1", "d3", "d4", "d2"], ["d2", "d3", "d4", "d1"]
    renamed = dict(zip(first, ["z", "b", "y", "a"], strict=True))
    alike = rank_biased_overlap([renamed[d] for d in first], [renamed[d] for d in second])
    assert alike == rank_biased_overlap(first, second) < 1


def test_runs_of_other_topics_cannot_be_compared():
    with pytest.raises(ValueError, match="no topic in common"):
        overlap(run_of(q="a"), run_of(r="a"))
