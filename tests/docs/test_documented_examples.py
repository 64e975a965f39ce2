"""The examples in the documentation: commands print what is shown, code and files are sound."""

import ast
import importlib
import re
import shlex
import tomllib
from importlib.metadata import distribution
from itertools import pairwise

import pytest
from commands import call
from pages import DOCS, PAGES, fences, reference
from shipped_judges import shipped_judges

from irplatform.cli.main import cli
from irplatform.cli.settings import read_settings
from irplatform.collections.toml import Declaration
from irplatform.experiment.systems import choose_systems
from irplatform.options import option_values
from irplatform.registry.loading import registry

_LEFT_OUT = "…"
_RUN, _SLOW = 'console title="Terminal"', 'console title="Terminal, some minutes"'
_TITLED = [f'python title="{name}.py"' for name in ("plugin", "features", "test_plugin")]
"""Fences of what is run, and of Python in a file of its own."""
_SHELL = re.compile(r"^(platform .+)$", re.MULTILINE)
_TERMINAL = re.compile(r"^\$ (platform .+)$", re.MULTILINE)
_NOT_OURS = {"document-length", "my-ranker", "short-titles", "NAME"}
"""What examples of commands use beside the plugins that come with the platform."""


def _runnable():
    for kind, marks in ((_RUN, ()), (_SLOW, pytest.mark.slow)):
        for page in PAGES:
            for place, body in fences(page, kind):
                for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                    command, _, output = part.partition("\n")
                    yield pytest.param(command, output, id=f"{place} {command}", marks=marks)


def _commands():
    for page in PAGES:
        for kind, pattern in (("sh", _SHELL), ("console", _TERMINAL)):
            for place, body in fences(page, kind):
                for command in pattern.findall(body.replace("\\\n", " ")):
                    yield pytest.param(command, id=f"{place} {command}")


def _blocks(*kinds):
    blocks = [block for page in PAGES for block in fences(page, *kinds)]
    return [pytest.param(body, id=place) for place, body in blocks]


@pytest.fixture
def only_our_plugins(monkeypatch):
    """What is installed beside the platform does not show in outputs."""
    names = (e.name for e in distribution("irplatform").entry_points if e.group == "irplatform")
    monkeypatch.setenv("IRPLATFORM_PLUGINS", ",".join(names))
    registry.cache_clear()
    yield
    registry.cache_clear()


@pytest.mark.parametrize(("command", "output"), _runnable())
def test_a_command_prints_what_is_shown(
    command, output, capsys, monkeypatch, tmp_path, fresh_home, only_our_plugins
):
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(command)
    assert program == "platform"
    result = call(capsys, monkeypatch, *arguments)
    assert result.code == 0, result.err
    pattern = re.escape(output).replace(f"{re.escape(_LEFT_OUT)}\\\n", "(?:.*\\n)*?")
    assert re.fullmatch(pattern, result.out), f"{command} prints\n{result.out}"


def test_there_are_commands_to_run():
    assert len(list(_runnable())) >= 5


@pytest.mark.parametrize("command", _commands())
def test_a_command_that_is_shown_is_understood(command):
    registry().add_commands(cli)
    commands = {name: command for command, name in reference().commands()}
    commands |= {f"platform {name}": command for name, command in cli.commands.items()}
    words = shlex.split(command, comments=True)
    if "--plugin" in words:  # a file that is not here
        del words[(place := words.index("--plugin")) : place + 2]
    name = next(n for n in (" ".join(words[:size]) for size in (4, 3, 2, 1)) if n in commands)
    arguments = words[len(name.split()) :]
    commands[name].make_context(name, list(arguments))  # fails on whatever it does not know
    systems = {
        "--reranker": {*registry().rerankers, *_NOT_OURS},
        "--retriever": {*registry().retrievers, *_NOT_OURS},
        "--first-stage": {*registry().retrievers, *_NOT_OURS, "judged", "scoreddocs"},
    }
    mentions = {
        flag: [
            name
            for f, value in pairwise(arguments)
            if f == flag
            for name in re.split("[,+]", value)
            if "run" not in name.lower()  # a run file
        ]
        for flag in systems
    }
    assert all(systems[flag].issuperset(names) for flag, names in mentions.items())
    settings = tuple(value for flag, value in pairwise(arguments) if flag == "--set")
    if name == "platform qrels judge":
        shipped = shipped_judges()[arguments[arguments.index("--judge") + 1]]
        entries, values = option_values(shipped, read_settings(settings, None))
        assert len(entries) == len(settings)
        assert shipped.options(values)
        return
    rerankers = [name for name in mentions["--reranker"] if name not in _NOT_OURS]
    stages = [n for n in dict.fromkeys(mentions["--first-stage"]) if n in registry().retrievers]
    retrievers = mentions["--retriever"] or stages or ["bm25"]
    choose_systems(registry(), retrievers, rerankers, read_settings(settings, None))


@pytest.mark.parametrize("code", _blocks("python", *_TITLED))
def test_code_imports_what_there_is(code):
    imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    for node in imports:
        module = importlib.import_module(node.module)
        assert [a.name for a in node.names if not hasattr(module, a.name)] == []


@pytest.mark.parametrize("text", _blocks("toml"))
def test_toml_is_toml(text):
    assert tomllib.loads(text)


def test_the_collection_file_that_is_shown_is_one():
    ((_, text),) = fences(DOCS / "collections.md", "toml")
    assert Declaration.model_validate(tomllib.loads(text)).id == "my-trec-pm-2017"


def test_the_options_that_are_shown_are_those_of_delta(tmp_path):
    ((_, text),) = fences(DOCS / "delta.md", "toml")
    (tmp_path / "options.toml").write_text(text, encoding="utf-8")
    settings = read_settings((), tmp_path / "options.toml")
    _, (delta,) = choose_systems(registry(), ["bm25"], ["delta"], settings)
    assert delta.options.model_dump()["vectors"]["dimensions"] == 200


def test_the_choices_that_are_told_are_the_defaults_of_delta():
    options = registry().reranker("delta").options({}).model_dump()
    loop, pairs = options["loop"], options["pairs"]
    assert options["l2_convolution"] == options["l2_feed_forward"]
    text = (DOCS / "delta.md").read_text(encoding="utf-8")
    for phrase in (
        f"{options['filters']} filters",
        f"{options['hidden']} (`hidden`)",
        f"{options['slope']} (`slope`)",
        f"{options['dropout']}; {options['l2_convolution']:.5f} each",
        f"{loop['learning_rate']}; at most {loop['epochs']}, stopped after {loop['patience']}",
        f"at most {pairs['pairs_per_topic']} pairs of a topic in an epoch",
    ):
        assert phrase in text


@pytest.mark.parametrize("name", ["bm25", "qld", "rm3", "embedding"])
def test_the_options_that_are_told_are_the_defaults_of_a_retriever(name):
    text = (DOCS / "first-stage.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{name}` \|.*$", text, re.MULTILINE)
    for option, value in registry().retriever(name).options({}).model_dump().items():
        if isinstance(value, int | float):
            assert f"`{option}` {value:g}" in row
        else:
            assert option == "vectors" or f"`{option}" in row
