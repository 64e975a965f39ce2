"""What learned features may have seen of the topics that they are computed for."""

from dataclasses import replace

import pytest
from ltr_groups import (
    Judgments,
    Learning,
    fitted,
    prepared,
    resources_in,
    topics_of,
    training_data,
)

from irplatform.errors import InputError
from irplatform.plugin import Reads, TrainingData
from irplatform_ltr import ensemble


@pytest.fixture
def resources(tmp_path, monkeypatch):
    return resources_in(tmp_path, monkeypatch)


def _seen(resources, tmp_path, monkeypatch, group, shared=(), data=None, **options):
    """The training table's features of a group."""
    tables = []
    original = ensemble.Ensemble.fit
    monkeypatch.setattr(
        ensemble.Ensemble, "fit",
        lambda self, table, seed: (tables.append(table), original(self, table, seed)),
    )  # fmt: skip
    reranker = prepared(resources, features=("fixed", group), folds=4, **options)
    reranker.fit(data or training_data(tmp_path / "work", shared=shared))
    return tables[0].features[:, 2:], reranker


def test_no_training_topic_is_known_to_its_features(resources, tmp_path, monkeypatch):
    table, reranker = _seen(resources, tmp_path, monkeypatch, "judgments")
    assert not table[:, 0].any()
    # Of 25 topics in four folds, two are apart: its own, and one to stop early on.
    assert set(table[:, 2]) == {12, 13}
    unseen = topics_of([30])[0]
    values = reranker.features([(unseen.topic, resources.documents(unseen.candidates))])[0]
    assert set(values[:, 4]) == {18}  # topics that are not ours: learned from all but one fold


def test_nor_is_a_validation_topic(resources, tmp_path, monkeypatch):
    _, reranker = _seen(resources, tmp_path, monkeypatch, "judgments")
    batch = [(t.topic, resources.documents(t.candidates)) for t in topics_of([3, 30, 21, 4])]
    tables = reranker.features(batch)
    assert not any(values[:, 2].any() for values in tables)
    assert [set(values[:, 4]) == {18} for values in tables] == [False, True, False, False]


def test_members_share_what_is_learned(resources, tmp_path, monkeypatch):
    def kept():
        return {path.name for path in (tmp_path / "artifacts").glob("learned-features-*")}

    _seen(resources, tmp_path / "a", monkeypatch, "judgments", data=training_data(tmp_path / "a"))
    first = kept()
    assert len(first) == 5  # four folds and all topics
    other = TrainingData(topics_of(range(5, 25)), topics_of(range(5)), tmp_path / "b")
    _seen(resources, tmp_path / "b", monkeypatch, "judgments", data=other)
    assert kept() == first


def test_nor_are_judgments_of_its_documents_in_other_topics(resources, tmp_path, monkeypatch):
    shared = ["t39d1", "t39d2"]  # judged by every training topic
    table, _ = _seen(resources, tmp_path, monkeypatch, "judgments", shared)
    assert not table[:, 1].any()


def test_unless_the_group_means_to_remember_documents(resources, tmp_path, monkeypatch):
    shared = ["t39d1", "t39d2"]
    table, _ = _seen(resources, tmp_path, monkeypatch, "remembered", shared)
    assert table[:, 1].sum() == 20 * len(shared)
    assert not table[:, 0].any()


def test_or_what_saw_them_judged_is_kept_apart(resources, tmp_path, monkeypatch):
    shared = ["t39d1", "t39d2"]
    table, reranker = _seen(
        resources, tmp_path, monkeypatch, "judgments", shared, hide_judged=False
    )
    blind, seeing = table[:, :3], table[:, 3:]
    assert not blind[:, 1].any()
    assert seeing[:, 1].sum() == 20 * len(shared)
    assert not table[:, [0, 3]].any()
    assert reranker.feature_names[-6::3] == [
        "judgments.topic_known",
        "judgments-seeing.topic_known",
    ]


def test_topics_that_judge_the_same_documents_leave_nothing_to_learn_from(
    resources, tmp_path, monkeypatch
):
    """Who learns sees only that nothing is there; the user gave it judgments."""

    def refuse(self, data):
        raise InputError("no training topic has two candidates of different relevance.")

    monkeypatch.setattr(Judgments, "fit", refuse)
    data = training_data(tmp_path / "work")
    first = data.training[0]
    same, also_same = (
        [replace(t, candidates=first.candidates, judgments=first.judgments) for t in topics]
        for topics in (data.training, data.validation)
    )
    reranker = prepared(resources, features=("fixed", "judgments"))
    with pytest.raises(InputError, match="no training topic has two"):
        reranker.fit(data)
    with pytest.raises(InputError, match="'judgments' have nothing relevant to learn from"):
        reranker.fit(replace(data, training=same, validation=also_same))


def test_learners_that_only_read_do_not_read_what_saw_them_judged(resources, tmp_path, monkeypatch):
    widths = []
    fit = ensemble.Ensemble.fit
    monkeypatch.setattr(
        ensemble.Ensemble, "fit",
        lambda self, t, seed: (widths.append(t.features.shape[1]), fit(self, t, seed)),
    )  # fmt: skip
    _seen(resources, tmp_path, monkeypatch, "judgments", hide_judged=False)
    assert sorted(set(widths)) == [2 + 3, 2 + 6]


