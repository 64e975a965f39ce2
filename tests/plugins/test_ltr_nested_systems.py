"""Features of retrievers and checkpoints: what they are kept by, in memory and on disk."""

from types import SimpleNamespace

import numpy as np
import pytest
from feature_resources import FeatureResources, feature_resources
from small import registration

from irplatform.features.calculator import Calculator
from irplatform.features.groups import Group, open_groups
from irplatform.plugin import Reads, Retriever, Topic, Traits
from irplatform.registry.loading import registry
from irplatform.runs import Ranking, Run
from irplatform_ltr.groups.first_stage import FirstStage
from irplatform_ltr.groups.stacking import CheckpointOptions, Checkpoints

TOPIC = Topic("1", "melanoma")


class Drawn(Retriever):
    """A retriever whose scores show the seed."""

    declared = Traits()

    def traits(self):
        return self.declared

    def retrieve(self, topics, depth, resources):
        return Run("drawn", {t.id: Ranking.of(["a"], [float(resources.seed)]) for t in topics})


@pytest.fixture
def of_seed(tmp_path, monkeypatch):
    """Resources of some seed, which share the forward index and the cache."""
    monkeypatch.setitem(registry().retrievers, "drawn", registration(Drawn, "drawn"))
    monkeypatch.setattr(FeatureResources, "retriever", lambda *_: Drawn(), raising=False)
    first = feature_resources(tmp_path, {"a": "x"}, {"x": np.ones(2)}, groups=GROUPS)

    def made(seed, **others):
        return FeatureResources(
            first.texts, first.index, first.word_vectors, seed=seed, folder=first.folder,
            groups=GROUPS, **others,
        )  # fmt: skip

    return made


GROUPS = {"first-stage": FirstStage}


def _opened(resources):
    return open_groups(["first-stage"], {"first-stage": {"retrievers": ["drawn"]}}, resources)[0]


def test_scores_of_a_retriever_that_draws_are_kept_for_each_seed(of_seed):
    values, remembered = [], []
    for seed in (7, 9):
        resources = of_seed(seed)
        group = _opened(resources)
        calculator = Calculator(resources)
        values.append(calculator.compute_all(group, [(TOPIC, ("a",))])[0][0, 0])
        remembered.append(calculator.compute(group, [(TOPIC, resources.documents(["a"]))])[0][0, 0])
    assert values == remembered == [7, 9]


def test_those_of_one_that_draws_nothing_are_shared(of_seed, monkeypatch):
    assert _opened(of_seed(7)).mark != _opened(of_seed(9)).mark
    monkeypatch.setattr(Drawn, "declared", Traits(seeded=False))
    assert _opened(of_seed(7)).mark == _opened(of_seed(9)).mark


@pytest.mark.parametrize("other", [{"device": "cuda"}, {"model_threads": 2}])
def test_the_device_and_its_threads_count_where_something_computes_on_it(
    of_seed, monkeypatch, other
):
    assert _opened(of_seed(7)).mark == _opened(of_seed(7, **other)).mark
    monkeypatch.setattr(Drawn, "declared", Traits(on_device=True))
    assert _opened(of_seed(7)).mark != _opened(of_seed(7, **other)).mark
    marks = set()
    for changed in ({}, other):
        group = Checkpoints(CheckpointOptions())
        settings = {"device": "cpu", "model_threads": 1, **changed}
        group.prepare(SimpleNamespace(**settings, checkpoint=lambda _folder: []))
        marks.add(Group(registry().feature_group("checkpoints"), {}, group).mark)
    assert len(marks) == 2


def test_what_a_retriever_depends_on_counts(of_seed, monkeypatch):
    before = _opened(of_seed(7)).mark
    monkeypatch.setattr(Drawn, "reads", lambda self: Reads(more={"knowledge": "new"}))
    assert _opened(of_seed(7)).mark != before
