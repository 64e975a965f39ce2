"""Runs with a checkpoint, and with rerankers beside it that do not learn, on the demo."""

import json

import pytest
from commands import call

pytestmark = pytest.mark.java

DEMO = ("--collection", "demo")
LEXICAL = ("--reranker", "lexical")
PLAIN = ("--reranker", "bm25-text")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("checkpoint-home")


@pytest.fixture
def platform(tmp_path, home, capsys, monkeypatch):
    """Call the command line from an empty folder; the cache is shared by this file's tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IRPLATFORM_HOME", str(home))
    return lambda *arguments: call(capsys, monkeypatch, *arguments)


@pytest.fixture
def checkpoint(platform, tmp_path):
    """A reranker that was trained on the demo's partner."""
    trained = platform(
        *("train", "--collection", "demo-train", *LEXICAL, "--members", "1", "--out", "ckpt")
    )
    assert trained.code == 0, trained.err
    return tmp_path / "ckpt"


def _share(tmp_path, folder, reranker="bm25-text"):
    recorded = json.loads((tmp_path / folder / f"{reranker}.run.meta.json").read_text())
    return recorded["method"]["interpolation"]


def test_a_reranker_that_does_not_learn_is_mixed_as_it_is_without_the_checkpoint(
    platform, checkpoint, tmp_path
):
    alone = platform("run", *DEMO, *PLAIN, "--run-dir", "alone")
    assert alone.code == 0, alone.err
    beside = platform(
        *("run", *DEMO, *PLAIN, *LEXICAL, "--checkpoint", checkpoint, "--run-dir", "beside")
    )
    assert beside.code == 0, beside.err
    assert "training lexical" not in beside.err
    for name in ("bm25-text.run", "bm25-text-alone.run"):
        assert (tmp_path / "beside" / name).read_text() == (tmp_path / "alone" / name).read_text()
    assert _share(tmp_path, "beside") == _share(tmp_path, "alone")


def test_one_that_was_not_copied_whole_is_refused_before_anything_is_written(
    platform, checkpoint, tmp_path
):
    for file in (checkpoint / "member-0").rglob("*"):
        if file.is_file():
            file.rename(tmp_path / file.name)
    for folder in (checkpoint / "member-0").glob("*"):
        folder.rmdir()
    outcome = platform("run", *DEMO, *LEXICAL, "--checkpoint", checkpoint, "--run-dir", "runs")
    assert outcome.code == 2
    assert "what member 1 saved is missing. Was it copied whole?" in outcome.err
    assert not (tmp_path / "runs").exists()


def test_nothing_is_said_of_pretraining_where_nothing_is_trained(platform, checkpoint):
    outcome = platform("run", *DEMO, *LEXICAL, "--checkpoint", checkpoint, "--pretrain", "none")
    assert outcome.code == 2
    assert "--pretrain has no effect with --checkpoint" in outcome.err


def test_other_options_than_those_that_the_share_was_chosen_with_are_told(platform, checkpoint):
    arguments = ("run", *DEMO, *LEXICAL, "--checkpoint", checkpoint)
    assert "was trained with other options" not in platform(*arguments).err
    other = platform(*arguments, "--set", "lexical.neighbours.share=0.3", "--force")
    assert other.code == 0
    assert "was trained with other options (neighbours); the share of the" in other.err


@pytest.mark.parametrize(
    "command",
    [("run", *DEMO), ("explain", *DEMO, "--topic", "41", "--doc", "demo0001")],
)
def test_that_other_code_scores_is_told_to_whoever_asks(platform, checkpoint, command):
    described = checkpoint / "checkpoint.json"
    described.write_text(json.dumps({**json.loads(described.read_text()), "version": "0.0.1"}))
    (checkpoint / "manifest.json").unlink()  # whose digest is of another description
    outcome = platform(*command, *LEXICAL, "--checkpoint", checkpoint)
    assert outcome.code == 0, outcome.err
    assert "WARNING: lexical's checkpoint was trained by version 0.0.1" in outcome.err
