"""Folds of learned features: what belongs together stays together, and moves nobody else."""

import pytest
from small import labelled

from irplatform.features.cross_fitting import Folding
from irplatform.plugin import LabelledTopic, Topic


def _topics(queries, sources=None):
    fields = [{"citing_id": source} if source else {} for source in sources or [""] * len(queries)]
    return [
        LabelledTopic(Topic(f"t{n:02}", query, values), (), {})
        for n, (query, values) in enumerate(zip(queries, fields, strict=True))
    ]


@pytest.fixture
def plain():
    return [f"query {n}" for n in range(40)]


def test_topics_that_ask_the_same_share_a_fold_and_others_stay(plain):
    folding = Folding(5, "citing_id")
    before = folding.split(_topics(plain))
    assert set(before) == set(range(5))
    last = next(n for n in range(1, 40) if before[n] != before[0])
    queries = [*plain]
    queries[last] = "Query: 0"
    after = folding.split(_topics(queries))
    assert after[last] == after[0]
    assert [f for n, f in enumerate(after) if n != last] == [
        f for n, f in enumerate(before) if n != last
    ]


def test_sources_that_share_a_question_share_a_fold(plain):
    sources = [f"article {n // 4}" for n in range(40)]
    queries = [*plain]
    queries[4], queries[8] = "the same words", "the same words"
    folds = Folding(5, "citing_id").split(_topics(queries, sources))
    assert len(set(folds[4:12])) == 1
    for start in range(0, 40, 4):
        assert len(set(folds[start : start + 4])) == 1


@pytest.mark.parametrize("count", [2, 3])
def test_few_families_have_folds_of_their_own(count):
    for start in range(40):
        topics = _topics([""] * start + [f"query {n % count}" for n in range(30)])[start:]
        assert len(set(Folding(5, "").split(topics))) == count


def test_the_order_of_topics_changes_nothing(plain):
    topics = _topics([*plain[:30], *plain[:10]])
    folds = Folding(5, "citing_id").split(topics)
    assert Folding(5, "citing_id").split(topics[::-1]) == folds[::-1]


def test_a_topic_alone_has_a_fold():
    assert Folding(5, "").split([labelled("1", ["a"])]) == [0]
