"""The weight of the first stage is chosen on topics that were not learned from."""

from dataclasses import replace

import pytest
from memory import Memory, Resources, choose, ranked_examples, twenty_topics

from irplatform.plugin import Reranker, Traits
from irplatform.reranking.fitting import fit_system
from irplatform.reranking.training_set import TrainingSet

pytestmark = pytest.mark.usefixtures("fresh_home", "nothing_fitted")


class Oracle(Reranker):
    """Ranks by the last letter, a first."""

    def score(self, topic, documents):
        return [-float(ord(d[-1])) for d in documents.ids]


def test_the_weight_is_chosen_out_of_sample():
    """A reranker that only remembers is no use on topics that it did not learn from."""
    system = fit_system(choose(Memory), twenty_topics(), Resources())
    assert system.weight == 1
    assert system.description["interpolation"]["topics"] == 20
    assert set(system.description["interpolation"]["nDCG@20"]) >= {"0.0", "1.0"}


def test_the_weight_is_chosen_on_what_scores_become_among_all_candidates(monkeypatch):
    monkeypatch.setattr(
        Memory,
        "rescore",
        lambda _self, _topic, documents, scores: [-float(ord(d[-1])) for d in documents.ids],
    )
    system = fit_system(choose(Memory), twenty_topics(), Resources())
    assert system.weight < 0.5, "where what it remembers is worth nothing"


def test_who_holds_the_first_stage_stands_alone_where_it_is_no_worse(monkeypatch):
    training_set = twenty_topics()
    fit_system(choose(Memory), training_set, Resources())
    monkeypatch.setattr(Memory, "traits", lambda _self: Traits(weighs_first_stage=True))
    assert fit_system(choose(Memory), training_set, Resources()).weight == 0, "trained anew"


def test_the_weight_is_chosen_on_the_mean_of_members_that_validate_on_the_same_topics():
    """The first member alone would leave the first stage as it is."""

    class FirstIsWrong(Memory):
        def prepare(self, resources):
            self.sign = 1 if resources.seed == 1 else -1

        def score(self, topic, documents):
            return [float(self.sign * ord(d[-1])) for d in documents.ids]

    training_set = TrainingSet("train", ranked_examples(range(20)), ranked_examples(range(20, 32)))
    assert fit_system(choose(FirstIsWrong), training_set, Resources()).weight < 0.5


def test_a_reranker_that_does_not_learn_gets_its_weight_from_the_training_topics():
    system = fit_system(choose(Oracle), twenty_topics(), Resources())
    assert len(system.members) == 1
    assert system.weight < 0.5


def test_or_from_validation_topics_where_there_are_some_apart():
    """Of these the relevant document is the one that the first stage has first."""
    validation = [
        replace(e, labelled=replace(e.labelled, judgments={e.first.doc_ids[0]: 1}))
        for e in ranked_examples(range(20, 30))
    ]
    training_set = TrainingSet("train", ranked_examples(range(20)), validation)
    assert fit_system(choose(Oracle), training_set, Resources()).weight == 1
