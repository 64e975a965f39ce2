"""The judge `cross-encoder`: scores of a model, thresholds that are given or fitted."""

from dataclasses import dataclass

import pytest
from pretrained_models import documents
from shipped_judges import shipped_judges
from small import SmallResources, chosen

from irplatform.errors import InputError
from irplatform.plugin import Topic

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
def judge(one_label, told):
    def make(**options):
        registration = shipped_judges()["cross-encoder"]
        made = registration.made(registration.options({"model": str(one_label), **options}))
        made.reads()
        made.prepare(Resources(told=told))
        return made

    return make


@pytest.fixture
def told():
    return []


def scores(one_label):
    return (
        Resources().reranker("cross-encoder", {"model": str(one_label)}).score(TOPIC, documents())
    )


def test_grades_are_those_of_the_scores_by_fitted_thresholds(judge, one_label):
    given = scores(one_label)
    low, high = sorted(given)[5], sorted(given)[15]
    people = [int(score > low) + int(score > high) for score in given]
    asked = judge()
    asked.fit([(TOPIC, documents(), people)], GRADES)
    assert asked.judge(TOPIC, documents(), GRADES) == people
    assert {*people} == {0, 1, 2}


def test_thresholds_stand_in_the_version_and_a_grade_that_nobody_gave_is_not_given(
    judge, one_label
):
    given = scores(one_label)
    people = [int(score > sorted(given)[12]) for score in given]
    asked = judge()
    asked.fit([(TOPIC, documents(), people)], GRADES)
    assert asked.judge(TOPIC, documents(), GRADES) == people
    version = asked.version(GRADES)
    assert version.startswith(f"model:{one_label.name} ")
    assert version.endswith(",inf")


def test_it_says_how_well_scores_tell_grades_apart(judge, one_label, told):
    given = scores(one_label)
    by_score = [int(score > sorted(given)[10]) for score in given]
    judge().fit([(TOPIC, documents(), by_score)], {0: "no", 1: "yes"})
    assert told == [
        f"thresholds fitted on {len(given)} documents, with a kappa of 1.00 (at least 1)"
    ]
    against = [int(score <= sorted(given)[1]) for score in given]
    judge().fit([(TOPIC, documents(), against)], {0: "no", 1: "yes"})
    assert "take another model" in told[1]


def test_without_thresholds_it_says_what_to_do(judge):
    with pytest.raises(InputError, match="fit it on judged documents"):
        judge().judge(TOPIC, documents(), GRADES)


def test_without_a_model_it_says_what_to_do():
    registration = shipped_judges()["cross-encoder"]
    with pytest.raises(InputError, match="'cross-encoder' needs a model"):
        registration.made(registration.options({})).reads()
