"""Timing of rerankers: as many documents as were asked for, and weights from where they come."""

from types import SimpleNamespace

import pytest
from checkpoints import described
from small import SmallResources, registration

from irplatform.analysis.timing import (
    BRIEFLY,
    CHECKPOINT,
    NONE,
    UNTRAINED,
    pools,
    ready,
    time_reranker,
)
from irplatform.errors import InputError
from irplatform.plugin import Reranker, Topic, TrainableReranker
from irplatform.reranking.systems import ChosenReranker

CHOSEN = [(Topic("1", "q"), ["a", "b", "c"]), (Topic("2", "q"), ["b", "c", "d"])]
SOURCE = {"imported": None}


class Resources(SmallResources):
    corpus = SimpleNamespace(fingerprint="corpus-1")
    source = SimpleNamespace(describe=lambda: SOURCE)


class Constant(Reranker):
    """Scores nothing."""

    def score(self, topic, documents):
        self.scored = [*getattr(self, "scored", []), (topic.id, documents.ids)]
        return [0.0] * len(documents)


class Network(TrainableReranker, Constant):
    """Can score with the weights that it is made with."""

    origin = "made"

    def save(self, folder):
        (folder / "weights").write_text("untrained")

    def load(self, folder):
        self.origin = (folder / "weights").read_text()

    def fit(self, data):
        self.origin = "fitted"


class Trees(Network):
    """Has nothing to save before it learned."""

    def save(self, folder):
        raise AttributeError("trees")


class Batches(Reranker):
    """Scores several topics at once, and defines nothing for one."""

    def score_batch(self, batch):
        return [[0.0] * len(documents) for _, documents in batch]


class BatchesOfNetwork(Batches, Network):
    """The same of what can score with the weights that it is made with."""

    score = Reranker.score


def _choice(system):
    entry = registration(system)
    return ChosenReranker(entry, entry.options({}))


def _candidates(**per_topic):
    return SimpleNamespace(topics=[Topic(t, "q") for t in per_topic], per_topic=per_topic)


def test_every_topic_has_exactly_so_many_documents():
    candidates = _candidates(a=("1", "2"), b=("3", "4", "5", "6"), c=("7",))
    sample = pools(candidates, topics=2, documents=3)
    assert [(topic.id, ids) for topic, ids in sample] == [
        ("b", ["3", "4", "5"]),
        ("a", ["1", "2", "3"]),
    ]


def test_too_few_documents_are_refused():
    with pytest.raises(InputError, match="2 different candidates, not 3"):
        pools(_candidates(a=("1", "2"), b=("2",)), topics=2, documents=3)


def test_each_topic_is_warmed_up_and_measured():
    timing = time_reranker(_choice(Constant), CHOSEN, 3, Resources(), {})
    assert (timing.weights, timing.problem, len(timing.milliseconds)) == (NONE, "", 6)
    content = timing.as_json()
    assert content["quickest_ms"] <= content["median_ms"] <= content["slowest_ms"]


def test_one_that_scores_batches_alone_is_measured():
    timing = time_reranker(_choice(Batches), CHOSEN, 3, Resources(), {})
    assert (timing.weights, timing.problem, len(timing.milliseconds)) == (NONE, "", 6)


def test_features_are_computed_anew_for_each_measurement(monkeypatch):
    times = []
    monkeypatch.setattr("irplatform.analysis.timing.forget_features", lambda: times.append(1))
    time_reranker(_choice(Constant), CHOSEN, 3, Resources(), {})
    assert len(times) == len(CHOSEN) * 4


def test_one_that_fails_is_named_with_the_reason():
    class Failing(Reranker):
        def score(self, topic, documents):
            raise ZeroDivisionError("no")

    timing = time_reranker(_choice(Failing), CHOSEN, 1, Resources(), {})
    assert "ZeroDivisionError: no" in timing.problem
    assert timing.as_json()["median_ms"] is None


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        (None, "returned None for topic 1"),
        ([1.0, 2.0], "returned 2 scores for the 3 documents of topic 1"),
        ([1.0, 2.0, float("nan")], "gave document c of topic 1 the score nan"),
    ],
)
def test_one_whose_scores_a_run_would_refuse_is_not_timed(scores, problem):
    class Unusable(Reranker):
        def score(self, topic, documents):
            return scores

    timing = time_reranker(_choice(Unusable), CHOSEN, 1, Resources(), {})
    assert problem in timing.problem
    assert timing.as_json()["median_ms"] is None


@pytest.mark.parametrize(
    ("system", "weights", "origin"),
    [
        (Network, UNTRAINED, "untrained"),
        (BatchesOfNetwork, UNTRAINED, "untrained"),
        (Trees, BRIEFLY, "fitted"),
    ],
)
def test_without_a_checkpoint_a_model_is_untrained_or_briefly_trained(
    fresh_home, system, weights, origin
):
    member, state = ready(_choice(system), CHOSEN, Resources(), {"1": {"a": 1}})
    assert (state, member.origin) == (weights, origin)


def test_a_checkpoint_of_the_same_model_and_documents_is_taken(fresh_home):
    choice = _choice(Network)
    for name, corpus, origin in (("a", "corpus-2", "another"), ("b", "corpus-1", "right")):
        folder = fresh_home / "checkpoint" / name
        (folder / "member-0").mkdir(parents=True)
        (folder / "member-0" / "weights").write_text(origin)
        depends_on = {"corpus": corpus, "vectors": SOURCE}
        described(folder, **choice.describe(), depends_on=depends_on)
    member, state = ready(choice, CHOSEN, Resources(), {})
    assert (state, member.origin) == (CHECKPOINT, "right")
