"""What a command leaves in the folder of runs: files, scores, and word of what is not its own."""

import json
from types import SimpleNamespace

import pytest
from recorded_runs import QRELS, RESOURCES, SYSTEM, Empty, a_run, found

from irplatform.data import Collection
from irplatform.errors import InputError, PlatformError
from irplatform.evaluation.scoring import evaluate
from irplatform.experiment.recorder import Recorder
from irplatform.plugin import Topic
from irplatform.reranking.results import RerankedRun
from irplatform.run_folder.folder import read_scores


def metadata(folder, name):
    return json.loads((folder / f"{name}.run.meta.json").read_text())


def test_a_folder_in_the_place_of_a_file_is_refused_at_once(record, tmp_path):
    (tmp_path / "out" / "report.json").mkdir(parents=True)
    with pytest.raises(
        InputError, match=r"report\.json: this is a folder; a run writes a file here"
    ):
        record()


def test_scores_are_kept_topic_by_topic(record):
    scores = read_scores(record("bm25", rerankers=["ranker"]))
    assert (scores.collection, scores.measures) == ("c", ["P@1"])
    assert list(scores.systems) == ["bm25", "ranker", "ranker-alone"]
    assert scores.systems["bm25"].per_topic == {"P@1": {"1": 1.0, "2": 1.0}}
    assert scores.systems["ranker-alone"].means == {"P@1": 0.5}


def test_of_several_seeds_each_run_is_written_and_the_mean_is_reported(tmp_path, capsys):
    corpus = Empty()
    collection = Collection(id="c", title="c", corpus=corpus, load_topics=lambda: [Topic("1", "q")])
    recorder = Recorder(collection, QRELS, ["P@1"], {}, tmp_path, None, "platform")
    candidates = found(recorder, a_run("bm25"))
    listings = []

    def attempts():
        for seed, first, weight in ((42, "a", 0.4), (1042, "b", 0.6)):
            listings.append(sorted(path.name for path in tmp_path.glob("ranker*.run")))
            runs = a_run("ranker-alone", "b"), a_run("ranker", first)
            resources = SimpleNamespace(**{**vars(RESOURCES), "seed": seed})
            yield RerankedRun(*runs, weight, [SYSTEM], resources).with_suffix(f"-seed{seed}")

    recorder.add_reranked("ranker", candidates, attempts())
    report = recorder.report(candidates)
    assert listings == [[], ["ranker-seed42-alone.run", "ranker-seed42.run"]]
    ranker = report.systems[-1]
    assert ranker.measures == {"P@1": 0.75}  # 1 with the first seed, 0.5 with the second
    assert ranker.per_topic == {"P@1": {"1": 0.5, "2": 1.0}}
    assert (ranker.interpolation, ranker.path.name) == (0.5, "ranker-seed42.run")
    assert [seed.measures["P@1"] for seed in ranker.seeds] == [1.0, 0.5]
    assert metadata(tmp_path, "ranker-seed1042")["method"]["seed"] == 1042
    assert list(read_scores(tmp_path).systems) == ["bm25", "ranker", "ranker-alone"]
    assert report.comparisons["ranker"]["P@1"].difference == -0.25
    assert "earlier commands" not in capsys.readouterr().err


def test_a_report_compares_runs_in_full_with_known_scores(tmp_path, monkeypatch):
    collection = Collection("c", "A title", Empty(), lambda: [Topic("1", "q"), Topic("2", "q")])
    recorder = Recorder(collection, QRELS, ["P@1"], {}, tmp_path, None, "platform")
    candidates = found(recorder, a_run("bm25", "b"))
    run = RerankedRun(a_run("ranker-alone", "b"), a_run("ranker"), 0.5, [SYSTEM], RESOURCES)
    recorder.add_reranked("ranker", candidates, [run])
    report = recorder.report(candidates)
    monkeypatch.setattr("irplatform.evaluation.scoring.evaluation_of", _judged_alone)
    comparison = report.compare(alone=True)
    assert [system.name for system in comparison.systems] == ["bm25", "ranker", "ranker-alone"]
    assert [system.name for system in report.compare().systems] == ["bm25", "ranker"]
    pair = comparison.pairs[0]
    assert pair.test == report.comparisons["ranker"]["P@1"]
    assert (pair.wins, pair.ties_of_topics, pair.losses) == (1, 1, 0)
    assert comparison.collection == "A title"


