"""RBP and the other measures of users who go on from rank to rank, at any depth."""

import math

import pytest

from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Ranking, Run

BELOW = 200_000
"""Ranks after which nothing is left of the endless sums to five digits."""


def run_of(depth):
    doc_ids = [f"p{rank:04}" for rank in range(1, depth + 1)]
    return Run("deep", {"t": Ranking.of(doc_ids, range(depth, 0, -1))})


def score(name, qrels, depth):
    return evaluate({"t": qrels}, run_of(depth), [name]).per_topic[name]["t"]


def by_walking(gains, going_on):
    """The value, rank by rank: `going_on` has the rank, its gain, and the gain so far."""
    reached, gained, attention, so_far = 1.0, 0.0, 0.0, 0.0
    for rank in range(1, BELOW):
        gain = gains[rank - 1] if rank <= len(gains) else 0.0
        so_far += gain
        gained += reached * gain
        attention += reached
        reached *= going_on(rank, gain, so_far)
        if not reached:
            break
    return gained / attention


def square(rank, target):
    return ((rank + target - 1) / (rank + target)) ** 2


USERS = {
    "RBP(rel=1,p=0.99)": lambda rank, gain, so_far: 0.99,
    "SDCG(max_rel=2)@1500": lambda rank, gain, so_far: (
        math.log2(rank + 1) / math.log2(rank + 2) if rank < 1500 else 0
    ),
    "BPM(max_rel=2,T=3.0)@1500": lambda rank, gain, so_far: so_far < 3 and rank < 1500,
    "NERR8(max_rel=2)@1500": lambda rank, gain, so_far: (1 - gain) * (rank < 1500),
    "NERR9(max_rel=2)@1500": lambda rank, gain, so_far: (
        rank / (rank + 1) * (1 - gain) * (rank < 1500)
    ),
    "NERR10(max_rel=2,p=0.99)": lambda rank, gain, so_far: 0.99 * (1 - gain),
    "NERR11(max_rel=2,T=4.0)": lambda rank, gain, so_far: square(rank, 8) * (1 - gain),
    "INSQ(max_rel=2,T=4.0)": lambda rank, gain, so_far: square(rank, 8),
    "INST(max_rel=2,T=4.0)": lambda rank, gain, so_far: square(rank, 8 - so_far),
}


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("depth", [3, 1000, 1001, 1700])
def test_the_value_is_that_of_walking_down_the_ranks(name, depth):
    qrels = {f"p{rank:04}": grade for rank, grade in [(1, -1), (3, 1), (990, 2), (1001, 1)]}
    most = 1 if name.startswith("RBP") else 2
    grades = [max(qrels.get(f"p{rank:04}", 0), 0) for rank in range(1, depth + 1)]
    gains = [min(grade, most) / most for grade in grades]
    expected = by_walking(gains, USERS[name])
    assert score(name, qrels, depth) == pytest.approx(expected, rel=1e-3, abs=1e-12)


def test_documents_below_rank_1000_count():
    qrels = {f"p{rank:04}": 1 for rank in range(1001, 2001)}
    assert score("RBP(rel=1,p=0.999)", qrels, 2000) == pytest.approx(0.999**1000 - 0.999**2000)
    weights = [1 / math.log2(rank + 1) for rank in range(1, 2001)]
    expected = sum(weights[1000:]) / sum(weights)
    assert score("SDCG(max_rel=1)@2000", qrels, 2000) == pytest.approx(expected)
    assert score("BPM(max_rel=1,T=5.0)@2000", qrels, 2000) == pytest.approx(5 / 1005)


def test_a_perfect_run_of_finite_length_does_not_get_the_weight_below_it():
    qrels = {f"p{rank:04}": 1 for rank in range(1, 2001)}
    assert score("RBP(rel=1,p=0.999)", qrels, 2000) == pytest.approx(1 - 0.999**2000)
    assert score("RBP(rel=1,p=0.5)", qrels, 2) == 0.75


def test_a_cutoff_below_the_end_of_the_run_leaves_the_others_out():
    qrels = {"p0002": 1, "p0004": 1}
    assert score("BPM(max_rel=1,T=9.0)@3", qrels, 5) == pytest.approx(1 / 3)
    assert score("BPM(max_rel=1,T=9.0)@8", qrels, 5) == pytest.approx(2 / 8)


def test_values_are_those_of_cwl_eval_where_that_looks_deep_enough():
    pytest.importorskip("cwl")
    import ir_measures

    qrels = {"t": {"p0001": 2, "p0004": 1, "p0009": 1}}
    run = run_of(20)
    for name in ("RBP(rel=2,p=0.8)", "SDCG(max_rel=2)@20", "BPM(max_rel=2,T=1.0)@10"):
        measure = ir_measures.parse_measure(name)
        expected = ir_measures.calc_aggregate([measure], qrels, {"t": dict(run.rankings["t"])})
        (mean,) = evaluate(qrels, run, [name]).aggregate.values()
        assert mean == pytest.approx(expected[measure])


def test_a_run_whose_lines_are_not_grouped_by_topic_scores_as_one_that_is(tmp_path):
    from irplatform.runs import read_run

    lines = [(t, f"{t}{rank}", 9 - rank) for rank in range(4) for t in "ab"]
    path = tmp_path / "mixed.run"
    path.write_text("".join(f"{t} Q0 {d} 1 {s} x\n" for t, d, s in lines))
    run = Run("x", {t: Ranking.of([f"{t}{r}" for r in range(4)], [9, 8, 7, 6]) for t in "ab"})
    qrels = {"a": {"a1": 1}, "b": {"b3": 1}}
    names = ["RBP(rel=1,p=0.8)", "AP", "Judged@3", "Compat(p=0.9)", "ERR@5"]
    assert evaluate(qrels, read_run(path), names).per_topic == (
        evaluate(qrels, run, names).per_topic
    )
