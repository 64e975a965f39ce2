"""`platform config` and `platform submit tira`: what campaigns ask for, given once."""

import io
import json

import pytest
import yaml

from irplatform.run_folder.ir_metadata import ir_metadata
from irplatform.run_folder.metadata_files import run_metadata, write_run_with_metadata
from irplatform.run_folder.metadata_model import Data, Marks, Method
from irplatform.runs import Run


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    for name in ("ACTOR", "TEAM", "REPOSITORY"):
        monkeypatch.delenv(f"IRPLATFORM_{name}", raising=False)


def of_bm25():
    return run_metadata(
        tag="bm25",
        command="platform run",
        data=Data(test_collection=Marks(name="small")),
        method=Method(retrieval=[{"retriever": "bm25"}]),
        timings={},
    )


@pytest.fixture
def described(folder):
    """A run with metadata."""
    write_run_with_metadata(Run("x", {}), folder / "bm25.run", of_bm25())


def test_facts_are_kept_and_forgotten(platform, tmp_path):
    assert platform("config", "set", "team", 'My  "own" Lab').code == 0
    assert platform("config", "set", "name", "Ada").code == 0
    assert (tmp_path / "home" / "config.toml").read_text() == (
        'name = "Ada"\nteam = "My \\"own\\" Lab"\n'
    )
    assert platform("config", "show", "--json").json["facts"] == {
        "name": "Ada",
        "team": 'My "own" Lab',
    }
    assert platform("config", "set", "name", "").code == 0
    assert "name" not in platform("config", "show", "--json").json["facts"]


def test_variables_go_before_the_file(platform, monkeypatch):
    platform("config", "set", "team", "A")
    monkeypatch.setenv("IRPLATFORM_TEAM", "B")
    assert platform("config", "show", "--json").json["facts"]["team"] == "B"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("set", "teem", "x"), "Did you mean 'team'?"),
        (("ask",), "asks on a terminal. In a script use `platform config set`."),
    ],
)
def test_mistakes_are_explained(platform, arguments, message):
    refused = platform("config", *arguments)
    assert refused.code == 2
    assert message in refused.err


def test_a_damaged_file_is_named(platform, tmp_path):
    (tmp_path / "home").mkdir()
    for content, message in (("x = 1\n", "'x' is unknown"), ("team = 1\n", "'team' is not text")):
        (tmp_path / "home" / "config.toml").write_text(content)
        refused = platform("config", "show")
        assert refused.code == 2
        assert f"config.toml: {message}" in refused.err


def test_a_run_is_prepared_for_tira(platform, described, folder):
    refused = platform("submit", "tira", "bm25.run", "--out", "upload")
    assert refused.code == 2
    assert "`platform config set team VALUE` and `platform config set repo" in refused.err
    assert not (folder / "upload").exists()
    platform("config", "set", "team", "Lab")
    platform("config", "set", "repository", "https://example.org/x")
    assert platform("submit", "tira", "bm25.run", "--out", "upload").code == 0
    assert (folder / "upload" / "run.txt").read_bytes() == (folder / "bm25.run").read_bytes()
    content = yaml.safe_load((folder / "upload" / "ir-metadata.yml").read_text())
    assert content["actor"]["team"] == "Lab"
    assert content["implementation"]["source"]["repository"] == "https://example.org/x"
    again = platform("submit", "tira", "bm25.run", "--out", "upload")
    assert again.code == 2


def test_a_head_of_metadata_is_left_out_of_an_upload(platform, folder, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_TEAM", "Lab")
    monkeypatch.setenv("IRPLATFORM_REPOSITORY", "https://example.org/x")
    head = ir_metadata(of_bm25(), {})
    lines = (folder / "good.run").read_text()
    commented = "".join(f"# {line}\n" for line in yaml.safe_dump(head).splitlines())
    annotated = f"# ir_metadata.start\n{commented}# ir_metadata.end\n{lines}"
    (folder / "annotated.run").write_text(annotated)
    assert platform("submit", "tira", "annotated.run", "--out", "upload").code == 0
    assert (folder / "upload" / "run.txt").read_text() == lines


def test_a_terminal_is_asked_once(platform, described, folder, monkeypatch):
    monkeypatch.setattr("irplatform.cli.config.on_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("Lab\nhttps://example.org/x\n"))
    outcome = platform("submit", "tira", "bm25.run", "--out", "upload")
    assert outcome.code == 0
    assert "Your team or institution" in outcome.err
    assert platform("submit", "tira", "bm25.run", "--out", "again").err == ""
    monkeypatch.setattr("sys.stdin", io.StringIO("Ada\n\n\nBig\n\n\n"))
    assert platform("config", "ask").code == 0
    assert platform("config", "show", "--json").json["facts"] == {
        "name": "Ada",
        "team": "Lab",
        "repository": "https://example.org/x",
        "method": "Big",
    }


def test_a_run_without_metadata_is_not_prepared(platform, folder):
    refused = platform("submit", "tira", "good.run", "--out", "upload")
    assert refused.code == 2
    assert "good.run: there is no good.run.meta.json" in refused.err


@pytest.mark.java
def test_a_run_folder_has_metadata_for_campaigns(platform, folder):
    platform("config", "set", "team", "Lab")
    assert platform("run", "--collection", "small", "--run-dir", "x").code == 0
    content = yaml.safe_load((folder / "x" / "ir-metadata.yml").read_text())
    recorded = json.loads((folder / "x" / "bm25.run.meta.json").read_text())
    assert content["tag"] == "bm25"
    assert content["actor"]["team"] == "Lab"
    assert content["runs"] == [
        {"name": "bm25", "file": "bm25.run", "sha256": recorded["run"]["sha256"]}
    ]
    assert {entry["role"] for entry in recorded["data"]["inputs"]} == {
        "topics file",
        "judgments file",
    }
