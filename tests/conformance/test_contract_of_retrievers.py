"""A retriever that breaks the contract is caught; a sound one passes."""

import itertools
from types import SimpleNamespace

import pytest
from small import PLUGIN

from irplatform.conformance.data import CheckData
from irplatform.conformance.systems import results_of_retriever
from irplatform.errors import PluginError
from irplatform.plugin import Options, Reads, Retriever, Topic, Traits
from irplatform.registry.registration import Registration
from irplatform.retrieval.retrievers import ChosenRetriever
from irplatform.runs import Ranking, Run

INDEX = SimpleNamespace(missing=lambda ids: {*ids} - {"d1", "d2"})
RESOURCES = SimpleNamespace(device="cpu", index=lambda: INDEX)
DATA = CheckData(RESOURCES, [(Topic(f"t{n}", "query"), ("d1", "d2")) for n in range(3)], [], [])


class Sound(Retriever):
    def retrieve(self, topics, depth, resources):
        ranking = Ranking.of(["d1", "d2"], [2.0, 1.0])
        return Run("sound", {topic.id: ranking for topic in topics})


def _problems(**methods):
    system = type("Tried", (Sound,), methods)
    registration = Registration("tried", "retriever", system, {}, PLUGIN)
    results = results_of_retriever(ChosenRetriever(registration, Options()), DATA)
    return [problem for _, problem in results if problem]


def test_a_sound_one_passes():
    assert _problems() == []


def test_scores_must_stay_the_same_where_the_order_does():
    drawn = itertools.count(1)

    def retrieve(self, topics, depth, resources):
        factor = next(drawn)
        ranking = Ranking.of(["d1", "d2"], [2.0 * factor, 1.0])
        return Run("drawn", {topic.id: ranking for topic in topics})

    (again, alone) = _problems(retrieve=retrieve)
    assert again == "document d1 of topic t0 has 4 instead of 2 when it is asked again"
    assert alone == "document d1 of topic t0 has 6 instead of 2 when topics come one at a time"


def test_a_search_may_not_depend_on_those_before():
    def retrieve(self, topics, depth, resources):
        self.asked = getattr(self, "asked", 0) + 1
        ranking = Ranking.of(["d1", "d2"], [2.0 * self.asked, 1.0])
        return Run("counting", {topic.id: ranking for topic in topics})

    assert "document d1 of topic t0 has 4 instead of 2 when it is asked again" in _problems(
        retrieve=retrieve
    )


def test_no_document_is_a_ranking_too():
    empty = Ranking.of([], [])
    problems = _problems(
        retrieve=lambda self, topics, depth, resources: Run(
            "empty", {topic.id: empty for topic in topics}
        )
    )
    assert problems == []


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (
            {"traits": lambda self: Traits(remark=3)},
            "remark of Traits is 3: Input should be a valid string",
        ),
        (
            {"reads": lambda self: Reads(checkpoints="x")},
            "checkpoints of Reads is 'x': Input should be a valid tuple",
        ),
        (
            {"describe_run": lambda self, topics, resources: {"x": {1}}},
            "from describe_run that is not JSON",
        ),
        ({"reads": lambda self: Reads(more={"x": float("nan")})}, "from reads that is not JSON"),
        ({"explain": lambda self, topic, resources: "text"}, "returned str from explain; a map"),
    ],
)
def test_what_a_run_or_a_search_would_refuse_is_an_error(methods, message):
    with pytest.raises(PluginError, match=message):
        _problems(**methods)