def test_own_scores_that_are_those_of_the_final_run_are_not_compared_again(tmp_path):
    collection = Collection("c", "c", Empty(), lambda: [Topic("1", "q"), Topic("2", "q")])
    recorder = Recorder(collection, QRELS, ["P@1"], {}, tmp_path, None, "platform")
    candidates = found(recorder, a_run("bm25", "b"))
    run = RerankedRun(a_run("ranker-alone"), a_run("ranker"), 0.0, [SYSTEM], RESOURCES)
    recorder.add_reranked("ranker", candidates, [run])
    assert [s.name for s in recorder.report(candidates).compare().systems] == ["bm25", "ranker"]


def _judged_alone(judgments, run, measures, extra):
    assert measures == ["Judged@1"]
    return evaluate(judgments.qrels, run, measures)


def test_means_over_seeds_are_compared_without_bounds(tmp_path):
    collection = Collection("c", "c", Empty(), lambda: [Topic("1", "q"), Topic("2", "q")])
    recorder = Recorder(collection, QRELS, ["P@1"], {}, tmp_path, None, "platform")
    candidates = found(recorder, a_run("bm25", "b"))
    attempts = []
    for seed, first in ((1, "a"), (2, "b")):
        resources = SimpleNamespace(**{**vars(RESOURCES), "seed": seed})
        runs = a_run(f"ranker-seed{seed}-alone", "b"), a_run(f"ranker-seed{seed}", first)
        attempts.append(RerankedRun(*runs, 0.5, [SYSTEM], resources))
    recorder.add_reranked("ranker", candidates, attempts)
    score = recorder.report(candidates).compare().system("ranker").scores["P@1"]
    assert score.mean == 0.75
    assert (score.judged, score.unjudged) == (None, None)


def test_a_run_is_there_before_it_is_scored(record, tmp_path, monkeypatch):
    def fails(*arguments, **options):
        raise PlatformError("out of order")

    monkeypatch.setattr("irplatform.experiment.recorder.evaluate", fails)
    with pytest.raises(PlatformError):
        record("bm25")
    assert (tmp_path / "out" / "bm25.run").exists()
    assert metadata(tmp_path / "out", "bm25")["tag"] == "bm25"


def test_a_rerankers_runs_are_there_before_they_are_scored(record, tmp_path, monkeypatch):
    def fails(qrels, run, measures, **options):
        if run.name.startswith("ranker"):
            raise PlatformError("out of order")
        return evaluate(qrels, run, measures, **options)

    monkeypatch.setattr("irplatform.experiment.recorder.evaluate", fails)
    with pytest.raises(PlatformError):
        record("bm25", rerankers=["ranker"])
    for name in ("ranker", "ranker-alone"):
        assert (tmp_path / "out" / f"{name}.run").exists()
        assert metadata(tmp_path / "out", name)["tag"] == name


def test_the_stages_of_a_run_are_timed(record):
    folder = record("bm25", rerankers=["ranker"])
    report = json.loads((folder / "report.json").read_text())
    stages = {"index", "retrieve", "train", "rerank"}
    assert all(set(run["seconds"]) == {*stages, "evaluate"} for run in report["runs"])
    assert set(metadata(folder, "ranker")["timings"]) == stages


def test_measures_that_look_deeper_than_the_depth_are_named(tmp_path):
    collection = Collection("c", "c", Empty(), lambda: [Topic("1", "q"), Topic("2", "q")])
    recorder = Recorder(collection, QRELS, ["P@5", "P@20", "AP"], {}, tmp_path, None, "platform")
    candidates = found(recorder, a_run("bm25"), depth=5)
    messages = recorder.report(candidates).cut_short
    assert messages == ["P@20: no run has more than 5 documents per topic"]
    for depth in (20, None):
        recorder = Recorder(collection, QRELS, ["P@20"], {}, tmp_path, None, "platform")
        candidates = found(recorder, a_run("bm25"), depth=depth)
        assert recorder.report(candidates).cut_short == []


def test_measures_that_look_deeper_than_rerankers_go_are_named(tmp_path):
    collection = Collection("c", "c", Empty(), lambda: [Topic("1", "q"), Topic("2", "q")])
    recorder = Recorder(collection, QRELS, ["P@5", "P@20"], {}, tmp_path, None, "platform")
    candidates = found(recorder, a_run("bm25"), depth=20, candidates=1)
    assert recorder.report(candidates).cut_short == []
    ranked = RerankedRun(a_run("r-alone"), a_run("r"), 0.5, [SYSTEM], RESOURCES)
    recorder.add_reranked("r", candidates, [ranked])
    messages = recorder.report(candidates).cut_short
    assert messages == [
        "P@5, P@20: no more than 1 document per topic were reranked; the others follow in the "
        "first stage's order"
    ]


