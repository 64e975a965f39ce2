"""What can be pooled has the ranks that measures look at, and a budget is the same for topics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.files.columns import texts_of
from irplatform.judging.pool_methods.candidates import candidates, quotas
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
    assert topic.judged_ids == ["a", "b", "c"]


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
