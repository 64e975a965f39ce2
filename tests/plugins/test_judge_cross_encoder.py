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
        reranker = choice.registration.make(choice.options)
        reranker.prepare(self)
        return reranker


@pytest.fixture
def judge(one_label, notices):
    def make(**options):
        registration = shipped_judges()["cross-encoder"]
        assessor = registration.make(registration.options({"model": str(one_label), **options}))
        assessor.reads()
        assessor.prepare(Resources(told=notices))
        return assessor

    return make


@pytest.fixture
def notices():
    return []


def scores(one_label):
    return (
        Resources().reranker("cross-encoder", {"model": str(one_label)}).score(TOPIC, documents())
    )


def test_grades_are_those_of_the_scores_by_fitted_thresholds(judge, one_label):
    values = scores(one_label)
    low, high = sorted(values)[5], sorted(values)[15]
    people = [int(score > low) + int(score > high) for score in values]
    assessor = judge()
    assessor.fit([(TOPIC, documents(), people)], GRADES)
    assert assessor.judge(TOPIC, documents(), GRADES) == people
    assert {*people} == {0, 1, 2}


def test_thresholds_stand_in_the_version_and_a_grade_that_nobody_gave_is_not_given(
    judge, one_label
):
    values = scores(one_label)
    people = [int(score > sorted(values)[12]) for score in values]
    assessor = judge()
    assessor.fit([(TOPIC, documents(), people)], GRADES)
    assert assessor.judge(TOPIC, documents(), GRADES) == people
    version = assessor.version(GRADES)
    assert version.startswith(f"model:{one_label.name} ")
    assert version.endswith(",inf")


def test_it_says_how_well_scores_tell_grades_apart(judge, one_label, notices):
    values = scores(one_label)
    by_score = [int(score > sorted(values)[10]) for score in values]
    judge().fit([(TOPIC, documents(), by_score)], {0: "no", 1: "yes"})
    assert notices == [
        f"thresholds fitted on {len(values)} documents, with a kappa of 1.00 (at least 1)"
    ]
    against = [int(score <= sorted(values)[1]) for score in values]
    judge().fit([(TOPIC, documents(), against)], {0: "no", 1: "yes"})
    assert "take another model" in notices[1]


def test_without_thresholds_it_says_what_to_do(judge):
    with pytest.raises(InputError, match="fit it on judged documents"):
        judge().judge(TOPIC, documents(), GRADES)


def test_without_a_model_it_says_what_to_do():
    registration = shipped_judges()["cross-encoder"]
    with pytest.raises(InputError, match="'cross-encoder' needs a model"):
        registration.make(registration.options({})).reads()
