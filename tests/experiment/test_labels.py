"""The same reranker twice in one run, under labels."""

import json
from dataclasses import replace

import pytest

from irplatform import RunSettings, run, train, tune
from irplatform.cli.settings import read_settings
from irplatform.errors import InputError
from irplatform.experiment.plan import plan_run, planned_runs
from irplatform.experiment.systems import choose_systems
from irplatform.registry.loading import registry
from irplatform.run_folder.folder import read_scores


def choices_of(*rerankers, **settings):
    _, choices = choose_systems(registry(), ["bm25"], rerankers, settings)
    return {choice.name: choice for choice in choices}


def choose(retriever):
    (choice,), _ = choose_systems(registry(), [retriever], [], {})
    return choice


def test_an_option_goes_to_the_label_before_it_and_else_to_all_that_have_it():
    choices = choices_of("delta", "big=delta", **{"big.filters": 64, "query_words": 3})
    usual = choices["delta"].registration.options({}).filters
    assert [choice.options.filters for choice in choices.values()] == [usual, 64]
    assert [choice.options.query_words for choice in choices.values()] == [3, 3]
    assert list(choices) == ["delta", "big"]


def test_a_label_does_not_change_what_scores_and_checkpoints_depend_on():
    choices = choices_of("delta", "big=delta")
    assert choices["big"].describe() == choices["delta"].describe()
    assert choices["big"].describe()["reranker"] == "delta"


@pytest.mark.parametrize(
    ("rerankers", "settings", "message"),
    [
        (["delta", "delta"], {}, r"'delta' is named twice.*rerankers='other=delta'"),
        (["a=delta", "a=drmm"], {}, "'a' is named twice"),
        (["drmm", "drmm=delta"], {}, "'drmm' is named twice"),
        (["A=delta"], {}, "'A' cannot be the label of a reranker"),
        (["fused=delta"], {}, "'fused' cannot be the label"),
        (["=delta"], {}, "'' cannot be the label"),
        (["delta-alone=delta"], {}, "names that end in '-alone'"),
        (["x=nope"], {}, "unknown reranker 'nope'"),
        (["a=delta"], {"delta.filters": 3}, "the reranker 'delta' is called a here"),
        (["a=delta"], {"a.filter": 3}, "'filter' is not an option of reranker 'a'"),
        (["a=delta"], {"filter": 3}, "`platform rerankers show delta`"),
    ],
)
def test_labels_that_cannot_be_are_refused(rerankers, settings, message):
    with pytest.raises(InputError, match=message):
        choices_of(*rerankers, **settings)


def test_a_value_on_the_command_line_is_read_as_the_labelled_reranker_takes_it():
    settings = ("a.field=text", "a.k1=2")
    read = read_settings(settings, None, ["bm25"], ["a=bm25-text"])
    assert read == {"a.field": "text", "a.k1": 2}


def test_a_run_that_is_planned_says_which_reranker_its_label_is():
    plan = plan_run(RunSettings("demo", rerankers=["bm25-text", "a=bm25-text"]), registry())
    planned = planned_runs(plan, dict.fromkeys(("name", "documents", "topics", "qrels")))
    assert planned["a"]["reranker"] == planned["a-alone"]["reranker"] == "bm25-text"
    assert planned["a"]["a.k1"] == planned["bm25-text"]["bm25-text.k1"]
    assert "reranker" not in planned["bm25-text"]


def test_judgments_decide_the_runs_that_learn_from_them_alone():
    plan = plan_run(RunSettings("demo", rerankers=["bm25-text", "dlh13"]), registry())
    data = {"qrels": "digest"} | dict.fromkeys(("name", "documents", "topics"))

    def read(plan):
        return {name: of.get("judgments") for name, of in planned_runs(plan, data).items()}

    assert {*read(plan).values()} == {None}
    folds = replace(plan, folds=True, training=None)
    assert read(folds)["bm25"] is None
    assert read(folds)["dlh13"] == read(folds)["bm25-text-alone"] == "digest"
    fixed_share = replace(folds, settings=replace(plan.settings, interpolate=0.5))
    assert {*read(fixed_share).values()} == {None}
    fused = replace(
        folds,
        first_stage=replace(plan.first_stage, choices=[*plan.retrievers, choose("rm3")]),
    )
    assert read(fused)["fused"] == "digest"
    assert read(fused)["bm25"] is read(fused)["rm3"] is None


@pytest.mark.java
def test_files_metadata_scores_and_the_table_have_the_label(tmp_path):
    settings = RunSettings(
        "demo",
        rerankers=["bm25-text", "steep=bm25-text"],
        settings={"steep": {"k1": 0.5}},
        run_dir=tmp_path,
        interpolate=0.3,
    )
    report = run(settings)
    assert [system.name for system in report.systems] == ["bm25", "bm25-text", "steep"]
    assert "steep (first stage × 0.30)" in repr(report)
    assert list(read_scores(tmp_path).systems)[-2:] == ["steep", "steep-alone"]
    method = json.loads((tmp_path / "steep.run.meta.json").read_text())["method"]
    system = method["retrieval"][-1]
    assert (system["label"], system["reranker"], system["options"]["k1"]) == (
        "steep",
        "bm25-text",
        0.5,
    )
    other = json.loads((tmp_path / "bm25-text.run.meta.json").read_text())["method"]
    assert "label" not in other["retrieval"][-1]
    assert (tmp_path / "steep.run").read_text() != (tmp_path / "bm25-text.run").read_text()


@pytest.mark.java
def test_a_labelled_reranker_takes_the_checkpoint_that_one_without_a_label_trained(tmp_path):
    first = train("demo-train", "mbm", members=1)
    again = train("demo-train", "mine=mbm", out=tmp_path / "kept", members=1)
    assert again["depends_on"] == first["depends_on"]
    assert train("demo-train", "mine=mbm", members=1)["path"] == first["path"]
    report = run(
        "demo", rerankers="mine=mbm", checkpoint=tmp_path / "kept", run_dir=tmp_path / "runs"
    )
    assert report.systems[-1].name == "mine"


@pytest.mark.java
def test_a_labelled_reranker_is_tuned_by_its_label(monkeypatch):
    tuned = []
    monkeypatch.setattr(
        "irplatform.tuning.tune.tune_system", lambda system, *_, **__: tuned.append(system)
    )
    tune(RunSettings("demo", rerankers=["a=bm25-text"]), ["a.k1=1:2"])
    assert tuned[0].rerankers == ("a=bm25-text",)
