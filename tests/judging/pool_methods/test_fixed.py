"""Fixed pools: nothing of the first ranks stays unjudged, and samples follow their shares."""

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform.evaluation.scoring import evaluate
from irplatform.files.columns import texts_of
from irplatform.judging.pool_methods.candidates import candidates
from irplatform.judging.pool_methods.fixed import by_priority, priorities, stratified
from irplatform.runs import Ranking, Run

DEPTH = 5


def drawn(topics, choices):
    """Topic to the documents that are to be judged."""
    return {
        topic.topic: {*texts_of(topic.documents[choice.rows[choice.drawn]])}
        for topic, choice in zip(topics, choices, strict=True)
    }


@pytest.fixture
def runs():
    """Three runs of four topics, with many ties in score."""
    random = np.random.default_rng(5)
    return [
        Run(
            name,
            {
                t: Ranking.of([f"d{n}" for n in random.permutation(60)[:30]], np.arange(30) // 4)
                for t in "1234"
            },
        )
        for name in ("a", "b", "c")
    ]


def test_a_pool_of_depth_k_leaves_nothing_of_the_first_k_unjudged_ties_included(runs):
    topics = [*candidates(runs, DEPTH, {})]
    pooled = drawn(topics, by_priority(topics, "depth", None, 1))
    qrels = {topic: dict.fromkeys(documents, 1) for topic, documents in pooled.items()}
    for run in runs:
        values = evaluate(qrels, run, [f"Judged@{DEPTH}", f"P@{DEPTH}"]).aggregate
        assert values == {f"Judged@{DEPTH}": 1.0, f"P@{DEPTH}": 1.0}


def test_a_budget_pools_each_topic_as_deep_as_its_part_reaches(runs):
    topics = [*candidates(runs, 20, {})]
    for topic, choice in zip(topics, by_priority(topics, "depth", 40, 1), strict=True):
        best = topic.best
        assert len(choice.rows) == 10
        left = np.setdiff1d(np.arange(len(topic)), choice.rows)
        assert best[choice.rows].max() <= best[left].min()


def test_of_the_last_rank_chance_decides(runs):
    topics = [*candidates(runs, 20, {})]
    pools = [drawn(topics, by_priority(topics, "depth", 5, seed)) for seed in range(4)]
    assert any(pool != pools[0] for pool in pools)
    assert pools[0] == drawn(topics, by_priority(topics, "depth", 5, 0))


@pytest.mark.parametrize(
    ("method", "part"), [("rrf", lambda r: 1 / (60 + r)), ("rbp", lambda r: 0.2 * 0.8 ** (r - 1))]
)
def test_joint_priorities_are_sums_over_the_runs(runs, method, part):
    for topic in candidates(runs, 20, {}):
        found = dict(zip(texts_of(topic.documents), priorities(topic, method), strict=True))
        expected = dict.fromkeys(found, 0.0)
        for run in runs:
            for rank, doc_id in enumerate(run.rankings[topic.topic].doc_ids[:20], start=1):
                expected[doc_id] += part(rank)
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("method", ["depth", "rrf", "rbp"])
def test_judged_documents_are_left_out(runs, method):
    judged = {"1": {"d1": 1, "d2": 0, "d3": None}}
    topics = [*candidates(runs, 20, judged)]
    pooled = drawn(topics, by_priority(topics, method, None, 1))
    assert pooled["1"] == {*texts_of(topics[0].documents)} - {*judged["1"]}


def test_strata_follow_the_best_rank_and_shares_are_kept(runs):
    topics = [*candidates(runs, 20, {})]
    for topic, choice in zip(
        topics, stratified(topics, [(5, 1.0), (20, 0.5)], None, 1), strict=True
    ):
        assert len(choice.rows) == len(topic)
        assert ((choice.strata == 1) == (topic.best <= 5)).all()
        assert choice.drawn[choice.strata == 1].all()
        second = choice.drawn[choice.strata == 2]
        assert second.sum() == int(np.floor(len(second) / 2 + 0.5))


def test_documents_of_a_stratum_are_drawn_alike(runs):
    topics = [*candidates(runs, 20, {})][:1]
    times = np.zeros(len(topics[0]))
    for seed in range(400):
        (choice,) = stratified(topics, [(20, 0.25)], None, seed)
        times += choice.drawn
    assert times.min() > 60
    assert times.max() < 140


def test_judged_documents_are_a_stratum_of_their_own_of_which_none_is_drawn(runs):
    judged = {"1": {"d1": 1, "d2": 0}}
    topics = [*candidates(runs, 20, judged)]
    choice = stratified(topics, [(5, 1.0), (20, 0.5)], None, 1)[0]
    assert {*texts_of(topics[0].documents[choice.strata == 0])} == {"d1", "d2"}
    assert not choice.drawn[choice.strata == 0].any()


@pytest.mark.parametrize("budget", [8, 9, 30, 57, 100, 10_000])
def test_a_budget_scales_the_shares_and_is_spent(runs, budget):
    topics = [*candidates(runs, 20, {})]
    choices = stratified(topics, [(5, 1.0), (20, 0.2)], budget, 1)
    sizes = sum(len(choice.rows) for choice in choices)
    assert sum(int(choice.drawn.sum()) for choice in choices) == min(budget, sizes)
    for choice in choices:
        top, rest = (choice.drawn[choice.strata == s] for s in (1, 2))
        assert top.any()
        assert rest.any()
        assert top.mean() + 0.1 >= rest.mean()


def test_a_budget_that_leaves_a_stratum_empty_is_refused(runs):
    with pytest.raises(InputError, match="at least 8"):
        stratified([*candidates(runs, 20, {})], [(5, 1.0), (20, 0.2)], 7, 1)
