"""Methods that learn: move-to-front as published, and the worth of a document as its formula."""

import math
from itertools import combinations

import numpy as np
import pytest

from irplatform.files.columns import texts_of
from irplatform.judging.pool_methods.candidates import candidates
from irplatform.judging.pool_methods.learning import most_worth, move_to_front, worth
from irplatform.runs import Ranking, Run


def run_of(name, order, topic="t"):
    """A run of one topic."""
    return Run(name, {topic: Ranking.of(order, range(len(order), 0, -1))})


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


def chosen(topics, rows):
    """The documents of some rows, by topic."""
    return {t.topic: texts_of(t.documents[r]) for t, r in zip(topics, rows, strict=True)}


class TestMoveToFront:
    def test_a_run_that_brings_relevant_documents_goes_on(self):
        runs = [run_of("a", ["a1", "a2", "a3"]), run_of("b", ["b1", "b2", "b3"])]
        judged = {"t": {"a1": 1, "b1": 0}}
        topics = [*candidates(runs, 9, judged)]
        assert chosen(topics, move_to_front(topics, 1, 1)) == {"t": ["a2"]}

    def test_without_judgments_the_runs_take_turns(self):
        runs = [run_of(name, [f"{name}{n}" for n in range(5)]) for name in "abc"]
        topics = [*candidates(runs, 9, {})]
        first = chosen(topics, move_to_front(topics, 6, 1))["t"]
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
            (document,) = chosen(topics, move_to_front(topics, 1, 1))["1"]
            judged[document] = truth[document]
        assert [*judged] == expected

    def test_a_document_that_nobody_could_tell_counts_as_not_relevant(self):
        runs = [run_of("a", ["a1", "a2"]), run_of("b", ["b1", "b2"])]
        topics = [*candidates(runs, 9, {"t": {"a1": None, "b1": 1}})]
        assert chosen(topics, move_to_front(topics, 1, 1)) == {"t": ["b2"]}

    def test_all_documents_are_chosen_in_the_end_each_once(self):
        topics = [*candidates(random_runs(3), 30, {})]
        for topic, rows in zip(topics, move_to_front(topics, 10_000, 1), strict=True):
            assert sorted(rows) == [*range(len(topic))]


class TestWorth:
    def test_it_is_its_formula(self):
        runs = random_runs(4)
        judged = {"1": {f"d{n:02}": int(n < 4) for n in range(8)}}
        topics = [*candidates(runs, 10, judged)]
        found = worth(topics)
        slope = _fitted(topics)
        pairs = [*combinations(range(4), 2)]
        effects, means, spreads = [], dict.fromkeys(pairs, 0.0), dict.fromkeys(pairs, 0.0)
        for topic in topics:
            gains = np.array([[r and 1 / math.log2(1 + r) for r in row] for row in topic.ranks])
            raw = 1 / (1 + np.exp(-(slope[0] + slope[1] * gains.mean(axis=0))))
            seen = raw[topic.judged].sum()
            odds = raw / (1 - raw) * (topic.relevant.sum() + 1) / (seen + 1)
            chance = odds / (1 + odds)
            known = np.where(topic.judged, topic.relevant, chance)
            ideal = sum(1 / math.log2(1 + r) for r in range(1, min(10, round(sum(known))) + 1))
            for a, b in pairs:
                effect = (gains[a] - gains[b]) / ideal
                means[a, b] += (known * effect).sum()
                spreads[a, b] += (known * (1 - known) * effect**2).sum()
            effects.append((gains / ideal, chance))
        wrong = {p: 0.5 * math.erfc(abs(means[p]) / math.sqrt(2 * spreads[p])) for p in pairs}
        for (gains, chance), topic, values in zip(effects, topics, found.of_documents, strict=True):
            told = sum(wrong[a, b] * np.abs(gains[a] - gains[b]) for a, b in pairs)
            expected = np.where(topic.judged, 0, 2 * chance * (1 - chance) * told)
            assert values == pytest.approx(expected)
        assert {p: found.wrong[p] for p in pairs} == pytest.approx(wrong)

    def test_what_all_runs_rank_alike_tells_nothing(self):
        runs = [run_of("a", ["same", "x"]), run_of("b", ["same", "y"])]
        topics = [*candidates(runs, 2, {})]
        values = dict(
            zip(texts_of(topics[0].documents), worth(topics).of_documents[0], strict=True)
        )
        assert values["same"] == 0
        assert values["x"] == pytest.approx(values["y"])
        assert values["x"] > 0

    def test_two_runs_that_are_the_same_are_never_decided(self):
        runs = [run_of("a", "xyz"), run_of("b", "xyz")]
        found = worth([*candidates(runs, 3, {"t": {"x": 1, "y": 1, "z": 0}})])
        assert found.wrong[0, 1] == 0.5
        assert found.decided == (0, 1)

    def test_a_pair_of_which_all_is_judged_is_decided(self):
        runs = [run_of("a", "xy"), run_of("b", "yx")]
        found = worth([*candidates(runs, 2, {"t": {"x": 1, "y": 0}})])
        assert found.decided == (1, 1)
        assert found.scores == pytest.approx([1, 1 / math.log2(3)])

    def test_the_documents_of_most_worth_are_chosen_and_none_that_is_judged(self):
        judged = {"1": {f"d{n:02}": 0 for n in range(10)}}
        topics = [*candidates(random_runs(3), 20, judged)]
        values = worth(topics).of_documents
        rows = most_worth(topics, 7, 1)
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
        _, other = worth([*candidates(runs, 10, judged)]).of_documents
        _, before = worth([*candidates(runs, 10, {})]).of_documents
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