def test_both_variants_are_kept(resources, tmp_path, monkeypatch):
    _, reranker = _seen(resources, tmp_path, monkeypatch, "judgments", ["t39d1"], hide_judged=False)
    (tmp_path / "kept").mkdir()
    reranker.save(tmp_path / "kept")
    read = prepared(resources, features=("fixed", "judgments"), folds=4, hide_judged=False)
    read.load(tmp_path / "kept")
    assert read.feature_names == reranker.feature_names
    unseen = topics_of([30])[0]
    pair = unseen.topic, resources.documents(unseen.candidates)
    assert read.score(*pair) == reranker.score(*pair)


def test_who_learns_for_a_fold_is_told_which_topics_it_will_score(resources, tmp_path, monkeypatch):
    """So that nothing of theirs is learned from a file of pairs, either."""
    learned = []
    fit = Judgments.fit
    monkeypatch.setattr(Judgments, "fit", lambda self, d: (learned.append(d), fit(self, d)))
    _seen(resources, tmp_path, monkeypatch, "judgments")
    ids = [
        [{t.topic.id for t in (*d.training, *d.validation)}, {t.id for t in d.unseen}]
        for d in learned
    ]
    everything = {f"t{n}" for n in range(25)}
    assert [learned | unseen for learned, unseen in ids] == [everything] * 5
    assert not any(learned & unseen for learned, unseen in ids)
    assert [len(unseen) for _, unseen in ids] == [7, 6, 6, 6, 0]


def test_what_an_outer_fold_will_score_is_told_on(resources, tmp_path, monkeypatch):
    """Where the reranker is itself stacked in another, whose fold its own parts must not learn."""
    calls = []
    fit = Judgments.fit
    monkeypatch.setattr(Judgments, "fit", lambda self, d: (calls.append(d.unseen), fit(self, d)))
    outer = topics_of([30])[0].topic
    data = replace(training_data(tmp_path / "work"), unseen=[outer])
    _seen(resources, tmp_path, monkeypatch, "judgments", data=data)
    assert [outer in unseen for unseen in calls] == [True] * 5


def test_groups_are_asked_about_the_topics_that_validate_too(resources, tmp_path, monkeypatch):
    counts = []
    monkeypatch.setattr(Judgments, "lacks", lambda self, t: counts.append(len(t)) or "")
    _seen(resources, tmp_path, monkeypatch, "judgments")
    assert counts == [25]


def test_topics_of_one_article_stay_together(resources, tmp_path, monkeypatch):
    data = training_data(tmp_path / "work")
    cited = [
        replace(topic, topic=replace(topic.topic, fields={"citing_id": f"article {number // 10}"}))
        for number, topic in enumerate(data.training)
    ]
    data = replace(data, training=cited)
    table, _ = _seen(resources, tmp_path, monkeypatch, "judgments", data=data)
    assert set(table[:, 2]) == {3, 12}  # ten sentences of the other article, or none of them


def test_stacked_rerankers_are_trained_out_of_fold_and_take_settings(resources, tmp_path):
    settings = {"stack": {"settings": {"learning": {"rate": 100.0}}}}
    reranker = fitted(
        resources, tmp_path, features=("fixed",), stack=("learning",), settings=settings
    )
    assert reranker.feature_names[-1] == "stack.learning"
    unseen = topics_of([30])[0]
    values = reranker.features([(unseen.topic, resources.documents(unseen.candidates))])[0]
    assert values[:, -1].tolist() == [2000.0 + d for d in range(12)]


def test_stacked_rerankers_learn_anew_with_other_threads_of_torch(resources, tmp_path, monkeypatch):
    """Sums are then rounded otherwise."""
    trained = []
    monkeypatch.setattr(
        Learning, "fit", lambda self, data: (trained.append(1), setattr(self, "known", 7))
    )
    for resources.model_threads in (1, 2, 1):
        reranker = prepared(resources, features=("fixed",), stack=("learning",))
        reranker.fit(training_data(tmp_path / "work"))
    assert len(trained) == 2 * 6  # five folds and the whole


def test_stacked_rerankers_learn_anew_where_what_they_depend_on_changed(
    resources, tmp_path, monkeypatch
):
    """A knowledge base that was replaced, say."""

    def learned():
        reranker = prepared(resources, features=("fixed",), stack=("learning",))
        reranker.fit(training_data(tmp_path / "work"))
        unseen = topics_of([30])[0]
        batch = [(unseen.topic, resources.documents(unseen.candidates))]
        return reranker.features(batch)[0][:, -1].tolist()

    before = learned()
    monkeypatch.setattr(Learning, "reads", lambda self: Reads(more={"knowledge": "new"}))
    monkeypatch.setattr(Learning, "fit", lambda self, data: setattr(self, "known", 7))
    assert before == [20.0 + d for d in range(12)]
    assert learned() == [7.0 + d for d in range(12)]
