"""A method of fusion is chosen on judged topics, and its gain told from topics held out."""

import numpy as np
import pytest

from irplatform.evaluation.gain import ndcg_of
from irplatform.retrieval import fusion_learning
from irplatform.retrieval.fusion_learning import choose_method, tried_methods
from irplatform.runs import Ranking, Run
from irplatform.runs.fuse import fuse_weighted
from irplatform.runs.fusion.borda import Borda
from irplatform.runs.fusion.ranks import Ranks

TOPICS = [f"t{number}" for number in range(20)]


def runs_of(noise, seed=1, topics=TOPICS, documents=60):
    """A run per level of noise, whose scores are the grades beneath the noise, and judgments."""
    random = np.random.default_rng(seed)
    ids = [f"d{number:03}" for number in range(documents)]
    qrels = {
        t: dict(zip(ids, (random.random(documents) > 0.8).astype(int).tolist(), strict=True))
        for t in topics
    }
    runs = []
    for number, level in enumerate(noise):
        rankings = {}
        for topic in topics:
            scores = np.array([*qrels[topic].values()]) + level * random.standard_normal(documents)
            order = np.argsort(-scores)[: documents * 2 // 3]
            rankings[topic] = Ranking.of([ids[i] for i in order], scores[order])
        runs.append(Run(f"r{number}", rankings))
    return runs, qrels


def test_the_better_run_gets_the_larger_weight_and_the_gain_is_told():
    runs, qrels = runs_of([0.3, 3.0])
    choice = choose_method(runs, qrels)
    assert choice.method.weights[0] > choice.method.weights[1]
    assert choice.best_run == 0
    assert (choice.topics, choice.measure, len(choice.folds)) == (20, "nDCG@20", 5)
    gain = choice.over_plain
    assert gain.difference == pytest.approx(choice.values["chosen"] - choice.values["plain"])
    assert 0 < gain.low < gain.difference < gain.high


def test_equal_reciprocal_ranks_stay_where_nothing_is_clearly_better():
    runs, qrels = runs_of([0.5, 0.5], topics=TOPICS[:2])
    choice = choose_method(runs, qrels)
    assert choice.method == Ranks(weights=(1.0, 1.0))
    assert choice.over_plain.difference == 0


def test_held_out_topics_choose_nothing():
    """Other judgments of one fold leave the method that fuses this fold as it was."""
    runs, qrels = runs_of([0.3, 1.0, 3.0])
    choice = choose_method(runs, qrels)
    held_out, method = choice.folds[0]
    other = {
        t: {d: 1 - g for d, g in qrels[t].items()} if t in held_out else qrels[t] for t in qrels
    }
    changed = choose_method(runs, other)
    assert changed.folds[0] == (held_out, method)
    assert changed.values["chosen"] != choice.values["chosen"]
    fused, again = choice.fuse(runs, "f"), changed.fuse(runs, "f")
    for topic in held_out:
        assert fused.rankings[topic].doc_ids == again.rankings[topic].doc_ids
        expected = fuse_weighted([Run("", {topic: r.rankings[topic]}) for r in runs], method)
        assert fused.rankings[topic].doc_ids == expected.rankings[topic].doc_ids


@pytest.mark.parametrize("levels", [False, True], ids=["grades", "levels"])
@pytest.mark.parametrize("count", [2, 3])
def test_what_the_search_maximizes_is_the_measure_of_the_fused_runs(count, levels):
    runs, qrels = runs_of([0.3, 1.0, 3.0][:count], topics=["t0"])
    if levels:
        qrels = {t: {d: g * 2.5 for d, g in grades.items()} for t, grades in qrels.items()}
    candidates = [*fusion_learning._candidates(tried_methods(), count)]
    values = fusion_learning._Table.of(runs, "t0", qrels["t0"]).values(candidates)
    assert len(values) == len(candidates) > 100
    for candidate, value in zip(candidates, values, strict=True):
        fused = fuse_weighted(runs, candidate, depth=20).rankings["t0"]
        assert value == pytest.approx(ndcg_of(fused.doc_ids, qrels["t0"])), candidate


def test_a_topic_that_a_run_lacks_counts_by_the_others():
    runs, qrels = runs_of([0.3, 3.0])
    lacking = Run("r0", {t: r for t, r in runs[0].rankings.items() if t != "t3"})
    choice = choose_method([lacking, runs[1]], qrels, [Borda()])
    assert choice.topics == 20
    method = next(method for topics, method in choice.folds if "t3" in topics)
    fused = choice.fuse([lacking, runs[1]], "f")
    expected = runs[1].rankings["t3"].doc_ids if method.weights[1] else None
    assert (fused.rankings["t3"].doc_ids if "t3" in fused.rankings else None) == expected


def test_nothing_is_chosen_on_fewer_than_two_topics():
    runs, qrels = runs_of([0.3, 3.0], topics=["t0"])
    assert choose_method(runs, qrels) is None
    assert choose_method(runs, {}) is None


def test_mixtures_divide_a_whole():
    assert [*fusion_learning._mixtures(2)][:3] == [(0, 1), (1, 9), (1, 4)]
    assert len({*fusion_learning._mixtures(3)}) == 66
    assert len([*fusion_learning._mixtures(10)]) == 220
