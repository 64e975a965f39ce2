"""The same settings are the same systems, whatever is done with them."""

from dataclasses import replace

import pytest
from checkpoints import described

from irplatform import RunSettings, train
from irplatform.errors import InputError
from irplatform.experiment.plan import plan_run, plan_training
from irplatform.experiment.run import learning_plan
from irplatform.experiment.systems import resolve_systems
from irplatform.registry.loading import registry
from irplatform.retrieval.fusion import Fusion

pytestmark = pytest.mark.usefixtures("fresh_home")

DELTA = RunSettings(
    "demo-train", rerankers=("delta",), settings={"k1": 2.0, "delta.filters": 8}, members=2
)


def test_a_run_and_a_training_have_the_systems_that_their_settings_name():
    systems = resolve_systems(DELTA, registry())
    (retriever,), (reranker,) = systems.retrievers, systems.rerankers
    assert (retriever.options.k1, reranker.options.filters, reranker.members) == (2.0, 8, 2)
    for call in (plan_run, plan_training):
        plan = call(DELTA, registry())
        assert (plan.collection.id, plan.retrievers) == ("demo-train", [retriever])
        assert plan.rerankers == [reranker]


def test_a_training_learns_from_its_own_collection():
    plan = plan_training(DELTA, registry())
    assert plan.training is plan.collection
    assert plan.learning
    assert not plan.folds


def test_nothing_is_learned_where_nothing_learns_and_the_share_is_given(capsys):
    settings = RunSettings("demo", rerankers=("revdocid",))
    assert plan_run(settings, registry()).training is not None  # the share is chosen there
    fixed_share = replace(settings, interpolate=0.3)
    for collection in ("demo", "demo-train"):
        plan = plan_run(replace(fixed_share, collection=collection), registry())
        assert (plan.learning, plan.training, plan.folds) == ([], None, False)
    assert "cross-validating" not in capsys.readouterr().err
    with pytest.raises(InputError, match="train_on= has no effect: no reranker learns"):
        plan_run(replace(fixed_share, train_on=("demo-train",)), registry())
    assert plan_run(replace(fixed_share, rerankers=("revdocid", "delta")), registry()).learning


def test_a_number_of_training_topics_is_refused_where_it_has_no_effect_or_is_too_large():
    def planned(plan=plan_run, collection="demo", **options):
        settings = RunSettings(collection, **{"rerankers": "delta", "train_topics": 30, **options})
        return plan(settings, registry())

    assert planned().settings.train_topics == 30
    assert planned(rerankers=(), first_stages="bm25+rm3").fuses
    with pytest.raises(InputError, match="train_topics= has no effect: 'demo-train' has no separ"):
        planned(collection="demo-train")
    with pytest.raises(InputError, match="train_topics= has no effect: no reranker learns"):
        planned(rerankers="revdocid", interpolate=0.3)
    with pytest.raises(InputError, match="train_topics= has no effect without rerankers=NAME"):
        planned(rerankers=())
    with pytest.raises(InputError, match="train_topics= has no effect with checkpoint="):
        planned(checkpoint="folder")
    for plan, collection in ((plan_run, "demo"), (plan_training, "demo-train")):
        with pytest.raises(InputError, match="train_topics= is 41, and 'demo-train' has 40 topics"):
            planned(plan, collection, train_topics=41)


def _trained(folder, reranker, **facts):
    """A checkpoint of one member, whose weights nobody reads here."""
    (folder / "member-0").mkdir(parents=True)
    (folder / "member-0" / "weights").touch()
    return described(folder, reranker, **facts)


def test_beside_a_checkpoint_only_the_share_of_who_does_not_learn_is_learned(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("irplatform.system.console._told", set())  # it is told once a process
    folder = _trained(tmp_path / "ckpt", "delta", options={"filters": 8})
    settings = RunSettings("demo", rerankers=("bm25-text", "delta"), checkpoint=folder)
    plan = plan_run(settings, registry())
    assert [choice.name for choice in plan.learning] == ["bm25-text"]
    assert plan.training is not None
    assert plan_run(replace(settings, train_on=("demo-train",)), registry()).training is not None
    folded = plan_run(replace(settings, collection="demo-train"), registry())
    assert (folded.training, folded.folds) == (None, True)
    notice = capsys.readouterr().err
    assert "by a choice of the first stage's share that saw its judgments" in notice
    assert "train_on=COLLECTION or interpolate=W." in notice
    for options in ({"interpolate": 0.3}, {"rerankers": ("delta",)}):
        plan = plan_run(replace(settings, **options), registry())
        assert (plan.learning, plan.training, plan.folds) == ([], None, False)
        with pytest.raises(InputError, match="train_on= has no effect with checkpoint="):
            replace(settings, train_on=("demo-train",), **options)


def test_the_options_of_a_checkpoint_are_overridden_by_those_that_are_set(tmp_path):
    (usual,) = resolve_systems(RunSettings("demo", rerankers=("delta",)), registry()).rerankers
    folder = _trained(tmp_path / "ckpt", "delta", options={"filters": 8, "query_words": 3})
    settings = RunSettings(
        "demo",
        rerankers=("delta",),
        checkpoint=folder,
        settings={"delta.filters": usual.options.filters},
    )
    (choice,) = plan_run(settings, registry()).rerankers
    assert (choice.options.filters, choice.options.query_words) == (usual.options.filters, 3)


def test_the_reranker_of_a_checkpoint_asks_for_no_pretraining(tmp_path, monkeypatch):
    folder = _trained(tmp_path / "ckpt", "delta")
    settings = RunSettings("demo", rerankers=("bm25-text", "delta"), checkpoint=folder)
    requests = []
    monkeypatch.setattr(
        "irplatform.experiment.run.declared_pretraining",
        lambda _, choices, __: requests.extend(choices),
    )
    learning_plan(plan_run(settings, registry()), None, Fusion())
    assert [choice.name for choice in requests] == ["bm25-text"]


@pytest.mark.parametrize("options", [{"seeds": 2}, {"members": 2}])
def test_a_training_refuses_repetitions_without_effect_like_a_run(options):
    settings = RunSettings("demo-train", rerankers=("revdocid",), **options)
    for call in (train, lambda settings: plan_run(settings, registry())):
        with pytest.raises(InputError, match=f"{next(iter(options))}=? has no effect"):
            call(settings)


def test_a_training_takes_no_checkpoint(tmp_path):
    with pytest.raises(InputError, match="checkpoint= has no effect"):
        train(RunSettings("demo-train", rerankers=("delta",), checkpoint=tmp_path))
