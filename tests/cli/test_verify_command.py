"""`platform verify` and `platform rerun`: what changed since a run was made, and the run again."""

import gzip
import json
import shutil
from pathlib import Path

import pytest
from commands import call

from irplatform import rerun, run, verify
from irplatform.experiment.calls import call_of, expression, settings_from
from irplatform.experiment.run_settings import RunSettings
from irplatform.files.digests import file_digest
from irplatform.run_folder.metadata_files import metadata_path

pytestmark = pytest.mark.java
REFERENCE = Path(__file__).parents[2] / "runs" / "reference" / "demo"
RUN = ("run", "--collection", "small", "--run-dir", "x")
RERANKED = ("--reranker", "revdocid", "--interpolate", "0.5")
HEAD = "# ir_metadata.start\n# tag: x\n# ir_metadata.end\n"


@pytest.fixture
def run_folder(platform, folder):
    """The folder of a run of `small`."""
    assert platform(*RUN, *RERANKED).code == 0
    return folder / "x"


def verdicts(platform, *arguments):
    """What changed, by its name; and the exit code."""
    outcome = platform("verify", *arguments, "--json")
    findings = [f for run in outcome.json["runs"] for f in run["findings"]]
    changed = {f["subject"]: f["detail"] for f in findings if f["verdict"] == "changed"}
    assert outcome.code == bool(changed)
    return changed


def test_an_untouched_run_agrees(platform, run_folder):
    (run_folder / "other.run").write_text("q1 Q0 d1 1 1 x\n")
    outcome = platform("verify", "x")
    assert outcome.code == 0
    assert outcome.err == "x: not checked, for they have no metadata: other.run\n"
    assert outcome.out.endswith("Nothing has changed.\n")
    assert outcome.out.startswith("All 3 runs\n  run             agrees  the recorded SHA-256")
    assert outcome.out.count("\n  topics  ") == 1
    (settings,) = (line.split() for line in outcome.out.splitlines() if "settings" in line)
    assert settings == ["settings", "agrees"]
    assert "CHANGED" not in outcome.out


def test_a_changed_line_is_found_with_its_topic(platform, run_folder):
    path = run_folder / "revdocid.run"
    path.write_text(path.read_text().replace("q1 Q0 d1", "q1 Q0 d9"))
    assert verdicts(platform, "x/revdocid.run") == {"run": "other rankings of 1 topic: q1"}
    outcome = platform("verify", "x/revdocid.run")
    assert outcome.code == 1
    assert outcome.out.endswith("x/revdocid.run: changed since it was made: run.\n")
    assert verdicts(platform, "x/bm25.run") == {}


def test_what_some_runs_share_is_said_once_and_a_change_names_them(platform, run_folder):
    for name in ("revdocid", "revdocid-alone"):
        path = run_folder / f"{name}.run.meta.json"
        content = json.loads(path.read_text())
        content["method"]["settings"]["depth"] = 7
        path.write_text(json.dumps(content))
    lines = platform("verify", "x").out.splitlines()
    assert lines[lines.index("Some runs") + 1 :] == [
        "  settings  agrees   1 run",
        "  settings  CHANGED  revdocid-alone, revdocid: other settings: depth 7 -> 1000",
        "Changed since they were made: settings (2 runs).",
    ]


def test_another_tag_changes_bytes_and_no_ranking(platform, run_folder):
    path = run_folder / "bm25.run"
    path.write_text(path.read_text().replace(" bm25\n", " other\n"))
    assert "the rankings are the same" in verdicts(platform, "x/bm25.run")["run"]


def test_a_run_that_cannot_be_read_has_changed(platform, run_folder):
    (run_folder / "bm25.run").write_text("q1 Q0 d1 1\n")
    assert "4 columns" in verdicts(platform, "x/bm25.run")["run"]


def test_packing_and_a_head_of_metadata_change_nothing(platform, run_folder):
    lines = (run_folder / "bm25.run").read_text()
    (run_folder / "packed.run.gz").write_bytes(gzip.compress((HEAD + lines).encode()))
    (run_folder / "packed.run.gz.meta.json").write_text(
        (run_folder / "bm25.run.meta.json").read_text()
    )
    assert verdicts(platform, "x/packed.run.gz") == {}


