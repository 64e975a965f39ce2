"""A field that a query plan names is a field of the topics; the default plan's need not be."""

import pytest

from irplatform.errors import InputError
from irplatform.expansion.plan import QueryPlan
from irplatform.experiment.systems import choose_systems
from irplatform.plugin import Topic
from irplatform.registry.loading import registry

TOPICS = [
    Topic("1", "melanoma", {"disease": "melanoma", "gene": ""}),
    Topic("2", "lung cancer", {"disease": "lung cancer", "demographic": "male"}),
]


def _plan(**settings):
    options = {f"bm25.plan.{name}": value for name, value in settings.items()}
    return choose_systems(registry(), ["bm25"], [], options)[0][0].options.plan


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"disease": {"field": "diseas"}}, "'diseas' is not a field of the topics. Did"),
        ({"disease": {"field": "diseas"}}, "It is named by plan.disease.field."),
        ({"gene": {"field": "gene"}}, "'gene' is not a field of the topics"),
        ({"treatment": {"field": "drug"}}, "It is named by plan.treatment.field"),
        ({"other": {"demograhpic": 0.5}}, "Did you mean 'demographic'"),
        (
            {"folds": [{"topics": ["a"], "weights": {"other": {"treatmnt": 1}}}]},
            r"It is named by plan\.folds\.0\.weights\.other\.treatmnt",
        ),
        (
            {"folds": [{"topics": ["a"], "weights": {"gene": {"field": "gen"}}}]},
            r"It is named by plan\.folds\.0\.weights\.gene\.field",
        ),
    ],
)
def test_a_field_that_no_topic_has_is_refused(plan, message):
    with pytest.raises(InputError, match=message):
        QueryPlan.model_validate(plan).check_fields(TOPICS)


def test_a_field_of_some_topics_may_be_named():
    QueryPlan.model_validate({"other": {"demographic": 0.5}}).check_fields(TOPICS)


def test_fields_of_the_default_may_be_missing():
    QueryPlan().check_fields([Topic("1", "some words")])
    _plan(**{"gene.weight": 2.0, "context.tie": 0.1}).check_fields([Topic("1", "some words")])


def test_a_setting_names_its_field_and_no_other():
    _plan(**{"disease.field": "demographic"}).check_fields(TOPICS)
    with pytest.raises(InputError, match=r"plan\.gene\.field"):
        _plan(**{"gene.field": "gene", "disease.weight": 2.0}).check_fields(TOPICS)
