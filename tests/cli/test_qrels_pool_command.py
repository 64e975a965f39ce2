"""`platform qrels pool` says what a pool costs, writes it, and adds rounds to it."""

import json

import pytest
from click.testing import CliRunner

from irplatform.cli.main import cli
from irplatform.errors import InputError
from irplatform.judging.pool_folder import read_pool


@pytest.fixture
def called(tmp_path, monkeypatch):
    """Call the command in a folder with a run."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{t} Q0 d{n} {n} {9 - n} a\n" for t in (1, 2) for n in range(1, 9)]
    (tmp_path / "a.run").write_text("".join(lines))

    def call(*words):
        return CliRunner().invoke(cli, ["qrels", "pool", *words])

    return call


def test_it_says_what_judging_costs_and_writes_the_pool(called):
    done = called("a.run", "-o", "pool", "--depth", "3")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("depth (depth 3) of 1 run: 6 documents of 2 topics to judge")
    assert done.stdout.endswith("pool\n")
    assert read_pool("pool").placed == 6


def test_json_is_one_object(called):
    facts = json.loads(called("a.run", "-o", "pool", "--depth", "3", "--json").stdout)
    assert facts["documents"] == 6
    assert facts["id"] == read_pool("pool").id


def test_a_plan_writes_nothing(called, tmp_path):
    assert "not written" in called("a.run", "-o", "pool", "--plan").stdout
    assert not (tmp_path / "pool").exists()


def test_judgments_bring_the_next_round(called, tmp_path):
    called("a.run", "-o", "pool", "--method", "move-to-front", "--budget", "4", "--batch", "2")
    rows = [f"{t} 0 {i.document} 1\n" for t in "12" for i in read_pool("pool").items(t)]
    (tmp_path / "qrels.txt").write_text("".join(rows))
    done = called("-o", "pool", "--judged", "qrels.txt")
    assert done.stdout.startswith("2 documents added.")
    again = json.loads(called("-o", "pool", "--judged", "qrels.txt", "--json").stdout)
    assert again["added"] == 0
    assert "2 documents of 4 are not judged yet." in again["notes"]


@pytest.mark.parametrize(
    "words", [("-o", "pool"), ("-o", "pool", "--judged", "a.run", "--depth", "4")]
)
def test_without_runs_judgments_alone_are_taken(called, words):
    error = called(*words).exception
    assert isinstance(error, InputError)
    assert "name the runs to pool" in error.message