def test_other_judgments_topics_and_documents_are_found(platform, run_folder, folder):
    qrels = folder / "small" / "qrels" / "test.tsv"
    qrels.write_text(qrels.read_text() + "q2\td1\t1\n")
    assert verdicts(platform, "x/bm25.run").keys() == {"judgments", "judgments file"}
    topics = folder / "small" / "queries.jsonl"
    topics.write_text(topics.read_text().replace("mice", "rats"))
    assert "topics" in verdicts(platform, "x/bm25.run")
    corpus = folder / "small" / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("A case", "Two cases"))
    assert "documents" in verdicts(platform, "x/bm25.run")


def test_an_index_that_was_changed_in_the_cache_is_found(platform, run_folder, tmp_path):
    (index,) = (tmp_path / "home" / "index").glob("small-*[0-9a-f]")
    segment = next(path for path in index.iterdir() if path.suffix in (".cfs", ".fdt"))
    content = segment.read_bytes()
    segment.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert f"has a damaged file, {segment.name}" in verdicts(platform, "x/bm25.run")["index"]


def test_other_versions_and_settings_are_found(platform, run_folder):
    path = run_folder / "bm25.run.meta.json"
    content = json.loads(path.read_text())
    content["platform"]["software"]["libraries"]["python"]["numpy"] = "0.1"
    content["platform"]["software"]["python"] = "2.7"
    content["implementation"]["source"]["digest"] = "0" * 16
    content["method"]["settings"]["bm25.k1"] = 0.8
    path.write_text(json.dumps(content))
    changes = verdicts(platform, "x/bm25.run")
    assert changes.keys() == {"settings", "irplatform", "python", "numpy"}
    assert changes["numpy"].startswith("0.1 -> ")
    assert changes["settings"] == "other settings: bm25.k1 0.8 -> 0.9"


def test_a_collection_that_has_moved_is_not_checked_or_named(platform, run_folder, folder):
    (folder / "small").rename(folder / "moved")
    outcome = platform("verify", "x/bm25.run")
    assert outcome.code == 0
    assert outcome.out.endswith(
        "Nothing has changed; not checked: collection, topics file, judgments file.\n"
    )
    assert verdicts(platform, "x/bm25.run", "--collection", "moved") == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.run",), "none.run: there is no such file."),
        (("good.run",), "good.run: there is no good.run.meta.json beside this run, nor ir_metad"),
        (("small",), "small: there are no run files with metadata in this folder."),
    ],
)
def test_what_cannot_be_verified_is_refused(platform, arguments, message):
    refused = platform("verify", *arguments)
    assert refused.code == 2
    assert message in refused.err


def test_a_rerun_has_the_same_bytes_and_keeps_nothing(platform, run_folder, folder, tmp_path):
    before = sorted(path.name for path in (tmp_path / "home").iterdir())
    outcome = platform("rerun", "x/revdocid.run.meta.json")
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("revdocid.run: the same bytes (sha256 ")
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == before
    assert sorted(path.name for path in folder.iterdir()) == ["good.run", "small", "x"]


def test_a_rerun_of_other_settings_is_compared_with_the_run(platform, run_folder, folder):
    path = run_folder / "revdocid.run.meta.json"
    content = json.loads(path.read_text())
    content["implementation"]["call"]["settings"]["tag"] = "other"
    path.write_text(json.dumps(content))
    outcome = platform("rerun", "x/revdocid.run", "--out", "again", "--json")
    assert outcome.code == 1
    (again,) = outcome.json["runs"]
    assert (again["same"], again["topics"], again["rbo"]) == (False, 2, 1)
    assert again["obtained"] == file_digest(folder / "again" / "revdocid.run")
    answer = platform("rerun", "x/revdocid.run")
    assert answer.out.startswith(
        "revdocid.run: other bytes than recorded.\nRank-biased overlap 1.0"
    )
    assert "2 of 2 topics have the same ranking." in answer.out


