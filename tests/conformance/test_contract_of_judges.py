"""A judge that breaks the contract is caught; a sound one passes."""

import itertools

import pytest
from small import PLUGIN, SmallResources

from irplatform.conformance.data import CheckData
from irplatform.conformance.judges import chosen_judges, results_of_judge
from irplatform.data import LabelledTopic
from irplatform.errors import InputError, PluginError
from irplatform.plugin import Field, Judge, Options, Topic
from irplatform.registry.dependencies import ChosenSystem
from irplatform.registry.registration import Plugin, Registration

HERE = Plugin("strange", "strange-distribution", "1.2", installed=False)
TEXTS = {"d1": "query word", "d2": "other", "d3": "query"}


def data():
    topics = [(Topic(f"t{n}", "query"), ("d1", "d2", "d3")) for n in range(3)]
    training = [LabelledTopic(Topic("t9", "query"), ("d1", "d2"), {"d1": 4, "d9": 1})]
    return CheckData(SmallResources(TEXTS), topics, training, [])


class Sound(Judge):
    def judge(self, topic, documents, grades):
        return [max(grades) if topic.query in d.text else None for d in documents]


def problems(**methods):
    system = type("Tried", (Sound,), methods)
    registration = Registration("tried", "judge", system, {}, HERE)
    results = results_of_judge(ChosenSystem(registration, Options()), data())
    return [problem for _, problem in results if problem]


def test_a_sound_one_passes():
    assert problems() == []


def test_a_grade_may_not_depend_on_the_documents_beside_it():
    def judge(self, topic, documents, grades):
        return [min(len(documents) - 1, 2)] * len(documents)

    (problem,) = problems(judge=judge)
    assert "when other documents are with it" in problem


def test_a_grade_may_not_depend_on_the_order():
    def judge(self, topic, documents, grades):
        return [int(place == 0) for place, _ in enumerate(documents)]

    assert any("in another order" in problem for problem in problems(judge=judge))


def test_the_version_is_the_same_by_another_instance():
    drawn = itertools.count()
    messages = problems(version=lambda self, grades: f"v{next(drawn)}")
    assert messages == ["its version differs by another instance"]


def test_a_grade_that_is_not_defined_is_a_breach():
    with pytest.raises(PluginError, match=r"returned \[7, 7, 7\] for topic t0"):
        problems(judge=lambda self, topic, documents, grades: [7] * len(documents))


def test_settings_go_to_the_judge_that_has_them():
    class Sized(Options):
        size: int = Field(1, description="a size")

    class Tried(Sound):
        Options = Sized

    registration = Registration("tried", "judge", Tried, {}, PLUGIN)
    (choice,), rest = chosen_judges([registration], {"tried.size": 3, "k1": 0.9}, [])
    assert choice.options.size == 3
    assert rest == {"k1": 0.9}
    ranker = Registration("tried", "reranker", Tried, {}, PLUGIN)  # of the same name
    _, rest = chosen_judges([registration], {"tried.size": 3}, [ranker])
    assert rest == {"tried.size": 3}
    with pytest.raises(InputError):
        chosen_judges([registration], {"tried.size": "large"}, [])


def test_a_judge_that_learns_is_fitted():
    def fit(self, judged, grades):
        self.given = [grade for _, _, marks in judged for grade in marks]

    def judge(self, topic, documents, grades):
        return [max(self.given)] * len(documents)

    assert problems(fit=fit, judge=judge) == []
