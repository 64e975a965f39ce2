"""Fitting: members never validate on what they learned from."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from memory import Memory, Resources, choose, ranked_examples, twenty_topics

from irplatform.errors import InputError
from irplatform.plugin import Topic, Traits
from irplatform.registry.loading import registry
from irplatform.reranking.fitting import fit_system
from irplatform.reranking.systems import MEMBERS, ChosenReranker
from irplatform.reranking.training import Member, learn_side_by_side
from irplatform.reranking.training_set import Split, TrainingSet
from irplatform.system.progress import Stopwatch

pytestmark = pytest.mark.usefixtures("fresh_home", "nothing_fitted")


def _without_relevant(examples):
    """The same topics, where all that was judged is not relevant."""
    return [
        replace(e, labelled=replace(e.labelled, judgments={e.first.doc_ids[0]: 0}))
        for e in examples
    ]


def _of_articles(examples):
    """The same topics as sentences of seven citing articles."""
    return [
        replace(
            e,
            labelled=replace(
                e.labelled, topic=replace(e.topic, fields={"citing_id": f"article {number % 7}"})
            ),
        )
        for number, e in enumerate(examples)
    ]


def test_a_system_is_trained_on_folds_and_each_topic_validates_once():
    system = fit_system(choose(Memory), twenty_topics(), Resources())
    assert len(system.members) == len(Memory.fitted) == MEMBERS
    for training, validation in Memory.fitted:
        assert not set(training) & set(validation)
    assert sorted(t for _, part in Memory.fitted for t in part) == sorted(
        f"t{n}" for n in range(20)
    )


def test_a_single_member_validates_on_a_fold():
    choice = replace(choose(Memory), members=1)
    system = fit_system(choice, twenty_topics(), Resources())
    assert len(system.members) == 1
    assert [(len(training), len(apart)) for training, apart in Memory.fitted] == [(16, 4)]


@pytest.mark.parametrize(
    ("members", "topics", "sentence"),
    [
        (1, 20, "1 member on 16 topics and validated on 4"),
        (2, 2, "2 members, each on 1 topic and validated on 1"),
    ],
)
def test_how_many_learn_from_how_many_is_told(members, topics, sentence, capsys):
    choice = replace(choose(Memory), members=members)
    fit_system(choice, TrainingSet("train", ranked_examples(range(topics))), Resources())
    assert capsys.readouterr().err == f"training memory on train: {sentence}\n"


def test_a_reranker_is_told_which_topics_are_held_out_and_no_others_that_it_will_score():
    unseen = []

    class Curious(Memory):
        def fit(self, data):
            unseen.append(data.unseen)
            super().fit(data)

    learned = twenty_topics()
    fit_system(choose(Curious), learned, Resources())
    assert unseen == [()] * MEMBERS
    unseen.clear()
    held_out = tuple(example.topic for example in ranked_examples(range(20, 25)))
    fit_system(choose(Curious), replace(learned, held_out=held_out), Resources())
    assert unseen == [held_out] * MEMBERS


@pytest.mark.parametrize(
    ("device", "learns_there", "side_by_side"),
    [("cpu", True, True), ("cuda", True, False), ("cuda", False, True)],
)
def test_members_share_a_gpu_one_after_another(monkeypatch, device, learns_there, side_by_side):
    """A GPU may hold one model only; what does not learn there need not wait."""
    registered = registry().reranker("drmm")
    monkeypatch.setattr(
        registered.system, "traits", lambda _self: Traits(learns_on_device=learns_there)
    )
    choice = ChosenReranker(registered, registered.options({}))
    resources = SimpleNamespace(device=device, unopened=lambda: None)
    assert learn_side_by_side(choice, resources) == side_by_side


def test_a_validation_set_apart_validates_every_member():
    training_set = TrainingSet("train", ranked_examples(range(20)), ranked_examples(range(20, 25)))
    system = fit_system(choose(Memory), training_set, Resources())
    assert len(system.members) == MEMBERS
    apart = ([f"t{n}" for n in range(20)], [f"t{n}" for n in range(20, 25)])
    assert Memory.fitted == [apart] * MEMBERS
    assert system.description["interpolation"]["topics"] == 5


def test_what_the_other_members_use_as_well_is_no_time_of_the_first(tmp_path, monkeypatch):
    now = 0

    def clock():
        return now

    class WaitsForVectors(Memory):
        """Is the first that needs word vectors."""

        def fit(self, data):
            nonlocal now
            with resources.stopwatch.timed("vectors"):
                now += 60
            now += 5
            super().fit(data)

    monkeypatch.setattr("irplatform.reranking.training.time", SimpleNamespace(monotonic=clock))
    resources = Resources().of_member(0)
    resources.stopwatch = Stopwatch(clock=clock)
    split = Split(ranked_examples([1, 2]), ranked_examples([3]))
    assert Member(choose(WaitsForVectors), split, resources, 0, tmp_path, None).train() == 5


def test_topics_that_all_ask_the_same_leave_none_to_validate_on():
    same = [
        replace(e, labelled=replace(e.labelled, topic=Topic(e.topic.id, "the same")))
        for e in ranked_examples(range(9))
    ]
    message = "topics of 'train' with a relevant document all ask for the same or are of one source"
    with pytest.raises(InputError, match=message):
        fit_system(choose(Memory), TrainingSet("train", same), Resources())
    fit_system(choose(Memory), TrainingSet("train", same, ranked_examples(range(5))), Resources())


def test_sentences_of_one_article_validate_no_model_that_learned_from_others_of_it():
    examples = _of_articles(ranked_examples(range(20)))
    fit_system(choose(Memory), TrainingSet("train", examples), Resources())
    article_of = {e.topic.id: e.topic.fields["citing_id"] for e in examples}
    assert len(Memory.fitted) == MEMBERS
    for training, validation in Memory.fitted:
        assert not {article_of[t] for t in training} & {article_of[t] for t in validation}


def test_of_a_single_topic_it_is_not_said_that_all_ask_the_same():
    message = (
        "'train' has only one topic with a relevant document, so that none is left to validate "
    )
    with pytest.raises(InputError, match=message):
        fit_system(choose(Memory), TrainingSet("train", ranked_examples(range(1))), Resources())


def test_without_a_relevant_document_there_is_nothing_to_learn():
    nothing = [
        replace(e, labelled=replace(e.labelled, judgments={})) for e in ranked_examples(range(9))
    ]
    with pytest.raises(InputError, match="'train' has no relevant document to train 'memory'"):
        fit_system(choose(Memory), TrainingSet("train", nothing), Resources())


def test_topics_without_a_relevant_document_validate_no_member_alone(capsys):
    """Those that have some are dealt out evenly, and only they are counted."""
    mixed = [*_without_relevant(ranked_examples(range(15))), *ranked_examples(range(15, 20))]
    system = fit_system(choose(Memory), TrainingSet("train", mixed), Resources())
    useful = {f"t{n}" for n in range(15, 20)}
    assert [len(useful & set(validation)) for _, validation in Memory.fitted] == [1] * MEMBERS
    assert system.description["interpolation"]["topics"] == 5
    assert "each on 16 topics and validated on 1\n" in capsys.readouterr().err


def test_a_single_topic_with_a_relevant_document_cannot_both_teach_and_validate():
    few = [*_without_relevant(ranked_examples(range(9))), *ranked_examples([9])]
    with pytest.raises(InputError, match="'train' has only one topic with a relevant document"):
        fit_system(choose(Memory), TrainingSet("train", few), Resources())
    fit_system(choose(Memory), TrainingSet("train", few, ranked_examples([10])), Resources())


def test_members_that_are_validated_on_topics_that_nothing_relevant_was_found_for_are_told_of(
    capsys,
):
    def unfound(e):
        ids = e.labelled.candidates[:-1]  # the relevant document is the last one
        return replace(e, labelled=replace(e.labelled, candidates=ids))

    training_set = TrainingSet(
        "train", ranked_examples(range(20)), [unfound(*ranked_examples([20]))]
    )
    fit_system(choose(Memory), training_set, Resources())
    warning = (
        "WARNING: memory on train: 5 of 5 members are validated on topics without any relevant "
    )
    assert warning in capsys.readouterr().err
    fit_system(choose(Memory), training_set, Resources())
    assert warning in capsys.readouterr().err, "also of one that was trained before"
    fit_system(choose(Memory), twenty_topics(), Resources())
    assert "WARNING" not in capsys.readouterr().err
