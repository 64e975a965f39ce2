"""Runs of earlier commands in the same folder: those that stay, and those that are out of date."""

import json

import pytest
from recorded_runs import QRELS, Empty, a_run, found

from irplatform.data import Collection
from irplatform.errors import PlatformError
from irplatform.experiment.recorder import Recorder
from irplatform.plugin import Topic
from irplatform.run_folder.folder import read_scores


def test_runs_of_earlier_commands_stay_and_are_named(record, capsys):
    record("bm25", "qld")
    assert "earlier commands" not in capsys.readouterr().err
    folder = record("bm25")
    notice = capsys.readouterr().err
    assert notice.rstrip().endswith("report.json and scores.json do not describe: qld.run")
    assert (folder / "qld.run").exists()
    assert list(read_scores(folder).systems) == ["bm25"]
    report = json.loads((folder / "report.json").read_text())
    assert [run["name"] for run in report["runs"]] == ["bm25"]


def test_runs_over_a_first_stage_that_is_replaced_are_named(record, capsys):
    record("bm25", "qld", rerankers=["ranker"])
    record("bm25", first_stage="another")
    notice = capsys.readouterr().err
    (warning,) = [line for line in notice.splitlines() if "WARNING" in line]
    assert "bm25.run in " in warning
    assert "was replaced by another first stage's" in warning
    assert warning.endswith("the old one: ranker-alone.run, ranker.run")
    assert notice.splitlines()[-1].endswith("do not describe: qld.run")


def test_a_replaced_first_stage_stays_known_until_its_runs_are_made_anew(record, capsys):
    record("bm25", rerankers=["ranker"])
    for _ in range(2):
        record("bm25", first_stage="another")
        assert "was replaced" in capsys.readouterr().err
    record("bm25", rerankers=["ranker"], first_stage="another")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("baseline", ["bm25", "qld"])
def test_runs_over_the_same_first_stage_or_one_of_another_name_are_not_warned_of(
    record, capsys, baseline
):
    record("bm25", rerankers=["ranker"])
    record(baseline, first_stage="one" if baseline == "bm25" else "another")
    assert "WARNING" not in capsys.readouterr().err


def test_a_run_without_metadata_is_only_named(record, capsys):
    folder = record("bm25", rerankers=["ranker"])
    (folder / "ranker.run.meta.json").write_text("{")
    (folder / "ranker-alone.run.meta.json").unlink()
    record("bm25", first_stage="another")
    notice = capsys.readouterr().err
    assert notice.rstrip().endswith("do not describe: ranker-alone.run, ranker.run")
    assert "WARNING" not in notice


@pytest.mark.parametrize("goal", [[], {"evaluation": None}, {"evaluation": {"baseline": None}}])
def test_metadata_of_somebody_elses_making_do_no_harm(record, capsys, goal):
    folder = record("bm25", rerankers=["ranker"])
    (folder / "ranker.run.meta.json").write_text(json.dumps({"research goal": goal}))
    record("bm25", first_stage="another")
    assert "ranker.run" in capsys.readouterr().err


@pytest.mark.parametrize("document", ["a", "b"])
def test_runs_that_another_command_replaces_meanwhile_are_told(tmp_path, capsys, document):
    topics = [Topic("1", "q")]
    collection = Collection(id="c", title="c", corpus=Empty(), load_topics=lambda: topics)
    recorder, other = (
        Recorder(collection, QRELS, ["P@1"], {}, tmp_path, None, "platform") for _ in range(2)
    )
    candidates = found(recorder, a_run("bm25", "a"))
    other.report(found(other, a_run("bm25", document)))
    assert "replaced" not in capsys.readouterr().err
    warnings = recorder.report(candidates).as_json()["warnings"]
    notice = capsys.readouterr().err
    if document == "a":  # the same run
        assert "replaced" not in notice
        return
    assert "another command replaced runs" in notice
    assert "Give each command its own run_dir=." in notice
    assert warnings[-1] in notice


def test_summaries_of_earlier_runs_go_when_a_run_is_written_over(record, monkeypatch):
    folder = record("bm25")
    assert (folder / "report.json").exists()

    def fails(*arguments, **options):
        raise PlatformError("out of order")

    monkeypatch.setattr("irplatform.experiment.recorder.evaluate", fails)
    with pytest.raises(PlatformError):
        record("bm25")
    assert not (folder / "report.json").exists()
    assert not (folder / "scores.json").exists()


def test_many_runs_of_earlier_commands_are_counted(record, capsys):
    record("bm25", rerankers=[f"ranker{n}" for n in range(10)])
    for first_stage in ("one", "another"):
        record("bm25", first_stage=first_stage)
        (notice,) = capsys.readouterr().err.splitlines()
        assert notice.endswith("ranker0-alone.run, ranker0.run, ranker1-alone.run and 17 more")
