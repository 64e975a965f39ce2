"""What a reranker made is known the second time, without asking it."""

import shutil
from typing import ClassVar

import pytest
from letters import (
    CORPUS,
    TOPICS,
    Letters,
    Witness,
    choose,
    make_candidates,
    rerank,
    training_set_of,
)
from small import SmallResources

from irplatform.collection_resources import CollectionResources
from irplatform.plugin import Traits
from irplatform.reranking.training_set import LearningPlan

pytestmark = pytest.mark.usefixtures("fresh_home")


class Loud(Letters):
    """Remembers each call."""

    calls: ClassVar[list[str]] = []

    def prepare(self, resources):
        Loud.calls.append("prepare")

    def score(self, topic, documents):
        Loud.calls.append("score")
        return super().score(topic, documents)


@pytest.fixture
def ranked():
    def ranked(kind=Loud, candidates=None, qrels=None, learning=None, weight=0.4):
        Loud.calls.clear()
        resources = CollectionResources(CORPUS, device="cpu", seed=1, threads=1)
        resources.documents = SmallResources().documents
        learning = learning or LearningPlan()
        candidates = candidates or make_candidates()
        return rerank(choose(kind), candidates, qrels, learning, weight, resources)

    return ranked


def _of(run):
    return {topic: [*ranking] for topic, ranking in run.rankings.items()}


def test_the_second_time_nothing_is_prepared_or_scored(ranked):
    first = ranked()
    assert "score" in Loud.calls
    again = ranked()
    assert (again.weight, again.weights, again.identity) == (0.4, [0.4], first.identity)
    assert Loud.calls == []
    assert (_of(again.alone), _of(again.final)) == (_of(first.alone), _of(first.final))
    assert Loud.calls == []  # the scores are known, too


def test_a_system_that_learns_is_not_loaded_again(ranked):
    learning = LearningPlan(training_set_of(*range(20)))
    first = ranked(Witness, learning=learning, weight=None)
    Witness.scored.clear()
    again = ranked(Witness, learning=learning, weight=None)
    assert Witness.scored == []
    assert [s.description for s in again.systems] == [s.description for s in first.systems]
    assert [s.fingerprint for s in again.systems] == [s.fingerprint for s in first.systems]
    assert again.weight == first.weight
    assert (_of(again.alone), _of(again.final)) == (_of(first.alone), _of(first.final))
    assert Witness.scored == []  # the runs are made of the scores in the cache


def test_a_system_whose_scores_are_gone_is_opened_again(ranked, fresh_home):
    learning = LearningPlan(training_set_of(*range(20)))
    first = ranked(Witness, learning=learning, weight=None)
    again = ranked(Witness, learning=learning, weight=None)
    shutil.rmtree(fresh_home / "scores")
    Witness.scored.clear()
    assert _of(again.final) == _of(first.final)
    assert Witness.scored


def test_other_training_topics_make_another_result(ranked):
    first = ranked(learning=LearningPlan(training_set_of(*range(20))), weight=None)
    second = ranked(learning=LearningPlan(training_set_of(*range(19))), weight=None)
    assert first.identity != second.identity


@pytest.mark.parametrize("changed", [{"weight": 0.5}, {"candidates": make_candidates(4)}])
def test_another_share_or_depth_makes_another_result(ranked, changed):
    assert ranked().identity != ranked(**changed).identity


def test_judgments_count_in_cross_validation_alone(ranked):
    judgments = {topic.id: {"a": 1} for topic in TOPICS}
    more = {topic.id: {"a": 1, "b": 1} for topic in TOPICS}
    assert ranked(qrels=judgments).identity == ranked(qrels=more).identity
    folds = LearningPlan(folds=True)
    first, second = (
        ranked(qrels=qrels, learning=folds, weight=None).identity for qrels in (judgments, more)
    )
    assert first != second


def test_notices_come_again(ranked, capsys):
    class Telling(Loud):
        """Tells of what it finds."""

        def prepare(self, resources):
            resources.notice("its words are few")

    for _ in range(2):
        ranked(Telling)
        assert "its words are few" in capsys.readouterr().err


def test_rerankers_that_keep_their_answers_are_asked_again(ranked):
    class Asking(Loud):
        """Keeps its own answers."""

        def traits(self):
            return Traits(keeps_answers=True)

    assert ranked(Asking).identity == ""
    ranked(Asking)
    assert "score" in Loud.calls