def test_a_fused_run_is_verified_and_made_again(platform, run_folder):
    fused = ("fuse", "x/bm25.run", "x/revdocid.run", "--by", "scores", "--out", "x/both.run")
    assert platform(*fused).code == 0
    assert verdicts(platform, "x/both.run") == {}
    assert platform("rerun", "x/both.run").code == 0
    path = run_folder / "bm25.run"
    path.write_text(path.read_text().replace("q1 Q0 d1", "q1 Q0 d9"))
    assert verdicts(platform, "x/both.run").keys() == {"fused run"}


def test_one_run_of_a_command_is_made_without_the_others(platform, folder):
    stages = ("--first-stage", "bm25+qld", "--reranker", "revdocid,again=revdocid")
    assert platform(*RUN, *stages, "--interpolate", "0.5").code == 0
    cases = {
        "bm25": (["bm25.run"], ["qld", "revdocid", "again"]),
        "fused": (["bm25.run", "fused.run", "qld.run"], ["revdocid", "again"]),
        "again-alone": (
            ["again-alone.run", "again.run", "bm25.run", "fused.run", "qld.run"],
            ["revdocid"],
        ),
    }
    for name, (files, left_out) in cases.items():
        outcome = platform("rerun", f"x/{name}.run", "--out", name, "--json")
        assert (outcome.code, outcome.json["left_out"]) == (0, left_out), outcome.err
        assert sorted(path.name for path in (folder / name).glob("*.run")) == files
    text = platform("rerun", "x/bm25.run").out
    assert text.endswith("since this run does not need it: qld, revdocid, again.\n")


def test_one_seed_of_several_is_made_again(platform, folder):
    seeds = ("--reranker", "lexical", "--depth", "20", "--seeds", "2", "--members", "1")
    assert platform("run", "--collection", "demo", *seeds, "--run-dir", "x").code == 0
    outcome = platform("rerun", "x/lexical-seed1042.run", "--out", "again", "--cached", "--json")
    assert (outcome.code, outcome.json["same"]) == (0, True), outcome.err
    files = ["bm25.run", "lexical-seed1042-alone.run", "lexical-seed1042.run"]
    assert sorted(path.name for path in (folder / "again").glob("*.run")) == files


@pytest.mark.parametrize("target", ["x/ir-metadata.yml", "x"])
def test_all_runs_of_a_command_are_made_again_in_one_table(platform, run_folder, target):
    outcome = platform("rerun", target)
    assert outcome.code == 0, outcome.err
    header, *runs, last = [line.split("  ") for line in outcome.out.splitlines()]
    assert header[0] == "run"
    assert {name: line[-1].strip() for name, *line in runs} == dict.fromkeys(
        ["bm25.run", "revdocid-alone.run", "revdocid.run"], "the same"
    )
    assert last[0].startswith("All 3 runs have the same bytes; made in ")


def test_a_run_that_differs_is_compared_in_the_table(platform, run_folder):
    path = run_folder / "bm25.run.meta.json"
    content = json.loads(path.read_text())
    content["implementation"]["call"]["settings"]["tag"] = "other"
    path.write_text(json.dumps(content))
    outcome = platform("rerun", "x")
    assert outcome.code == 1
    assert [*outcome.out.splitlines()[1].split()] == [
        *("bm25.run", "OTHERS", "1.0000", "2", "of", "2", "topics")
    ]
    assert "2 of 3 runs have the same bytes" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("good.run",), "there are no metadata here, or beside this run."),
        (("none.run.meta.json",), "none.run.meta.json: there is no such file."),
        (("old.run.meta.json",), "has no settings or no digest of the run"),
    ],
)
def test_what_cannot_be_made_again_is_refused(platform, folder, arguments, message):
    (folder / "old.run.meta.json").write_text('{"tag": "old"}')
    refused = platform("rerun", *arguments)
    assert refused.code == 2
    assert message in refused.err


