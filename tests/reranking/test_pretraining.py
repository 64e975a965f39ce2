"""Members start from a model that was pre-trained on other topics."""

from dataclasses import replace

import pytest
from memory import Memory, Resources, choose, ranked_examples, twenty_topics

from irplatform.errors import InputError
from irplatform.reranking.fitting import fit_system
from irplatform.reranking.systems import MEMBERS
from irplatform.reranking.training_set import TrainingSet

pytestmark = pytest.mark.usefixtures("fresh_home", "nothing_fitted")


class Counting(Memory):
    """Says from what it started."""

    def fit(self, data):
        before = getattr(self, "known", set())
        super().fit(data)
        self.known |= before


def test_pretraining_is_told_by_the_name_of_who_asked_for_it(capsys):
    before = TrainingSet("before", ranked_examples(range(50, 60)), ranked_examples(range(60, 62)))
    choice = choose(Counting)
    fit_system(choice, twenty_topics(), Resources(), before)
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith(f"pre-training {choice.name} on before: 1 member on 10 topics")
    assert second.startswith(f"training {choice.name} on train: {MEMBERS} members")


def test_members_start_from_the_model_that_was_pretrained():
    before = TrainingSet("before", ranked_examples(range(50, 60)), ranked_examples(range(60, 62)))
    training_set = twenty_topics()
    system = fit_system(choose(Counting), training_set, Resources(), before)
    assert len(Counting.fitted) == 1 + MEMBERS, "one model is pre-trained, for all members"
    assert all(member.known >= {f"t{n}a" for n in range(50, 60)} for member in system.members)


def test_pretraining_without_validation_topics_keeps_some_apart():
    before = TrainingSet("before", ranked_examples(range(50, 60)))
    fit_system(choose(Counting), twenty_topics(), Resources(), before)
    training, validation = Counting.fitted[0]
    assert validation
    assert sorted(training + validation) == sorted(f"t{n}" for n in range(50, 60))


def test_pretraining_on_nothing_relevant_is_refused():
    nothing = [
        replace(e, labelled=replace(e.labelled, judgments={})) for e in ranked_examples(range(5))
    ]
    with pytest.raises(InputError, match="'before' has no relevant document"):
        fit_system(choose(Counting), twenty_topics(), Resources(), TrainingSet("before", nothing))


def test_pretrained_systems_are_kept_apart_from_others():
    training_set = twenty_topics()
    before = TrainingSet("before", ranked_examples(range(50, 60)))
    plain = fit_system(choose(Counting), training_set, Resources())
    pretrained = fit_system(choose(Counting), training_set, Resources(), before)
    assert pretrained.fingerprint != plain.fingerprint
    assert fit_system(choose(Counting), training_set, Resources()).fingerprint == plain.fingerprint
