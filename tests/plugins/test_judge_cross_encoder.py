"""The judge `cross-encoder`: scores of a model, thresholds that are given or fitted."""

from dataclasses import dataclass

import pytest
from pretrained_models import documents
from shipped_judges import shipped_judges
from small import SmallResources, chosen

from irplatform.errors import InputError
from irplatform.plugin import Topic
from irplatform_judges.thresholds import grade_of

TOPIC = Topic("7", "lung cancer")
GRADES = {0: "not relevant", 1: "possibly relevant", 2: "definitely relevant"}


@dataclass
class Resources(SmallResources):
    def reranker(self, name, settings=None):
        choice = chosen(name, **(settings or {}))
        made = choice.registration.made(choice.options)
        made.prepare(self)
        return made


@pytest.fixture
def judge(one_label):
    def make(**options):
        registration = shipped_judges()["cross-encoder"]
        made = registration.made(registration.options({"model": str(one_label), **options}))
        made.reads()
        made.prepare(Resources())
        return made

    return make


def scores(one_label):
    return (
        Resources().reranker("cross-encoder", {"model": str(one_label)}).score(TOPIC, documents())
    )


def test_grades_are_those_of_the_scores(judge, one_label):
    given = sorted(scores(one_label))
    thresholds = [given[5], given[15]]
    asked = judge(thresholds=thresholds)
    expected = [grade_of(score, thresholds, [0, 1, 2]) for score in scores(one_label)]
    assert asked.judge(TOPIC, documents(), GRADES) == expected
    assert {*expected} == {0, 1, 2}


def test_thresholds_are_fitted_and_stand_in_the_version(judge, one_label):
    given = scores(one_label)
    middle = sorted(given)[12]
    asked = judge()
    asked.fit([(TOPIC, documents(), [int(score > middle) for score in given])], GRADES)
    assert asked.judge(TOPIC, documents(), GRADES) == [int(score > middle) for score in given]
    version = asked.version(GRADES)
    assert version.startswith(f"model:{one_label.name} ")
    assert version.endswith(",inf")


def test_without_thresholds_it_says_what_to_do(judge):
    with pytest.raises(InputError, match="fit it on judged documents"):
        judge().judge(TOPIC, documents(), GRADES)
    with pytest.raises(InputError, match="ascending"):
        judge(thresholds=[2.0, 1.0])
    with pytest.raises(InputError, match="thresholds are given"):
        judge(thresholds=[1.0, 2.0]).fit([], GRADES)