def test_the_committed_metadata_make_the_committed_run_in_an_empty_cache(
    platform, fresh_home, tmp_path
):
    outcome = platform("rerun", REFERENCE / "bm25.run.meta.json", "--out", tmp_path / "again")
    assert outcome.code == 0, outcome.err
    content = (tmp_path / "again" / "bm25.run").read_bytes()
    assert content == (REFERENCE / "bm25.run").read_bytes()


def test_other_weights_are_found_in_a_checkpoint_and_in_the_cache(
    fresh_home, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    def platform(*arguments):
        return call(capsys, monkeypatch, *arguments)

    lexical = ("--reranker", "lexical")
    one = ("--members", "1")
    trained = platform("train", "--collection", "demo-train", *lexical, *one, "--out", "ckpt")
    assert trained.code == 0, trained.err
    run = ("run", "--collection", "demo", *lexical, "--depth", "50")
    assert platform(*run, "--checkpoint", "ckpt", "--run-dir", "a").code == 0
    assert platform(*run, *one, "--run-dir", "b").code == 0
    assert verdicts(platform, "a/lexical.run") == verdicts(platform, "b/lexical.run") == {}
    for folder in (tmp_path / "ckpt", *(fresh_home / "checkpoint").glob("lexical-*[0-9a-f]")):
        weights = max((folder / "member-0").rglob("*"), key=lambda path: path.stat().st_size)
        weights.write_bytes(weights.read_bytes() + b"\n")
    assert verdicts(platform, "a/lexical.run").keys() >= {"checkpoint"}
    assert verdicts(platform, "b/lexical.run").keys() == {"weights"}


def test_a_call_has_what_differs_from_the_defaults_and_absolute_paths(folder):
    settings = RunSettings(
        "small", rerankers="delta", depth=5, run_dir="y", first_stages="good.run"
    )
    call = call_of(settings)
    assert call["settings"] == {
        "collection": str(folder / "small"),
        "rerankers": ["delta"],
        "depth": 5,
        "first_stages": [str(folder / "good.run")],
    }
    assert call_of(settings_from(call)) == call
    assert expression(call_of(RunSettings("demo", depth=5))) == (
        "irplatform.run(collection='demo', depth=5)"
    )
    assert expression(call_of(RunSettings("demo", settings={"bm25.k1": 1.2}))) == (
        "irplatform.run(irplatform.RunSettings(collection='demo', settings={'bm25.k1': 1.2}))"
    )


def test_a_run_from_python_says_how_and_is_made_again(folder):
    results = run(RunSettings("small", depth=2, settings={"bm25.k1": 1.2}, run_dir="y"))
    path = results.systems[0].path
    content = json.loads(metadata_path(path).read_text())
    place = folder / "small"
    assert content["implementation"]["executable"]["cmd"] == (
        f"irplatform.run(irplatform.RunSettings(collection='{place}', "
        "settings={'bm25.k1': 1.2}, depth=2))"
    )
    assert [f.subject for f in verify(path) if f.verdict != "agrees"] == []
    assert rerun(path).same


def _index_of(platform, folder, collection):
    assert platform("index", "--collection", collection).code == 0
    (segments,) = (folder.parent / "home" / "index").glob(f"{collection}-*/segments_*")
    return segments.parent


def test_a_cell_of_some_topics_over_an_existing_index_agrees_and_is_made_again(platform, folder):
    shutil.copytree(_index_of(platform, folder, "small"), folder / "theirs")
    arguments = (
        *RUN[:3],
        "--index",
        "theirs",
        "--topics",
        "q1",
        "--first-stage",
        "bm25,judged+qld",
    )
    outcome = platform(*arguments, "--run-dir", "m")
    assert outcome.code == 0, outcome.err
    for cell, name in (("bm25", "bm25"), ("judged+qld", "qld")):
        path = folder / "m" / "small-test" / "topics-q1" / cell / f"{name}.run"
        assert verdicts(platform, path) == {}
        again = platform("rerun", f"{path}.meta.json")
        assert (again.code, "the same bytes" in again.out) == (0, True), again.err
    shutil.rmtree(folder / "theirs")
    shutil.copytree(_index_of(platform, folder, "demo"), folder / "theirs")
    assert "documents" in verdicts(platform, path)
