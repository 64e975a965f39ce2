"""Topics that a plan was chosen on are searched with weights that were chosen without them."""

import pytest

from irplatform.errors import InputError
from irplatform.expansion.plan import QueryPlan, folds_of, read_plan, topic_mark, weights_for
from irplatform.plugin import Topic
from irplatform.tuning.tune import _one_plan

PLAN = {
    "gene": {"weight": 2.0},
    "folds": [
        {"topics": ["melanoma | braf (v600e)"], "weights": {"gene": {"weight": 3.0}}},
        {"topics": ["lung cancer | egfr"], "weights": {"gene": {"weight": 4.0}}},
    ],
}


def _topic(disease="Melanoma", gene="BRAF  (V600E)"):
    return Topic("1", f"{disease} {gene}", {"disease": disease, "gene": gene})


def test_each_topic_of_a_fold_has_the_weights_that_did_not_see_it():
    plan = QueryPlan.model_validate(PLAN)
    assert weights_for(_topic(), plan).gene.weight == 3
    assert weights_for(_topic("lung cancer", "EGFR"), plan).gene.weight == 4


def test_other_topics_have_the_plan():
    plan = QueryPlan.model_validate(PLAN)
    assert weights_for(_topic("colon cancer", "KRAS"), plan) is plan
    assert weights_for(Topic("2", "some words"), plan) is plan


def test_it_can_be_switched_off():
    plan = QueryPlan.model_validate({**PLAN, "held_out": False})
    assert weights_for(_topic(), plan) is plan
    assert folds_of(plan) == ()


def test_the_default_has_folds_of_fifty_topics_each_once():
    marks = [mark for fold in folds_of(QueryPlan()) for mark in fold.topics]
    assert len(marks) == len(set(marks)) == 50
    topic = _topic()
    assert topic_mark(topic, QueryPlan()) in marks
    assert weights_for(topic, QueryPlan()) != QueryPlan()


@pytest.mark.parametrize("changed", [{"gene": {"weight": 2.0}}, {"held_out": False}])
def test_a_plan_with_other_weights_has_not_the_folds_of_the_default(changed):
    plan = QueryPlan.model_validate(changed)
    assert folds_of(plan) == ()
    assert list(plan.dependencies()) == ["queries"]


def test_what_a_run_depends_on_names_the_folds_of_the_default():
    assert list(QueryPlan().dependencies()) == ["queries", "folds"]
    in_options = QueryPlan.model_validate(PLAN).dependencies()
    assert list(in_options) == ["queries"]


def test_the_folds_of_a_file_are_read_and_checked(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('[[folds]]\ntopics = ["a | b"]\n[folds.weights.gene]\nweight = 0.5\n')
    assert QueryPlan.model_validate(read_plan(path)).folds[0].weights.gene.weight == 0.5
    path.write_text('[[folds]]\ntopics = ["a | b"]\n[folds.weights.gene]\nweigth = 0.5\n')
    with pytest.raises(InputError, match="weigth"):
        read_plan(path)


@pytest.mark.parametrize(
    ("over", "switched"),
    [
        (["bm25.plan.gene.weight=0.5:3"], {"bm25.plan.held_out": False}),
        (["k1"], {}),
        (["rm3.fb_docs"], {}),
    ],
)
def test_while_weights_are_searched_for_no_topic_has_others(over, switched):
    assert _one_plan(["bm25", "rm3"], over) == switched


def _told(**changed):
    topics = [_topic(), _topic("colon cancer", "no gene"), Topic("3", "some words")]
    return QueryPlan.model_validate(changed).chosen_on(topics)


def test_topics_that_the_plan_was_chosen_on_are_counted():
    notice = _told()
    assert (notice.topics, notice.of, notice.held_out) == (1, 3, True)
    assert str(notice).startswith("the query plan was chosen on 1 of these 3 topics: each of them")
    assert _told(**PLAN).held_out
    assert QueryPlan().chosen_on([Topic("3", "some words")]) is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"held_out": False}, "plan.held_out is false"),
        ({**PLAN, "held_out": False}, "plan.held_out is false"),
        ({"gene": {"weight": 2.0}}, "and plan.gene.weight differs"),
        ({"other": {"demographic": 0.5}}, "and plan.other differs"),
        ({"gene": {"weight": 2.0}, "required": ["gene"]}, "weight (and 1 more) differ"),
    ],
)
def test_topics_that_weights_have_seen_are_warned_of(changed, reason):
    notice = _told(**changed)
    assert not notice.held_out
    assert str(notice).startswith("WARNING: the query plan was chosen on 1 of these 3 topics")
    assert reason in str(notice)
    assert notice.as_json() == {"topics": 1, "held_out": False}


def test_folds_of_a_plan_take_the_place_of_the_defaults():
    fold = {"topics": ["lung cancer | egfr"], "weights": {}}
    assert _told(gene={"weight": 2.0}, folds=[fold]) is None
