"""Commands that need no model, no Java and no tables load none."""

import json
import os
import subprocess
import sys

import pytest
from pretrained_models import save_transformer

HEAVY = {
    "gensim",
    "ir_datasets",
    "ir_measures",
    "jnius",
    "matplotlib",
    "networkx",
    "pandas",
    "pyserini",
    "rich",
    "scipy",
    "sklearn",
    "spacy",
    "torch",
    "transformers",
}
PROGRAM = """
import json, runpy, sys
sys.argv[0] = "platform"
try:
    runpy.run_module("irplatform", run_name="__main__")
except SystemExit as stop:
    status = stop.code
print(json.dumps([status, sorted({name.split(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def _loaded(*arguments, status=0):
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    ended, modules = json.loads(result.stderr.splitlines()[-1])
    assert ended == status, result.stderr
    return set(modules)


OF_SYSTEMS = {"numpy", "pydantic"}


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("--help", OF_SYSTEMS),
        ("plugins list", OF_SYSTEMS),
        ("rerankers list", set()),
        ("rerankers show delta", set()),
        ("retrievers list", set()),
        ("run --help", set()),
    ],
)
def test_nothing_heavy_is_loaded_and_no_system_before_it_is_used(command, more):
    assert not _loaded(*command.split()) & (HEAVY | more)


def _modules_of_ours(*arguments):
    """The modules of the platform and its plugins that a command imports."""
    program = PROGRAM.replace('name.split(".")[0] for name', "name for name")
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    _, modules = json.loads(result.stderr.splitlines()[-1])
    return [name for name in modules if name.startswith("irplatform")]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_few_modules_of_ours(option):
    assert len(_modules_of_ours(option)) <= 40


def test_a_hook_is_declared_without_options_being_loaded():
    program = "import sys; from irplatform.plugin import hookimpl; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "pydantic", "irplatform.options"} & {*loaded}


RUN = ("run", "--collection", "demo")


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        ((*RUN, "--reranker", "detla"), ()),
        (("run", "--collection", "dmeo"), ("ir_datasets",)),
        ((*RUN, "--reranker", "delta", "--measure", "nDGC@10"), ("ir_measures",)),
        (("evaluate", "--collection", "demo", "nowhere.run"), ("ir_measures",)),
        ((*RUN, "--reranker", "delta", "--run-dir", "PLACE"), ("ir_measures",)),
        (
            (*RUN, "--reranker", "vanilla-bert", "--set", "model=PLACE/model", "--run-dir=PLACE"),
            ("ir_measures",),
        ),
    ],
)
def test_what_is_refused_is_refused_before_anything_heavy_is_loaded(tmp_path, arguments, needs):
    (tmp_path / "bm25.run").write_text("somebody else's\n")
    if "model=PLACE/model" in arguments:
        save_transformer(tmp_path / "model")
    arguments = (argument.replace("PLACE", str(tmp_path)) for argument in arguments)
    assert not _loaded(*arguments, status=2) & HEAVY - {*needs}


@pytest.mark.parametrize(
    "arguments", [("--version",), ("kb", "list"), ("kb", "add", "--help"), ("cache", "--help")]
)
def test_what_needs_no_plugin_loads_none(arguments, fresh_home):
    assert not _loaded(*arguments) & {*HEAVY, *OF_SYSTEMS, "irplatform_delta"}


@pytest.mark.parametrize("words", ["platform ru", "platform run --rer", "platform run --device c"])
def test_a_shell_is_answered_without_loading_plugins(monkeypatch, words):
    monkeypatch.setenv("_PLATFORM_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert not _loaded() & {*HEAVY, "pydantic", "irplatform_delta"}


@pytest.mark.parametrize("module", ["click", "pluggy"])
def test_ctrl_c_ends_it_quietly_while_it_starts(module, tmp_path):
    stopping = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / f"{module}.py").write_text(stopping)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    result = subprocess.run(
        [sys.executable, "-m", "irplatform", "plugins", "list"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (result.returncode, result.stdout) == (130, "")
    assert "Traceback" not in result.stderr
