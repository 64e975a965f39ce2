"""`platform tune` and `--first-stage` from end to end, on the demo."""

import json
import tomllib

import pytest
from commands import call

from irplatform.errors import InputError
from irplatform.files import writing
from irplatform.runs import read_run

pytestmark = pytest.mark.java

DEMO = ("--collection", "demo")
TUNE = ("tune", *DEMO, "--over", "k1=0.3:1.8", "--over", "b", "--trials", "6")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("tuned-home")


@pytest.fixture
def platform(tmp_path, home, capsys, monkeypatch):
    """Call the command line from an empty folder; the cache is shared by this file's tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IRPLATFORM_HOME", str(home))
    return lambda *arguments: call(capsys, monkeypatch, *arguments)


def test_options_are_tuned_on_the_partner_and_run_from_the_file(platform, tmp_path):
    outcome = platform(*TUNE, "--json", "--out", "tuned.toml")
    assert outcome.code == 0, outcome.err
    tuning = outcome.json
    assert (tuning["collection"], tuning["tuned_on"], tuning["topics"]) == (
        "demo",
        "demo-train",
        40,
    )
    assert "tuning on the topics of 'demo-train' for 'demo'" in outcome.err
    assert "WARNING" not in outcome.err
    assert tuning["defaults"] == {"k1": 0.9, "b": 0.4}
    assert tuning["trials"] == 7
    assert len(tuning["per_fold"]) == 5
    assert tuning["scores"]["best"] >= tuning["scores"]["defaults"]
    text = (tmp_path / "tuned.toml").read_text()
    assert tomllib.loads(text) == tuning["chosen"]
    assert text.startswith("# platform tune --collection demo --over k1=0.3:1.8")
    answer = platform("run", *DEMO, "--config", "tuned.toml", "--json")
    assert answer.code == 0, answer.err
    recorded = json.loads((tmp_path / "runs/demo/bm25.run.meta.json").read_text())
    options = recorded["method"]["retrieval"][0]["options"]
    assert {name: options[name] for name in tuning["chosen"]} == tuning["chosen"]


def test_what_was_found_is_told_even_where_the_file_cannot_be_written(platform, monkeypatch):
    write = writing.atomic_write

    def full(path, *mode):
        if path.name == "tuned.toml":
            raise InputError("no space is left.")
        return write(path, *mode)

    monkeypatch.setattr("irplatform.files.writing.atomic_write", full)
    outcome = platform(*TUNE, "--out", "tuned.toml")
    assert outcome.code == 2
    assert "no space is left" in outcome.err
    assert "Gain to expect: " in outcome.out
    assert "tuned.toml" not in outcome.out


def test_tuning_again_tries_nothing_and_says_the_same(platform, home):
    first = platform(*TUNE)
    runs = sorted((home / "run").glob("*")) if (home / "run").exists() else []
    again = platform(*TUNE)
    assert (again.code, again.out) == (0, first.out)
    assert "7 of 7 trials are in the journal already" in again.err
    assert "trial 1 of" not in again.err
    assert "Gain to expect: " in again.out
    outcome = platform(*TUNE, "--out", "tuned.toml")
    assert outcome.out == f"{first.out}options, for --config: tuned.toml\n"
    assert [path for path in runs if "demo-train" in path.name] == []  # the cache stays small


def test_the_topics_of_an_evaluated_collection_are_used_only_when_asked(platform):
    outcome = platform("tune", "--collection", "demo", *TUNE[3:], "--on-these-topics", "--json")
    assert outcome.json["tuned_on"] == "demo"
    lonely = platform("tune", "--collection", "demo-train", *TUNE[3:])
    assert lonely.code == 2
    assert "names no training collection, and its own topics are kept for testing" in lonely.err
    assert "--on-these-topics" in lonely.err


def test_fewer_topics_are_drawn_by_the_seed(platform):
    tuning = platform(*TUNE, "--topics", "15", "--json").json
    assert tuning["topics"] == 15
    assert platform(*TUNE, "--topics", "15", "--json").json == tuning


def test_judged_candidates_are_said_in_table_json_and_metadata(platform, tmp_path):
    table = platform("run", *DEMO, "--first-stage", "judged", "--run-dir", "r")
    assert "Candidates: the judged documents of each topic only (" in table.out
    report = platform("run", *DEMO, "--first-stage", "judged", "--run-dir", "r", "--json").json
    assert report["candidates"]["protocol"] == "judged"
    recorded = json.loads((tmp_path / "r/bm25.run.meta.json").read_text())
    assert recorded["method"]["candidates"] == report["candidates"]
    lines = (tmp_path / "r/bm25.run").read_text().splitlines()
    assert len(lines) == report["candidates"]["documents"]
    usual = platform("run", *DEMO, "--run-dir", "u", "--json").json
    assert usual["candidates"]["protocol"] == "retrieved"
    assert usual["runs"][0]["measures"]["AP"] < report["runs"][0]["measures"]["AP"]


def test_a_run_file_takes_the_place_of_the_first_stage(platform):
    usual = platform("run", *DEMO, "--run-dir", "u", "--tag", "mine", "--json").json
    again = platform("run", *DEMO, "--first-stage", "u/bm25.run", "--run-dir", "a", "--json").json
    assert again["candidates"]["file"] == "bm25.run"
    (run,) = again["runs"]
    assert run["name"] == "mine"
    assert run["measures"] == usual["runs"][0]["measures"]


def test_no_run_over_a_run_file_is_deeper_than_asked_for(platform, tmp_path):
    assert platform("run", *DEMO, "--depth", "20", "--run-dir", "u").code == 0
    outcome = platform(
        *("run", *DEMO, "--first-stage", "u/bm25.run", "--reranker", "bm25-text"),
        *("--interpolate", "0.5", "--depth", "5", "--run-dir", "c"),
    )
    assert outcome.code == 0, outcome.err
    runs = {path.stem: read_run(path).rankings for path in tmp_path.glob("c/*.run")}
    assert set(runs) == {"bm25", "bm25-text", "bm25-text-alone"}
    for rankings in runs.values():
        assert {len(ranking) for ranking in rankings.values()} == {5}
    first_stage = read_run(tmp_path / "u/bm25.run").rankings
    reranked = {t: set(r.doc_ids) for t, r in runs["bm25-text-alone"].items()}
    assert any(reranked[topic] - set(first_stage[topic].doc_ids[:5]) for topic in first_stage)


def test_a_run_that_candidates_come_from_is_not_written_over(platform, tmp_path):
    platform("run", *DEMO, "--reranker", "bm25-text", "--run-dir", "u", "--interpolate", "0.5")
    before = {path: path.read_bytes() for path in (tmp_path / "u").glob("b*")}
    again = ("run", *DEMO, "--first-stage", "u/bm25.run", "--run-dir", "u")
    assert platform(*again, "--json").json["runs"][0]["name"] == "bm25-candidates"
    assert {path: path.read_bytes() for path in before} == before
    for name in ("bm25-text", "bm25-text-alone"):
        command = (*again[:4], f"u/{name}.run", *again[5:], "--reranker", "bm25-text")
        outcome = platform(*command)
        assert outcome.code == 2
        assert "'bm25-text' would be written over these candidates" in outcome.err
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("run", *DEMO, "--first-stage", "jugded"),
            "unknown first stage 'jugded'. Did you mean 'judged'?",
        ),
        (("tune", *DEMO), "name the options to search with --over"),
        (("tune", *DEMO, "--over", "k2"), "'k2' is not an option of bm25. Did you mean 'k1'?"),
        (("tune", *DEMO, "--over", "b=0:2"), "option 'b' of retriever 'bm25' cannot be 2.0"),
        (("tune", *DEMO, "--over", "b", "--set", "b=1"), "'b' is both set and searched"),
        (("tune", *DEMO, "--over", "b", "--folds", "1"), "--folds is 1; it must be at least 2."),
        (("tune", *DEMO, "--over", "b", "--trials", "0"), "--trials is 0; it must be at least 1."),
        (("tune", *DEMO, "--over", "b", "--out", "."), ".: this is a folder; name a file."),
        (("tune", *DEMO, "--over", "b", "--measure", "nDGC@20"), "Did you mean 'nDCG'?"),
        (("tune", *DEMO, "--over", "b", "--topics", "5"), "there are 5 topics with a relevant"),
        (
            ("tune", *DEMO, "--over", "b", "--train-on", "demo-train", "--on-these-topics"),
            "--train-on and --on-these-topics name different topics",
        ),
        (
            ("search", *DEMO, "--query", "a", "--config", "no.toml"),
            "no.toml: there is no such file",
        ),
    ],
    ids=lambda value: " ".join(value[:1] + value[3:]) if isinstance(value, tuple) else "",
)
def test_mistakes_are_answered_in_a_line(platform, tmp_path, arguments, message):
    outcome = platform(*arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
