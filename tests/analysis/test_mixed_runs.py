"""Runs with metadata: shares, the reranker alone, the measures of the run, reports as arguments."""

import json

import pytest

import irplatform as ir
from irplatform.analysis.given_runs import given_runs
from irplatform.errors import InputError
from irplatform.reports.matrix import Cell, MatrixReport
from irplatform.reports.run_report import RunReport, SystemResult
from irplatform.run_folder.metadata_files import metadata_path

TOPICS = [f"q{n}" for n in range(6)]
QRELS = {topic: {"x": 1, "y": 0} for topic in TOPICS}


def ranked(hits):
    orders = {t: ["x", "y"] if n < hits else ["y", "x"] for n, t in enumerate(TOPICS)}
    return {t: ir.Ranking.of(ids, [2.0, 1.0]) for t, ids in orders.items()}


def written(folder, name, hits, measures=("RR", "P@1"), **method):
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.run"
    ir.write_run(ir.Run(name, ranked(hits)), path)
    content = {
        "method": {"retrieval": [{"retriever": "bm25"}], **method},
        "research goal": {"evaluation": {"reported measures": [*measures]}},
    }
    metadata_path(path).write_text(json.dumps(content))
    return path


def reranked(folder, name, hits, share, first="bm25", **more):
    steps = [{"retriever": first}, {"reranker": name, "reranks": first}]
    written(folder, f"{name}-alone", 0, retrieval=steps, interpolation=0.0)
    return written(folder, name, hits, retrieval=steps, interpolation=share, **more)


@pytest.fixture
def folder(tmp_path):
    written(tmp_path / "r", "bm25", 2)
    reranked(tmp_path / "r", "ce", 2, 1.0)
    reranked(tmp_path / "r", "ltr", 5, 0.4)
    return tmp_path / "r"


def compared(*runs, **options):
    return ir.compare([*runs], qrels=QRELS, **options)


def test_shares_and_scores_of_rerankers_alone_come_from_the_folder(folder):
    comparison = compared(folder)
    ce, ltr = comparison.system("ce"), comparison.system("ltr")
    assert (ce.mixture.share, ce.ranking_of, ce.scores["RR"].alone) == (1.0, "bm25", 0.5)
    assert (ltr.mixture.share, ltr.ranking_of, ltr.scores["RR"].alone) == (0.4, "", 0.5)
    assert comparison.system("bm25").scores["RR"].alone is None


def test_a_first_stage_of_another_folder_is_not_taken_for_it(tmp_path, folder):
    other = written(tmp_path / "s", "bm25", 3)
    comparison = compared(other, folder / "ce.run")
    assert comparison.system("ce").ranking_of == "r/bm25"
    assert not any("metadata" in note for note in comparison.notes)


def test_labels_and_given_names_are_those_of_the_sentences(folder):
    comparison = compared(folder / "bm25.run", folder / "ce.run", names=["first", "random"])
    assert "random was given no weight: this is first's ranking." in repr(comparison)


def test_runs_in_memory_remember_their_file(folder):
    runs = {"a": ir.read_run(folder / "bm25.run"), "b": ir.read_run(folder / "ce.run")}
    assert ir.compare(runs, qrels=QRELS).system("b").ranking_of == "a"


def test_foreign_runs_say_nothing_of_shares(tmp_path):
    for name, hits in (("a", 1), ("b", 4)):
        ir.write_run(ir.Run(name, ranked(hits)), tmp_path / f"{name}.run")
    text = repr(compared(tmp_path / "a.run", tmp_path / "b.run"))
    assert "W:" not in text
    assert "alone" not in text


def test_the_measures_are_those_that_the_run_was_reported_by(folder):
    assert compared(folder).measures == ("RR", "P@1")
    assert compared(folder, measures="AP").measures == ("AP",)


def test_of_several_commands_the_measures_of_the_first_are_taken_aloud(tmp_path, folder):
    other = written(tmp_path / "s", "rm3", 3, measures=["AP"])
    comparison = compared(folder, other)
    assert comparison.measures == ("RR", "P@1")
    message = "measures: RR, P@1, by which bm25 was reported; rm3 by others. measures= names those"
    assert any(note.startswith(message) for note in comparison.notes)


def test_measures_that_these_judgments_lack_give_way_aloud(tmp_path):
    runs = [written(tmp_path, name, n, measures=["mine@3"]) for n, name in enumerate("ab")]
    comparison = compared(*runs)
    assert "nDCG@20" in comparison.measures
    assert any(note.startswith("the runs were reported by other") for note in comparison.notes)


def test_reports_stand_for_their_folders(folder, tmp_path):
    systems = [SystemResult(n, folder / f"{n}.run", {}, {}, {}) for n in ("bm25", "ltr")]
    report = RunReport("c", "", ["RR"], systems, "bm25", first_stage="bm25")
    assert [*given_runs(report).names] == [*given_runs(folder).names]
    assert {s.name for s in ir.compare(report, qrels=QRELS).systems} == {"bm25", "ce", "ltr"}
    assert set(ir.evaluate(report, qrels=QRELS)) == {"bm25", "ce", "ltr"}
    matrix = MatrixReport(folder, ("ltr",), [Cell("c", "bm25", folder, report)])
    assert [*given_runs([matrix]).names] == [*given_runs(folder).names]


def test_what_is_no_run_is_refused_without_its_table(folder):
    comparison = compared(folder)
    with pytest.raises(
        InputError, match=r"^runs is a ComparisonReport; it must be a path, a Run, "
    ):
        ir.compare(comparison)
    with pytest.raises(InputError, match=r"^runs is 7; it must be a path, a Run, "):
        ir.compare(7)
    with pytest.raises(InputError, match="this is a folder; a mapping gives names to single runs"):
        ir.compare({"a": folder, "b": folder / "ce.run"}, qrels=QRELS)
