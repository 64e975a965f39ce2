"""What can be pooled has the ranks that measures look at, and each method chooses as published."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.errors import InputError
from irplatform.evaluation.scoring import evaluate
from irplatform.files.columns import texts_of
from irplatform.judging.pool_methods import candidates, choose, quotas, worth
from irplatform.runs import Ranking, Run


def run_of(name="a", **topics):
    """A run with the documents of each topic, best first."""
    return Run(name, {t: Ranking.of(d, range(len(d), 0, -1)) for t, d in topics.items()})


def test_ranks_are_those_of_every_run_and_0_where_it_has_none():
    runs = [run_of(t="ab"), run_of(t="cba")]
    (topic,) = candidates(runs, 2, {})
    assert texts_of(topic.documents) == ["a", "b", "c"]
    assert topic.ranks.tolist() == [[1, 2, 0], [0, 2, 1]]
    assert topic.best.tolist() == [1, 2, 1]


def test_equal_scores_are_ranked_by_descending_id():
    (topic,) = candidates([Run("a", {"t": Ranking.of(["x", "z", "y"], [1, 1, 1])})], 2, {})
    assert texts_of(topic.documents) == ["y", "z"]
    assert topic.ranks.tolist() == [[2, 1]]


def test_topics_of_any_run_come_in_the_order_in_which_they_first_come():
    runs = [run_of(b="x"), run_of(a="x", b="y")]
    topics = [*candidates(runs, 5, {})]
    assert [topic.topic for topic in topics] == ["b", "a"]
    assert topics[1].ranks.tolist() == [[0], [1]]


def test_judged_documents_are_marked_and_what_nobody_could_tell_is_not_relevant():
    (topic,) = candidates([run_of(t="abcd")], 4, {"t": {"a": 2, "b": 0, "c": None}})
    assert topic.judged.tolist() == [True, True, True, False]
    assert topic.relevant.tolist() == [True, False, False, False]


def test_random_numbers_of_a_topic_do_not_depend_on_others():
    alone, _ = candidates([run_of(t="ab", u="a")], 4, {})
    _, behind = candidates([run_of(u="a", t="ab")], 4, {})
    assert alone.random(3).random() == behind.random(3).random()
    assert alone.random(3).random() != alone.random(4).random()


@pytest.mark.parametrize(
    ("sizes", "budget", "parts"),
    [
        ([5, 5], 4, [2, 2]),
        ([1, 5, 5], 7, [1, 3, 3]),
        ([1, 2], 9, [1, 2]),
        ([0, 3], 2, [0, 2]),
        ([4], 0, [0]),
        ([], 3, []),
    ],
)
def test_a_budget_is_spread_equally_as_far_as_topics_reach(sizes, budget, parts):
    assert quotas(sizes, budget, seed=1) == parts


counts = st.lists(st.integers(0, 9), min_size=1, max_size=6)


@given(counts, st.data(), st.integers(0, 40))
def test_no_topic_is_ahead_of_another_that_could_have_more(sizes, data, budget):
    judged = [data.draw(st.integers(0, size)) for size in sizes]
    parts = quotas(sizes, budget, 1, judged)
    assert sum(parts) == min(budget, sum(sizes) - sum(judged))
    filled = np.add(parts, judged)
    open_ones = [n for n, size in zip(filled, sizes, strict=True) if n < size]
    having = [n for n, part in zip(filled, parts, strict=True) if part]
    assert all(high <= low + 1 for high in having for low in open_ones)


def test_a_round_goes_on_where_the_last_one_ended():
    first = quotas([9, 9, 9], 4, 1)
    second = quotas([9, 9, 9], 2, 1, first)
    assert np.add(first, second).tolist() == [2, 2, 2]


DEPTH = 5


def drawn(topics, choices):
    """Topic to the documents that are to be judged."""
    return {
        topic.topic: {*texts_of(choice.documents[choice.places > 0])}
        for topic, choice in zip(topics, choices, strict=True)
    }


def sample(topics, strata, budget, seed):
    """A stratified choice."""
    return choose(topics, "stratified", budget, seed, strata)


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
    pooled = drawn(topics, choose(topics, "depth", None, 1))
    qrels = {topic: dict.fromkeys(documents, 1) for topic, documents in pooled.items()}
    for run in runs:
        values = evaluate(qrels, run, [f"Judged@{DEPTH}", f"P@{DEPTH}"]).aggregate
        assert values == {f"Judged@{DEPTH}": 1.0, f"P@{DEPTH}": 1.0}


def test_a_budget_pools_each_topic_as_deep_as_its_part_reaches(runs):
    topics = [*candidates(runs, 20, {})]
    for topic, choice in zip(topics, choose(topics, "depth", 40, 1), strict=True):
        best = topic.best
        assert len(choice.documents) == 10
        mask = np.isin(topic.documents, choice.documents)
        assert best[mask].max() <= best[~mask].min()


def test_of_the_last_rank_chance_decides(runs):
    topics = [*candidates(runs, 20, {})]
    pools = [drawn(topics, choose(topics, "depth", 5, seed)) for seed in range(4)]
    assert any(pool != pools[0] for pool in pools)
    assert pools[0] == drawn(topics, choose(topics, "depth", 5, 0))


def test_judged_documents_are_left_out(runs):
    judged = {"1": {"d1": 1, "d2": 0, "d3": None}}
    topics = [*candidates(runs, 20, judged)]
    pooled = drawn(topics, choose(topics, "depth", None, 1))
    assert pooled["1"] == {*texts_of(topics[0].documents)} - {*judged["1"]}


def test_strata_follow_the_best_rank_and_shares_are_kept(runs):
    topics = [*candidates(runs, 20, {})]
    for topic, choice in zip(topics, sample(topics, [(5, 1.0), (20, 0.5)], None, 1), strict=True):
        assert len(choice.documents) == len(topic)
        assert ((choice.strata == 1) == (topic.best <= 5)).all()
        assert choice.places[choice.strata == 1].all()
        second = choice.places[choice.strata == 2]
        assert second.sum() == int(np.floor(len(second) / 2 + 0.5))


def test_documents_of_a_stratum_are_drawn_alike(runs):
    topics = [*candidates(runs, 20, {})][:1]
    times = np.zeros(len(topics[0]))
    for seed in range(400):
        (choice,) = sample(topics, [(20, 0.25)], None, seed)
        times += choice.places
    assert times.min() > 60
    assert times.max() < 140


def test_judged_documents_are_a_stratum_of_their_own_of_which_none_is_drawn(runs):
    judged = {"1": {"d1": 1, "d2": 0}}
    topics = [*candidates(runs, 20, judged)]
    choice = sample(topics, [(5, 1.0), (20, 0.5)], None, 1)[0]
    assert {*texts_of(topics[0].documents[choice.strata == 0])} == {"d1", "d2"}
    assert not choice.places[choice.strata == 0].any()


@pytest.mark.parametrize("budget", [8, 9, 30, 57, 100, 10_000])
def test_a_budget_scales_the_shares_and_is_spent(runs, budget):
    topics = [*candidates(runs, 20, {})]
    choices = sample(topics, [(5, 1.0), (20, 0.2)], budget, 1)
    sizes = sum(len(choice.documents) for choice in choices)
    assert sum(int(choice.places.sum()) for choice in choices) == min(budget, sizes)
    for choice in choices:
        top, rest = (choice.places[choice.strata == s] for s in (1, 2))
        assert top.any()
        assert rest.any()
        assert top.mean() + 0.1 >= rest.mean()


def test_a_budget_that_leaves_a_stratum_empty_is_refused(runs):
    with pytest.raises(InputError, match="at least 8"):
        sample([*candidates(runs, 20, {})], [(5, 1.0), (20, 0.2)], 7, 1)


def random_runs(number, topics="12", seed=3):
    """Runs with random rankings of 30 documents."""
    random = np.random.default_rng(seed)
    return [
        Run(
            f"s{n}",
            {
                t: Ranking.of([f"d{i:02}" for i in random.permutation(40)[:30]], range(30, 0, -1))
                for t in topics
            },
        )
        for n in range(number)
    ]


def documents_of(topics, choices):
    """The documents that were chosen, in their order, by topic."""
    pairs = zip(topics, choices, strict=True)
    return {t.topic: texts_of(choice.documents) for t, choice in pairs}


class TestMoveToFront:
    def test_a_run_that_brings_relevant_documents_goes_on(self):
        runs = [run_of("a", t=["a1", "a2", "a3"]), run_of("b", t=["b1", "b2", "b3"])]
        judged = {"t": {"a1": 1, "b1": 0}}
        topics = [*candidates(runs, 9, judged)]
        assert documents_of(topics, choose(topics, "move-to-front", 1, 1)) == {"t": ["a2"]}

    def test_without_judgments_the_runs_take_turns(self):
        runs = [run_of(name, t=[f"{name}{n}" for n in range(5)]) for name in "abc"]
        topics = [*candidates(runs, 9, {})]
        first = documents_of(topics, choose(topics, "move-to-front", 6, 1))["t"]
        assert {*first[:3]} == {"a0", "b0", "c0"}
        assert {*first[3:]} == {"a1", "b1", "c1"}

    def test_it_is_the_plain_form_with_a_queue_of_runs(self):
        runs = random_runs(4, "1")
        truth = {f"d{n:02}": int(n % 3 == 0) for n in range(40)}
        (topic,) = candidates(runs, 30, {})
        order = topic.random(1).permutation(4).tolist()
        lists = [[*runs[run].rankings["1"].doc_ids] for run in order]
        expected = []
        misses, queue = [0] * 4, [0, 1, 2, 3]
        while len(expected) < 25:
            least = min(misses[run] for run in queue)
            run = next(run for run in queue if misses[run] == least)
            document = next((d for d in lists[run] if d not in expected), None)
            if document is None:
                queue.remove(run)
                continue
            expected.append(document)
            if not truth[document]:
                misses[run] += 1
                queue.remove(run)
                queue.append(run)
        judged = {}
        for _ in range(25):
            topics = [*candidates(runs, 30, {"1": judged})]
            (document,) = documents_of(topics, choose(topics, "move-to-front", 1, 1))["1"]
            judged[document] = truth[document]
        assert [*judged] == expected

    def test_a_document_that_nobody_could_tell_counts_as_not_relevant(self):
        runs = [run_of("a", t=["a1", "a2"]), run_of("b", t=["b1", "b2"])]
        topics = [*candidates(runs, 9, {"t": {"a1": None, "b1": 1}})]
        assert documents_of(topics, choose(topics, "move-to-front", 1, 1)) == {"t": ["b2"]}

    def test_all_documents_are_chosen_in_the_end_each_once(self):
        topics = [*candidates(random_runs(3), 30, {})]
        for topic, choice in zip(topics, choose(topics, "move-to-front", 10_000, 1), strict=True):
            assert sorted(texts_of(choice.documents)) == texts_of(topic.documents)


class TestWorth:
    def test_it_is_its_formula(self):
        runs = random_runs(4)
        judged = {"1": {f"d{n:02}": int(n < 4) for n in range(8)}}
        topics = [*candidates(runs, 10, judged)]
        slope = _fitted(topics)
        pairs = [*combinations(range(4), 2)]
        effects, means, spreads = [], dict.fromkeys(pairs, 0.0), dict.fromkeys(pairs, 0.0)
        for topic in topics:
            gains = np.array([[r and 1 / math.log2(1 + r) for r in row] for row in topic.ranks])
            raw = 1 / (1 + np.exp(-(slope[0] + slope[1] * gains.mean(axis=0))))
            expectation = raw[topic.judged].sum()
            odds = raw / (1 - raw) * (topic.relevant.sum() + 1) / (expectation + 1)
            chance = odds / (1 + odds)
            relevance = np.where(topic.judged, topic.relevant, chance)
            ideal = sum(1 / math.log2(1 + r) for r in range(1, min(10, round(sum(relevance))) + 1))
            for a, b in pairs:
                effect = (gains[a] - gains[b]) / ideal
                means[a, b] += (relevance * effect).sum()
                spreads[a, b] += (relevance * (1 - relevance) * effect**2).sum()
            effects.append((gains / ideal, chance))
        wrong = {p: 0.5 * math.erfc(abs(means[p]) / math.sqrt(2 * spreads[p])) for p in pairs}
        for (gains, chance), topic, values in zip(effects, topics, worth(topics), strict=True):
            benefit = sum(wrong[a, b] * np.abs(gains[a] - gains[b]) for a, b in pairs)
            expected = np.where(topic.judged, 0, 2 * chance * (1 - chance) * benefit)
            assert values == pytest.approx(expected)

    def test_what_all_runs_rank_alike_tells_nothing(self):
        runs = [run_of("a", t=["same", "x"]), run_of("b", t=["same", "y"])]
        topics = [*candidates(runs, 2, {})]
        values = dict(zip(texts_of(topics[0].documents), worth(topics)[0], strict=True))
        assert values["same"] == 0
        assert values["x"] == pytest.approx(values["y"])
        assert values["x"] > 0

    def test_nothing_tells_two_runs_apart_that_are_the_same(self):
        topics = [*candidates([run_of("a", t="xyz"), run_of("b", t="xyz")], 3, {"t": {"x": 1}})]
        assert worth(topics)[0].tolist() == [0, 0, 0]

    def test_what_is_known_of_two_runs_adds_nothing_to_what_tells_others_apart(self):
        judged = {"t": {"x": 1, "y": 0}}
        runs = [run_of("a", t="xyv"), run_of("b", t="yxv"), run_of("c", t="xyw")]
        (all_of_them,) = worth([*candidates(runs, 3, judged)])
        assert all_of_them[2:].tolist() == [0, 0]
        assert (all_of_them[:2] > 0).all()

    def test_the_documents_of_most_worth_are_chosen_and_none_that_is_judged(self):
        judged = {"1": {f"d{n:02}": 0 for n in range(10)}}
        topics = [*candidates(random_runs(3), 20, judged)]
        values = worth(topics)
        rows = [
            np.flatnonzero(np.isin(topic.documents, choice.documents))
            for topic, choice in zip(topics, choose(topics, "worth", 7, 1), strict=True)
        ]
        assert sum(map(len, rows)) == 7
        least = min(values[n][row] for n, part in enumerate(rows) for row in part)
        rest = [
            value
            for n, topic in enumerate(topics)
            for row, value in enumerate(values[n])
            if row not in rows[n] and not topic.judged[row]
        ]
        assert least >= max(rest)
        assert not any(topic.judged[part].any() for topic, part in zip(topics, rows, strict=True))

    def test_documents_like_those_that_were_relevant_are_worth_more(self):
        runs = random_runs(4)
        (first, _) = candidates(runs, 10, {})
        high = texts_of(first.documents[first.ranks.astype(bool).sum(axis=0) > 2])
        judged = {"1": {d: int(d in high) for d in texts_of(first.documents)}}
        _, other = worth([*candidates(runs, 10, judged)])
        _, before = worth([*candidates(runs, 10, {})])
        (_, topic) = candidates(runs, 10, {})
        shared = topic.ranks.astype(bool).sum(axis=0) > 2
        assert (other / before)[shared].mean() > (other / before)[~shared].mean()


def _fitted(topics):
    """The regression by another solver."""
    from scipy.optimize import minimize

    features, labels = [], []
    for topic in topics:
        gains = np.where(topic.ranks > 0, 1 / np.log2(1 + np.maximum(topic.ranks, 1)), 0)
        features += gains.mean(axis=0)[topic.judged].tolist()
        labels += topic.relevant[topic.judged].tolist()
    centre = sum(features) / len(features)
    x, y = np.array([*features, centre, centre]), np.array([*labels, 0, 1], dtype=float)

    def loss(w):
        value = w[0] + w[1] * x
        return np.sum(np.logaddexp(0, value) - y * value) + 0.005 * (w @ w)

    return minimize(loss, np.zeros(2), tol=1e-14).x
