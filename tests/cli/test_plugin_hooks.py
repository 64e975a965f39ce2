"""Commands, options and events of other people's plugins."""

import json

import pytest

FORKING = """
import multiprocessing
import os
import signal

from irplatform.plugin import hookimpl

@hookimpl
def register_commands(cli):
    @cli.command("forked")
    def forked():
        with multiprocessing.get_context("fork").Pool(1) as pool:
            print(pool.map(len, ["length"]))
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            print("went on")
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_sigterm_ends_forked_workers_of_a_plugin_as_ever(with_plugin):
    result = with_plugin(FORKING, "forked")
    assert (result.returncode, result.stdout, result.stderr) == (0, "[6]\n-15\n", "")


@pytest.mark.parametrize("returned", ["5", "True", "'text'"])
def test_what_a_plugins_command_returns_is_no_exit_code(with_plugin, returned):
    code = """
import click
from irplatform.plugin import hookimpl

@hookimpl
def register_commands(cli):
    @cli.command("greet")
    def greet():
        print("hello")
        return RETURNED

    @cli.command("leave")
    @click.pass_context
    def leave(context):
        context.exit(7)
""".replace("RETURNED", returned)
    result = with_plugin(code, "greet")
    assert (result.returncode, result.stdout) == (0, "hello\n")
    assert with_plugin(code, "leave").returncode == 7


def test_defaults_of_any_kind_that_json_has_are_listed(with_plugin):
    code = """
from enum import Enum
from pathlib import Path
from irplatform.plugin import Field, Options, Reranker, hookimpl

class Mode(Enum):
    FAST = "fast"

class Kinds(Options):
    file: Path = Field(Path("words.txt"), description="a file")
    files: tuple[Path, ...] = Field((Path("a"),), description="files")
    mode: Mode = Field(Mode.FAST, description="how")

class Kind(Reranker):
    Options = Kinds

    def score(self, topic, documents):
        return [0.0 for _ in documents]

@hookimpl
def register_rerankers(register):
    register("kind", Kind)
"""
    result = with_plugin(code, "rerankers", "show", "kind", "--json")
    assert result.returncode == 0, result.stderr
    options = {o["name"]: o["default"] for o in json.loads(result.stdout)["options"]}
    assert options == {"file": "words.txt", "files": ["a"], "mode": "fast"}
    assert with_plugin(code, "rerankers", "show", "kind").returncode == 0
    assert with_plugin(code, "rerankers", "list", "--json").returncode == 0


@pytest.mark.java
def test_what_a_plugin_does_with_results_that_it_is_told_changes_no_report(with_plugin):
    code = """
from irplatform.plugin import hookimpl

@hookimpl
def run_finished(event):
    event.results["bm25"]["P@1"] = 9.0
"""
    result = with_plugin(code, "run", "--collection", "small", "--measure", "P@1", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["runs"][0]["measures"]["P@1"] <= 1


LISTENING = """
from irplatform.plugin import TrainableReranker, hookimpl

class Strange(TrainableReranker):
    def fit(self, data):
        pass
    def save(self, folder):
        (folder / "nothing").touch()
    def load(self, folder):
        pass
    def score(self, topic, documents):
        return [1.0] * len(documents)

@hookimpl
def register_rerankers(register):
    register("strange", Strange)

@hookimpl
def run_started(event):
    print("started", *event.systems, *event.results, *event.runs)

@hookimpl
def run_finished(event):
    print("finished", *event.systems)
    print("results", *event.results)
    print("made", *sorted(name for name in event.runs if (event.run_dir / f"{name}.run").exists()))
    print("files", *sorted(path.stem for path in event.run_dir.glob("*.run")))
"""


@pytest.mark.java
def test_hooks_are_told_what_was_asked_for_and_which_runs_were_made(with_plugin, demo_index):
    result = with_plugin(
        LISTENING,
        *("run", "--collection", "demo", "--first-stage", "bm25+qld"),
        *("--reranker", "strange", "--seeds", "2", "--members", "1", "--fusion", "ranks"),
    )
    assert result.returncode == 0, result.stderr
    events = {line.split()[0]: line.split()[1:] for line in result.stderr.splitlines() if line}
    assert events["started"] == events["finished"] == ["bm25", "qld", "strange"]
    assert events["results"] == ["bm25", "qld", "fused", "strange"]
    reranked = [f"strange-seed{seed}{kind}" for seed in (42, 1042) for kind in ("", "-alone")]
    assert events["made"] == events["files"] == sorted(["bm25", "qld", "fused", *reranked])
