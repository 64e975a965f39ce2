"""Learning to rank as the harness sees it: groups, saving, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from ltr_groups import Fixed, Judgments, fitted, prepared, resources_in, topics_of, training_data
from small import chosen

from irplatform.errors import InputError, PluginError
from irplatform.plugin import FeatureGroup
from irplatform_ltr.options import LtrOptions
from irplatform_ltr.reranker import LearningToRank


@pytest.fixture
def resources(tmp_path, monkeypatch):
    return resources_in(tmp_path, monkeypatch)


def _score(reranker, resources, topic):
    return reranker.score(topic.topic, resources.documents(topic.candidates))


@pytest.mark.parametrize("learner", ["trees", "linear", "average"])
def test_it_learns_from_lexical_features(resources, tmp_path, learner):
    reranker = fitted(resources, tmp_path, features=("lexical",), learner=learner)
    unseen = topics_of(range(25, 40))
    firsts = [int(np.argmax(_score(reranker, resources, topic))) for topic in unseen]
    assert np.mean(np.array(firsts) < 3) >= 0.95


def test_scores_do_not_depend_on_number_or_order_of_documents(resources, tmp_path):
    reranker = fitted(resources, tmp_path, features=("lexical", "fixed"))
    first, second = topics_of([30, 31])
    scores = _score(reranker, resources, first)
    ids = first.candidates
    turned = reranker.score(first.topic, resources.documents(ids[::-1]))
    assert turned[::-1] == scores
    assert reranker.score(first.topic, resources.documents(ids[4:6])) == scores[4:6]
    batch = [(t.topic, resources.documents(t.candidates)) for t in (second, first)]
    assert reranker.score_batch(batch)[1] == scores
    assert reranker.score(first.topic, resources.documents([])) == []


def test_a_group_is_asked_once_and_never_about_nothing(resources, tmp_path, monkeypatch):
    reranker = fitted(resources, tmp_path, features=("fixed",))
    batches = []

    def compute_batch(self, batch):
        batches.append(len(batch))
        return FeatureGroup.compute_batch(self, batch)

    monkeypatch.setattr(Fixed, "compute_batch", compute_batch)
    topic = topics_of([30])[0]
    first = _score(reranker, resources, topic)
    assert _score(reranker, resources, topic) == first
    assert batches == [1]


def test_what_was_saved_scores_alike(resources, tmp_path):
    options = {"features": ("lexical", "judgments"), "stack": ("learning", "length")}
    reranker = fitted(resources, tmp_path, **options)
    folder = tmp_path / "saved"
    folder.mkdir()
    reranker.save(folder)
    again = prepared(resources, **options)
    again.load(folder)
    for topic in topics_of([30, 31]):
        assert _score(again, resources, topic) == _score(reranker, resources, topic)


def test_training_again_gives_the_same_bytes(resources, tmp_path):
    saved = []
    for name in ("a", "b"):
        reranker = fitted(resources, tmp_path, features=("fixed", "lexical"), stack=("learning",))
        (tmp_path / name).mkdir()
        reranker.save(tmp_path / name)
        files = sorted(p for p in (tmp_path / name).rglob("*") if p.is_file())
        saved.append([(p.relative_to(tmp_path / name), p.read_bytes()) for p in files])
    assert saved[0] == saved[1]


def test_validation_topics_with_the_ids_of_training_topics_change_nothing(resources, tmp_path):
    saved = []
    for name, first in (("others", 20), ("same", 0)):
        data = training_data(tmp_path / "work")
        validation = [
            replace(topic, topic=replace(topic.topic, id=f"t{first + number}"))
            for number, topic in enumerate(data.validation)
        ]
        reranker = prepared(resources, features=("lexical",), learner="linear")
        reranker.fit(replace(data, validation=validation))
        (tmp_path / name).mkdir()
        reranker.save(tmp_path / name)
        saved.append((tmp_path / name / "linear.json").read_bytes())
    assert saved[0] == saved[1]


def test_a_group_that_does_not_apply_is_left_out_and_said(resources, tmp_path):
    reranker = fitted(resources, tmp_path, features=("fixed", "needs-year"))
    assert reranker.feature_names == ["fixed.inside", "fixed.noise"]
    assert resources.told == ["features 'needs-year' are left out: the topics have no year."]
    with pytest.raises(InputError, match="no group of features applies"):
        fitted(resources, tmp_path, features=("needs-year",))


def test_a_number_that_is_not_finite_names_its_feature(resources, tmp_path):
    message = r"feature group 'broken' of plugin 'strange' .*: feature 'noise' of topic t0"
    with pytest.raises(PluginError, match=message):
        fitted(resources, tmp_path, features=("broken",))


def _failing(self, topic, documents):
    return 1 / 0


def test_what_fails_in_a_group_that_learned_names_its_plugin_and_the_line(
    resources, tmp_path, monkeypatch
):
    monkeypatch.setattr(Judgments, "compute", _failing)
    message = (
        r"^feature group 'judgments' of plugin 'strange' .*ZeroDivisionError.*test_ltr_reranker"
    )
    with pytest.raises(PluginError, match=message):
        fitted(resources, tmp_path, features=("judgments",))


def test_settings_of_a_group_that_is_not_used_are_refused(resources, tmp_path):
    with pytest.raises(InputError, match=r"settings.lexical has no effect"):
        fitted(resources, tmp_path, features=("fixed",), settings={"lexical": {"features": []}})


def test_a_model_of_other_features_is_refused(resources, tmp_path):
    reranker = fitted(resources, tmp_path, features=("fixed",))
    (tmp_path / "saved").mkdir()
    reranker.save(tmp_path / "saved")
    path = tmp_path / "saved" / "ltr.json"
    path.write_text(path.read_text().replace("fixed.inside", "fixed.outside"))
    with pytest.raises(InputError, match="other features of group"):
        prepared(resources, features=("fixed",)).load(tmp_path / "saved")


def test_members_and_repeated_runs_compute_training_features_once(resources, tmp_path):
    Fixed.calls = 0
    fitted(resources, tmp_path, features=("fixed",))
    once = Fixed.calls
    fitted(resources, tmp_path, features=("fixed",), learner="linear")
    assert Fixed.calls == once == 25  # of training and validation topics


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ()}, "'features' names no group"),
        ({"features": ("lexical", "lexical")}, "'lexical' is named twice"),
        ({"settings": {"fields": {"k1": -1}}}, "'k1'"),
    ],
)
def test_wrong_groups_are_refused_before_any_work(options, message):
    with pytest.raises(InputError, match=message):
        chosen("ltr", **options).describe_reads()


def test_it_stands_alone_where_it_reads_a_first_stage():
    assert LearningToRank(LtrOptions()).traits().weighs_first_stage
    assert (
        not LearningToRank(LtrOptions(features=("lexical", "concepts"))).traits().weighs_first_stage
    )


def test_a_gpu_is_used_in_learning_by_rerankers_in_the_stack_alone():
    assert not LearningToRank(LtrOptions()).traits().learns_on_device
    assert LearningToRank(LtrOptions(stack=("delta",))).traits().learns_on_device