def test_topics_that_only_judgments_or_only_the_collection_have_are_named_once(record, capsys):
    record("bm25", "qld", qrels={"1": {"a": 1}, "7": {"a": 1}, "8": {"a": 0}})
    assert capsys.readouterr().err.splitlines() == [
        "bm25: 2 topics with no results (they count as 0): 7, 8; judged, but no topics of 'c': "
        "7, 8",
        "bm25: 1 topic with results but no judgments (they do not count): 2",
        "1 topic without a relevant document, where no run can find one (they count): 8",
    ]
    record("bm25")
    assert "topics with" not in capsys.readouterr().err


def test_warnings_are_in_the_report_and_in_the_metadata_of_the_runs_that_they_are_about(tmp_path):
    collection = Collection("c", "c", Empty(), lambda: [Topic("1", "q"), Topic("2", "q")])
    recorder = Recorder(collection, QRELS, ["P@1"], {}, tmp_path, None, "platform")
    recorder.warn("")
    recorder.warn("half of it is empty")
    candidates = found(recorder, a_run("bm25"))
    runs = (a_run("ranker-alone", "b"), a_run("ranker"))
    run = RerankedRun(*runs, 0.5, [SYSTEM], RESOURCES, ("it saw these topics",))
    recorder.add_reranked(
        "ranker", candidates, [run.with_suffix(f"-seed{seed}") for seed in (1, 2)]
    )
    report = recorder.report(candidates)
    everything = ["half of it is empty", "it saw these topics"]
    assert list(report.warnings) == report.as_json()["warnings"] == everything
    assert json.loads((tmp_path / "report.json").read_text())["warnings"] == everything
    assert metadata(tmp_path, "bm25")["method"]["warnings"] == everything[:1]
    for name in ("ranker-seed1", "ranker-seed1-alone", "ranker-seed2"):
        assert metadata(tmp_path, name)["method"]["warnings"] == everything


def test_metadata_name_the_test_where_there_is_one(record):
    folder = record("bm25", rerankers=["ranker"])
    for name in ("ranker", "ranker-alone"):
        evaluation = metadata(folder, name)["research goal"]["evaluation"]
        assert evaluation["baseline"] == ["bm25"]
        assert evaluation["significance test"] == [
            {"name": "paired t-test, two-sided", "correction method": "Holm"}
        ]
    assert "significance test" not in metadata(folder, "bm25")["research goal"]["evaluation"]


def test_without_rerankers_retrievers_are_compared_with_the_first_one(record):
    comparisons = json.loads((record("bm25", "qld", "fused") / "report.json").read_text())[
        "comparisons"
    ]
    assert comparisons["baseline"] == "bm25"
    assert list(comparisons["systems"]) == ["qld", "fused"]


def test_beside_rerankers_retrievers_are_not_compared(record):
    folder = record("bm25", "qld", rerankers=["ranker"])
    comparisons = json.loads((folder / "report.json").read_text())["comparisons"]
    assert list(comparisons["systems"]) == ["ranker", "ranker-alone"]


def test_a_single_retriever_is_compared_with_nothing(record):
    assert "comparisons" not in json.loads((record("bm25") / "report.json").read_text())


def test_without_judgments_there_is_no_test_and_no_score_and_that_is_said(record, capsys):
    folder = record("bm25", rerankers=["ranker"], qrels=None)
    assert capsys.readouterr().err.count("has no judgments: runs are written and not scored") == 1
    assert "significance test" not in metadata(folder, "ranker")["research goal"]["evaluation"]
    assert read_scores(folder).systems["bm25"].per_topic == {}


def test_metadata_name_the_gpu(record, monkeypatch):
    folder = record("bm25")
    assert "gpu" not in metadata(folder, "bm25")["platform"]["hardware"]
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda device: f"Card of {device}")
    monkeypatch.setattr(RESOURCES, "device", "cuda")
    assert metadata(record("bm25"), "bm25")["platform"]["hardware"]["gpu"] == {
        "model": "Card of cuda"
    }
