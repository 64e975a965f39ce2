"""Several retrievers and what is made of them, from end to end, on the demo."""

import json

import pytest
from commands import call

from irplatform.analysis.fuse import fuse_runs
from irplatform.runs import read_run

pytestmark = pytest.mark.java

THREE = "bm25+qld+rm3"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def run_demo(tmp_path, home, capsys, monkeypatch):
    """Run the demo with three retrievers; the runs by name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IRPLATFORM_HOME", str(home))

    def run(*arguments, stage=THREE):
        command = ("run", "--collection", "demo", "--first-stage", stage, *arguments)
        called = call(capsys, monkeypatch, *command)
        assert called.code == 0, called.err
        return {path.stem: read_run(path).rankings for path in tmp_path.glob("runs/demo/*.run")}

    return run


def test_no_run_is_deeper_than_asked_for(run_demo):
    runs = run_demo(*("--depth", "10", "--fusion", "ranks", "--reranker", "bm25-title"))
    assert set(runs) == {"bm25", "qld", "rm3", "fused", "bm25-title", "bm25-title-alone"}
    for rankings in runs.values():
        assert {len(ranking) for ranking in rankings.values()} == {10}


def test_a_first_stage_is_fused_as_run_files_are(run_demo, tmp_path):
    runs = run_demo("--fusion", "combsum")
    paths = [f"runs/demo/{name}.run" for name in ("bm25", "qld", "rm3")]
    fuse_runs(paths, "fused.run", by="combsum")
    fused = read_run("fused.run").rankings
    for topic, ranking in runs["fused"].items():
        assert ranking.doc_ids == fused[topic].doc_ids
    metadata = json.loads((tmp_path / "runs/demo/fused.run.meta.json").read_text())
    fusion = {"method": "combsum", "norm": "min-max", "topics": 0, "weights": []}
    assert metadata["method"]["retrieval"][-1] == {"fusion": fusion}


def test_candidates_come_from_all_retrievers_before_the_rest_is_cut_off(run_demo):
    runs = run_demo(*("--depth", "10", "--fusion", "ranks", "--reranker", "bm25-title"))
    below = {
        topic: set(ranking.doc_ids) - set(runs["fused"][topic].doc_ids)
        for topic, ranking in runs["bm25-title-alone"].items()
    }
    assert any(below.values())
    for topic, doc_ids in below.items():
        candidates = {d for name in ("bm25", "qld", "rm3") for d in runs[name][topic].doc_ids}
        assert doc_ids <= candidates


def test_a_retriever_that_does_not_count_brings_no_documents(run_demo):
    runs = run_demo("--depth", "1000")
    assert runs["fused"]
    for topic, ranking in runs["fused"].items():
        assert len(ranking) <= 1000
        assert ranking.scores[-1] > 0, topic


def test_metadata_name_what_a_run_was_made_with_whatever_the_cache_holds(run_demo, tmp_path):
    def facts(*names):
        run_demo("--reranker", "bm25-title", "--fusion", "ranks", stage=f"{THREE}+embedding")
        read = [json.loads((tmp_path / f"runs/demo/{n}.run.meta.json").read_text()) for n in names]
        return {n: set(facts["data"]["artifacts"]) for n, facts in zip(names, read, strict=True)}

    vectors = {"index", "forward_index", "vectors"}
    for _ in range(2):
        assert facts("bm25", "rm3", "embedding", "fused", "bm25-title") == {
            "bm25": {"index"},
            "rm3": {"index"},
            "embedding": vectors,
            "fused": vectors,
            "bm25-title": vectors,
        }
