"""What a run can be told, refused as soon as it is told."""

import re
from pathlib import Path

import pytest

from irplatform import (
    RunSettings,
    TuneSettings,
    check_runs,
    evaluate,
    explain,
    fuse_runs,
    index,
    retriever,
    run,
    search,
    train,
    tune,
)
from irplatform.errors import InputError
from irplatform.evaluation.scoring import Evaluation
from irplatform.experiment.experiment_file import settings_of


def test_a_rerank_depth_that_has_no_effect_is_refused():
    with pytest.raises(InputError, match="rerank_depth=101 has no effect beyond depth=100"):
        RunSettings("demo", depth=100, rerank_depth=101)
    RunSettings("demo", depth=100, rerank_depth=100, rerankers=("delta",))


def test_the_usual_rerank_depth_goes_with_any_depth():
    assert RunSettings("demo", depth=100).depth == 100


@pytest.fixture
def some_run(tmp_path, monkeypatch):
    """A run file in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("some.run").write_text("1 Q0 a 1 1 x\n")


@pytest.mark.usefixtures("some_run")
@pytest.mark.parametrize("stage", ["judged", "some.run"])
def test_candidates_that_are_not_found_do_not_heed_the_depth(stage):
    RunSettings("demo", depth=100, rerank_depth=1000, first_stages=stage, rerankers=("delta",))


@pytest.mark.usefixtures("some_run")
@pytest.mark.parametrize("stage", ["bm25", "some.run"])
def test_a_rerank_depth_without_rerankers_is_refused(stage):
    with pytest.raises(InputError, match="rerank_depth= has no effect without rerankers=NAME"):
        RunSettings("demo", rerank_depth=50, first_stages=stage)
    RunSettings("demo", first_stages=stage)
    RunSettings("demo", rerank_depth=50, first_stages="judged")  # where it is idle anyway


def test_a_fusion_of_one_retriever_is_refused():
    with pytest.raises(InputError, match="fusion='ranks' has no effect without a second retr"):
        RunSettings("demo", fusion="ranks")
    RunSettings("demo", fusion="ranks", first_stages="bm25+qld")
    RunSettings("demo", fusion="auto")


@pytest.mark.parametrize(
    ("stage", "options", "subject"),
    [
        ("rm3", {}, "the retriever rm3"),
        ("bm25+qld", {}, "the retriever bm25, qld"),
        ("bm25", {"settings": {"bm25.expand": ["mesh"]}}, r"the setting of bm25\.expand"),
    ],
)
@pytest.mark.usefixtures("some_run")
def test_retrievers_that_a_run_file_takes_the_place_of_are_refused(stage, options, subject):
    with pytest.raises(InputError, match=f"{subject} has no effect without rerankers=NAME"):
        RunSettings("demo", first_stages=f"some.run+{stage}", **options)
    for first, rerankers in (("some.run+", ("delta",)), ("judged+", ()), ("", ())):
        RunSettings("demo", first_stages=f"{first}{stage}", rerankers=rerankers, **options)


def test_a_text_will_do_for_a_path_and_a_name_for_a_list():
    settings = RunSettings(
        Path("folder"),
        run_dir="runs/x",
        vectors="v.txt",
        vectors_text="more.txt",
        rerankers="delta",
        first_stages="judged+rm3",
        measures=["AP"],
        train_on="other",
        interpolate="auto",
    )
    assert (settings.collection, settings.first_stage.source) == ("folder", "judged")
    assert settings.interpolate is None
    assert (settings.run_dir, settings.vectors) == (Path("runs/x"), Path("v.txt"))
    assert settings.vectors_text == (Path("more.txt"),)
    assert (settings.rerankers, settings.measures) == (("delta",), ("AP",))
    assert settings.first_stage.retrievers == ("rm3",)
    assert settings.train_on == ("other",)
    assert RunSettings("demo", rerankers="delta", checkpoint="c").checkpoint == Path("c")
    assert TuneSettings("k1", train_on="other").over == ("k1",)


@pytest.mark.parametrize(
    ("topics", "message"),
    [(0, "train_topics= is 0; it must be at"), ("9", "must be a whole number")],
)
def test_a_number_of_training_topics_is_a_number(topics, message):
    with pytest.raises(InputError, match=message):
        RunSettings("demo", rerankers="delta", train_topics=topics)


@pytest.mark.parametrize("name", ["bm25+rm3", "judged", "bm26", ["bm25", "rm3"]])
def test_a_retriever_is_no_other_first_stage(name):
    message = (
        "takes one retriever, not 2" if isinstance(name, list) else f"unknown retriever '{name}'"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        search("demo", "melanoma", retriever=name)
    with pytest.raises(InputError, match=re.escape(message)):
        retriever(name, "demo")


@pytest.mark.parametrize("workers", [0, -3])
def test_workers_are_at_least_one_wherever_they_are_asked_for(workers):
    with pytest.raises(InputError, match=r"workers= is .*; it must be at least 1"):
        index("demo", workers=workers)


def test_a_file_of_settings_takes_the_place_of_earlier_ones(tmp_path):
    (tmp_path / "tuned.toml").write_text("[bm25]\nb = 0.2\n")
    earlier = RunSettings("demo", settings={"bm25.k1": 1.0})
    settings = settings_of(earlier, {"config": tmp_path / "tuned.toml"})
    assert settings.settings == {"bm25.b": 0.2}
    assert settings.config is None
    options = {"config": tmp_path / "tuned.toml", "settings": {"bm25.b": 0.3}}
    assert RunSettings("demo", **options).settings == {"bm25.b": 0.3}


def test_options_may_stand_under_their_system():
    settings = {"rm3": {"fb_terms": 20, "deep": {"er": 1}}, "k1": 1.5, "bm25.plan": {"gene": {}}}
    assert RunSettings("demo", settings=settings).settings == {
        "rm3.fb_terms": 20,
        "rm3.deep.er": 1,
        "k1": 1.5,
        "bm25.plan": {"gene": {}},
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": "100"}, "depth is '100'; it must be a whole number"),
        ({"depth": 1.5}, "depth is 1.5; it must be a whole number"),
        ({"seeds": True}, "seeds is True; it must be a whole number"),
        ({"interpolate": "0.5", "rerankers": "delta"}, "interpolate is '0.5'; it must be a number"),
        (
            {"rerankers": 1},
            "rerankers has 1; it takes names, and classes or objects of irplatform.Reranker",
        ),
        ({"measures": ["AP", None]}, "it must be a name or a list of names"),
        ({"run_dir": ""}, "run_dir is ''; it must be a path"),
        ({"run_dir": 3}, "run_dir is 3; it must be a path"),
        ({"vectors_text": 3}, "vectors_text is 3; it must be a path"),
        ({"settings": ["k1=1"]}, "it must map options to values"),
    ],
)
def test_what_cannot_be_meant_is_named(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        RunSettings("demo", **options)


def test_functions_of_run_files_take_texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("q1 Q0 d1 1 2.0 a\n")
    Path("b.run").write_text("q1 Q0 d2 1 2.0 b\n")
    Path("qrels.txt").write_text("q1 0 d1 1\n")
    evaluations = evaluate("a.run", qrels="qrels.txt", measures="P@1")
    assert evaluations["a"].aggregate == {"P@1": 1.0}
    assert check_runs("a.run")["a.run"].tag == "a"
    assert fuse_runs(["a.run", "b.run"], "c.run")["path"] == "c.run"
    with pytest.raises(InputError, match="paths is 3; it must be a path"):
        check_runs(3)


def test_a_run_is_told_by_a_collection_and_options(tmp_path):
    settings = RunSettings("demo", rerankers=("delta",), run_dir=tmp_path, depth=50)
    options = {"rerankers": "delta", "run_dir": str(tmp_path), "depth": 50}
    assert settings_of("demo", options) == settings
    assert settings_of(None, {"collection": "demo", **options}) == settings
    assert settings_of(RunSettings("demo", rerankers="drmm"), options) == settings
    assert settings_of(settings) is settings


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run("demo", reranker="delta"), "Did you mean 'rerankers'?"),
        (lambda: run("demo", plugins="delta"), "`rerankers=` names rerankers"),
        (run, "it is missing"),
        (lambda: train(7), "not 7"),
        (lambda: tune("demo", 7), "over is 7"),
        (lambda: explain("demo", "41", "d"), "explain takes one reranker"),
        (lambda: train("demo", rerankers=["delta", "drmm"]), "not delta, drmm"),
    ],
)
def test_a_call_without_settings_is_told_what_is_meant(call, message):
    with pytest.raises(InputError, match=re.escape(message)):
        call()


def test_scores_of_a_run_are_printed_in_a_line():
    evaluation = Evaluation({"AP": 0.25, "P@5": 0.5}, {"AP": {"t1": 0.25}, "P@5": {"t1": 0.5}})
    assert str(evaluation) == "AP 0.2500, P@5 0.5000"
    assert "t1" not in repr(evaluation)
