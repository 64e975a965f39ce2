"""Weights of a fusion are learned where that helps, and left alone where it does not."""

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform.retrieval.fusion import Fusion
from irplatform.retrieval.fusion_learning import _Table, learn_weights
from irplatform.runs import Ranking, Run
from irplatform.runs.fuse import fuse
from irplatform.runs.fusion import fusion_method, fusion_methods
from irplatform.runs.fusion.ranks import Ranks

TOPICS = [f"q{n:02}" for n in range(60)]
RELEVANT = {topic: {f"{topic}-r{i}": 1 for i in range(3)} for topic in TOPICS}


def _ranking(ids):
    return Ranking.of(ids, -np.arange(len(ids), dtype=float))


def _run(name, quality, seed):
    """The relevant documents of each topic stand at random ranks, higher with more quality."""
    random = np.random.default_rng(seed)
    rankings = {}
    for topic in TOPICS:
        ids = [f"{topic}-n{i}" for i in range(40)]
        for doc_id in RELEVANT[topic]:
            ids.insert(int(random.integers(0, max(1, int(40 * (1 - quality))))), doc_id)
        rankings[topic] = _ranking(ids)
    return Run(name, rankings)


def test_a_bad_retriever_loses_its_weight():
    good, bad = _run("good", 0.9, 1), _run("bad", 0.0, 2)
    fusion = learn_weights([good, bad], RELEVANT)
    assert fusion.method.weights[0] == 1
    assert fusion.method.weights[1] < 0.5
    assert fusion.topics == len(TOPICS)


def test_levels_are_weighed_by_exponential_gains():
    """One retriever finds the best document first, the other one all but that.

    By linear gains nineteen documents of 10 are more than one of 30; 2^30 is more than they.
    """
    best, rest = ["best", *(f"n{i}" for i in range(25))], [f"r{i}" for i in range(25)]
    runs = [
        Run(name, dict.fromkeys(TOPICS, _ranking(ids))) for name, ids in (("a", best), ("b", rest))
    ]
    for kind, expected in ((float, (1.0, 0.0)), (int, (0.0, 1.0))):
        judged = {"best": kind(30)} | {doc_id: kind(10) for doc_id in rest}
        weights = learn_weights(runs, dict.fromkeys(TOPICS, judged)).method.weights
        assert (weights[0] > weights[1]) == (expected == (1.0, 0.0))


def test_equals_are_fused_plainly():
    same = _run("same", 0.5, 1)
    assert learn_weights([same, same], RELEVANT) == Fusion(topics=len(TOPICS))


@pytest.mark.parametrize("judgments", [{}, {"q00": {"q00-r0": 1}}, {t: {"x": 0} for t in TOPICS}])
def test_without_judged_topics_the_fusion_is_plain(judgments):
    runs = [_run("good", 0.9, 1), _run("bad", 0.0, 2)]
    assert learn_weights(runs, judgments) == Fusion()


def test_the_plain_fusion_is_that_of_the_paper():
    runs = [_run("a", 0.9, 1), _run("b", 0.5, 2)]
    plain = fuse(runs, Ranks())
    assert Fusion().fuse(runs, "fused").rankings["q00"].doc_ids == plain.rankings["q00"].doc_ids


def test_a_run_that_counts_nothing_brings_no_documents():
    topic = TOPICS[0]
    one, other = (Run(name, {topic: _ranking([name])}) for name in ("one", "other"))
    assert Fusion(Ranks(weights=(1.0, 0.0))).fuse([one, other], "fused").rankings[
        topic
    ].doc_ids == ("one",)


def test_what_only_a_run_that_counts_nothing_found_is_not_valued():
    topic = TOPICS[0]
    runs = [Run(name, {topic: _ranking([name])}) for name in ("one", "other")]
    candidates = [Ranks(weights=(1.0, 0.0)), Ranks(weights=(1.0, 0.1))]
    nothing, something = _Table.of(runs, topic, {"other": 1}).values(candidates)
    assert nothing == 0
    assert something > 0


def test_the_chosen_fusion_ranks_as_it_was_valued():
    """The search works on tables of ranks; what it values must be what the fusion gives."""
    from irplatform.evaluation.gain import ndcg

    runs = [_run("a", 0.7, 1), _run("b", 0.3, 2), _run("c", 0.5, 3)]
    method = Ranks(weights=(1.0, 0.25, 0.5), k=10)
    fused = Fusion(method).fuse(runs, "fused")
    for topic in TOPICS[:10]:
        grades = [RELEVANT[topic].get(d, 0) for d in fused.rankings[topic].doc_ids[:20]]
        (value,) = _Table.of(runs, topic, RELEVANT[topic]).values([method])
        assert value == pytest.approx(ndcg(grades, [1, 1, 1], cutoff=20))


@pytest.mark.parametrize("name", fusion_methods())
def test_a_first_stage_is_fused_by_any_method(name):
    runs = [_run("a", 0.9, 1), _run("b", 0.5, 2)]
    fused = Fusion.of(name).fuse(runs, "fused")
    assert fused.rankings["q00"].doc_ids == fuse(runs, fusion_method(name)).rankings["q00"].doc_ids


@pytest.mark.parametrize("name", fusion_methods())
def test_weights_of_any_method_are_learned(name):
    fusion = learn_weights(
        [_run("good", 0.9, 1), _run("bad", 0.0, 2)], RELEVANT, fusion_method(name)
    )
    good, bad = fusion.method.weights
    assert good > bad


def test_only_other_methods_than_reciprocal_ranks_are_named():
    assert Fusion().describe() == {"weights": (), "k": 60, "topics": 0}
    by_scores = {"method": "combsum", "weights": (), "norm": "min-max", "topics": 0}
    assert Fusion.of("combsum").describe() == by_scores


def test_a_fusion_of_no_method_is_refused():
    with pytest.raises(InputError, match=r"unknown fusion 'combsun'. Did you mean 'combsum'"):
        Fusion.of("combsun")
