"""Weights of a fusion are learned where that helps, and left alone where it does not."""

import numpy as np
import pytest

from irplatform.retrieval.fusion import Fusion, choose_fusion
from irplatform.runs import Ranking, Run
from irplatform.runs.fuse import FusionMethod

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
    fusion = choose_fusion([good, bad], RELEVANT)
    assert fusion.weights[0] == 1
    assert fusion.weights[1] < 0.5
    assert fusion.topics == len(TOPICS)


def test_levels_are_weighed_by_exponential_gains():
    """One retriever finds the best document first, the other one all but that.

    By linear gains nineteen documents of 10 are more than one of 30; 2^30 is more than they.
    """
    best, rest = ["best", *(f"n{i}" for i in range(25))], [f"r{i}" for i in range(25)]
    runs = [
        Run(name, dict.fromkeys(TOPICS, _ranking(ids))) for name, ids in (("a", best), ("b", rest))
    ]
    for kind, chosen in ((float, (1.0, 0.0)), (int, (0.0, 1.0))):
        judged = {"best": kind(30)} | {doc_id: kind(10) for doc_id in rest}
        weights = choose_fusion(runs, dict.fromkeys(TOPICS, judged)).weights
        assert (weights[0] > weights[1]) == (chosen == (1.0, 0.0))


def test_equals_are_fused_plainly():
    same = _run("same", 0.5, 1)
    assert choose_fusion([same, same], RELEVANT) == Fusion(topics=len(TOPICS))


@pytest.mark.parametrize("judgments", [{}, {"q00": {"q00-r0": 1}}, {t: {"x": 0} for t in TOPICS}])
def test_without_judged_topics_the_fusion_is_plain(judgments):
    runs = [_run("good", 0.9, 1), _run("bad", 0.0, 2)]
    assert choose_fusion(runs, judgments) == Fusion()


def test_the_plain_fusion_is_that_of_the_paper():
    runs = [_run("a", 0.9, 1), _run("b", 0.5, 2)]
    plain = FusionMethod("ranks").fuse(runs)
    assert Fusion().fuse(runs, "fused").rankings["q00"].doc_ids == plain.rankings["q00"].doc_ids


def test_a_run_that_counts_nothing_brings_no_documents():
    topic = TOPICS[0]
    one, other = (Run(name, {topic: _ranking([name])}) for name in ("one", "other"))
    assert Fusion((1.0, 0.0)).fuse([one, other], "fused").rankings[topic].doc_ids == ("one",)


def test_what_only_a_run_that_counts_nothing_found_is_not_valued():
    from irplatform.retrieval.fusion import _Ranks, _values

    topic = TOPICS[0]
    one, other = (Run(name, {topic: _ranking([name])}) for name in ("one", "other"))
    table = _Ranks.of([one, other], topic, {"other": 1})
    assert _values(Fusion((1.0, 0.0)), [table]) == [0]
    assert _values(Fusion((1.0, 0.1)), [table])[0] > 0


def test_the_chosen_fusion_ranks_as_it_was_valued():
    """The search works on tables of ranks; what it values must be what the fusion gives."""
    from irplatform.evaluation.gain import ndcg
    from irplatform.retrieval.fusion import _Ranks, _values

    runs = [_run("a", 0.7, 1), _run("b", 0.3, 2), _run("c", 0.5, 3)]
    fusion = Fusion((1.0, 0.25, 0.5), 10)
    fused = fusion.fuse(runs, "fused")
    for topic in TOPICS[:10]:
        grades = [RELEVANT[topic].get(d, 0) for d in fused.rankings[topic].doc_ids[:20]]
        table = _Ranks.of(runs, topic, RELEVANT[topic])
        assert _values(fusion, [table])[0] == pytest.approx(ndcg(grades, [1, 1, 1], cutoff=20))
