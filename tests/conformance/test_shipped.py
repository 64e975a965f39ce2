"""Tasks, results, formats and commands of a plugin are checked, and the files of its package."""

import json
from types import SimpleNamespace

import click
import pytest

from irplatform.conformance import check as conformance
from irplatform.conformance import shipped
from irplatform.conformance.data import CheckData
from irplatform.conformance.shipped import remarks_on_imports, remarks_on_requirements, unpackaged
from irplatform.errors import InputError
from irplatform.knowledge import Format
from irplatform.plugin.declarations import Traits
from irplatform.plugin.hooks import Hooks, hookimpl
from irplatform.registry.lookup import Registry
from irplatform.registry.registration import Plugin

PLUGIN = Plugin("theirs", "irplatform-theirs", "1.0", contract=">=0.2")
TASKS = """
[[task]]
name = "their-task"
title = "Theirs"
[[task.rules]]
depth = 10
measures = ["AP"]

[[task]]
name = "their-other"
title = "Other"
"""
ROWS = """
[[result]]
id = "their-row"
collection = "demo"
retrievers = ["bm25"]
minutes = 1
tolerance = 0.01
expected = { AP = 0.3 }
"""


@pytest.fixture
def small_registry(monkeypatch):
    """The registry that the checks see, with one plugin."""
    registry = Registry(plugins=[PLUGIN])
    registry.retrievers["bm25"] = registry.rerankers["dlh13"] = SimpleNamespace()
    registry.manager.add_hookspecs(Hooks)
    monkeypatch.setattr(shipped, "registry", lambda: registry)
    return registry


def _problems(results):
    return [problem for _, problem in results if problem]


def _of_tasks(registry, path, text):
    path.write_text(text)
    registry.tasks[path] = PLUGIN
    return _problems(shipped.results_of_tasks(path.name, None))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Theirs", "Ours"), ""),
        (("depth", "dept"), "task 'their-task': unknown key 'dept'. Did you mean 'depth'?"),
        (("depth = 10", 'documents = "(a"'), "task 'their-task': 'documents' is not a regular"),
        (("depth = 10", 'depth = "10"'), "task 'their-task': rules.0.depth: "),
        (('"AP"', '"APP"'), "task 'their-task': unknown measure 'APP'"),
        (("their-task", "trec-ct-2022"), "task 'trec-ct-2022' is also in "),
        (("their-other", "their-task"), "task 'their-task' comes twice"),
        (('title = "Other"', ""), "task 'their-other': the key 'title' is missing"),
        (("[[task]]", "[[tasks]]"), "unknown key 'tasks'. Did you mean 'task'?"),
        (("[[task]]", "[[task"), "this is not TOML"),
    ],
)
def test_a_fault_of_a_task_is_told_by_its_name(small_registry, tmp_path, change, message):
    problems = _of_tasks(small_registry, tmp_path / "tasks.toml", TASKS.replace(*change))
    assert len(problems) == bool(message)
    assert all(message in problem and str(tmp_path) in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("0.3", "0.4"), ""),
        (("minutes", "minuets"), "'minuets' is not a key of result 'their-row'"),
        (('["bm25"]', '["judged"]'), ""),
        (('["bm25"]', '["bm52"]'), "result 'their-row': unknown retriever 'bm52'"),
        (
            ("minutes", 'reranker = "dhl13"\nminutes'),
            "result 'their-row': unknown reranker 'dhl13'",
        ),
        (("AP =", "APP ="), "result 'their-row': unknown measure 'APP'"),
        (("expected = { AP = 0.3 }", ""), "key 'expected'"),
    ],
)
def test_a_fault_of_a_result_is_told_by_its_name(small_registry, tmp_path, change, message):
    path = tmp_path / "results.toml"
    path.write_text(ROWS.replace(*change))
    small_registry.results[path] = PLUGIN
    problems = _problems(shipped.results_of_results("results.toml", None))
    assert len(problems) == bool(message)
    assert all(message in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("recognizes", "messages"),
    [
        (lambda head: head.line.startswith("! drugs"), []),
        (lambda head: True, ["it takes a file that begins with '' for its own"] * 3),
        (lambda head: head.text[0] == "!", ["IndexError('string index out of range')"]),
        (lambda head: head.columns[1] == "name", ["IndexError('list index out of range')"] * 5),
    ],
)
def test_a_format_refuses_files_of_others(small_registry, recognizes, messages):
    small_registry.knowledge["drugs"] = lambda: Format(
        "drugs", "", "drugs", recognizes, lambda path: []
    )
    problems = _problems(shipped.results_of_format("drugs", CheckData(None, [], [], [])))
    assert len(problems) == len(messages)
    assert all(problem.startswith(messages[0][:9]) for problem in problems), problems


def test_a_command_without_help_is_told(small_registry):
    class Module:
        @hookimpl
        def register_commands(self, cli):
            cli.command("greet")(lambda: None)
            cli.command("told", help="Say hello.")(lambda: None)

    small_registry.manager.register(Module(), name=str(PLUGIN))
    problems = _problems(shipped.results_of_hooks("theirs", CheckData(None, [], [], [])))
    assert problems == ["command greet has no help: write a docstring"]


def test_a_command_of_the_platform_cannot_be_replaced(capsys):
    class Module:
        @hookimpl
        def register_commands(self, cli):
            cli.command("run")(lambda: None)
            cli.command("greet")(lambda: None)

    registry, run = Registry(plugins=[PLUGIN]), click.Command("run")
    registry.manager.add_hookspecs(Hooks)
    registry.manager.register(Module(), name=str(PLUGIN))
    cli = click.Group(commands={"run": run})
    registry.add_commands(cli)
    assert cli.commands["run"] is run
    assert registry.plugins[0].provides == ("command greet",)
    assert (
        registry.plugins[0].failed == "register_commands failed: there is a command 'run' already"
    )
    assert "there is a command 'run' already" in capsys.readouterr().err


def test_a_plugin_that_registers_tasks_alone_can_be_checked(small_registry, tmp_path):
    with pytest.raises(InputError, match="registers nothing: write a hook"):
        conformance.registered_by(PLUGIN, small_registry)
    small_registry.tasks[tmp_path / "tasks.toml"] = PLUGIN
    assert [*conformance.registered_by(PLUGIN, small_registry)] == [("tasks", "tasks.toml")]
    assert conformance.checks_of("tasks", None)[:2] == ("tasks", "package data")


PROJECT = """
[build-system]
build-backend = "setuptools.build_meta"
[tool.setuptools.package-data]
theirs = ["*.json"]
"""


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """The distribution, installed from a folder that stays its source."""
    source, site = tmp_path / "source", tmp_path / "site"
    package, info = source / "theirs", site / "irplatform_theirs-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "tasks.toml").touch()
    (source / "pyproject.toml").write_text(PROJECT)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: irplatform-theirs\nVersion: 1.0\n"
        "Requires-Dist: irplatform>=0.2\nRequires-Dist: Torch>=2\n"
    )
    origin = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.syspath_prepend(site)
    return SimpleNamespace(source=source, file=package / "tasks.toml", info=info)


def test_a_file_that_a_wheel_will_lack_is_told_before_it_is_built(edited):
    assert unpackaged(edited.file, PLUGIN) == (
        "a wheel will lack tasks.toml: list it in [tool.setuptools.package-data], in pyproject.toml"
    )
    project = edited.source / "pyproject.toml"
    project.write_text(PROJECT.replace("*.json", "*.toml"))
    assert unpackaged(edited.file, PLUGIN) == ""
    project.write_text(PROJECT.replace("setuptools.build_meta", "hatchling.build"))
    assert unpackaged(edited.file, PLUGIN) == ""
    project.write_text(PROJECT)
    (edited.source / "MANIFEST.in").write_text("recursive-include theirs *.toml\n")
    assert unpackaged(edited.file, PLUGIN) == ""


def test_a_module_carries_no_data(edited):
    (edited.file.parent / "__init__.py").unlink()
    assert "py-modules carry no data, so make the module a package" in unpackaged(
        edited.file, PLUGIN
    )


def test_a_file_of_an_installed_wheel_is_in_its_record(edited):
    (edited.info / "direct_url.json").unlink()
    site = edited.info.parent
    (site / "theirs").mkdir()
    for name in ("__init__.py", "tasks.toml"):
        (site / "theirs" / name).touch()
    (edited.info / "RECORD").write_text("theirs/__init__.py,,\ntheirs/tasks.toml,,\n")
    assert unpackaged(site / "theirs" / "tasks.toml", PLUGIN) == ""
    assert "is no file of irplatform-theirs" in unpackaged(edited.file, PLUGIN)


def _system(*packages):
    return SimpleNamespace(traits=lambda options: Traits(packages=packages), options=dict)


def test_packages_that_nothing_requires_are_remarked(edited):
    assert remarks_on_requirements(PLUGIN, [_system("torch")]) == []
    assert remarks_on_requirements(PLUGIN, [_system("torch", "rerankers")]) == [
        "traits() names rerankers, which nothing requires: require it"
    ]
    unbound = Plugin("theirs", "irplatform-theirs", "1.0")
    assert remarks_on_requirements(unbound, []) == [
        "require the irplatform that you tried: >=0.2,<0.3"
    ]


def test_modules_that_are_not_promised_to_plugins_are_told_of(monkeypatch, tmp_path):
    code = "from irplatform.kit import tokenize\nfrom irplatform.text.tokenizer import pieces\n"
    (tmp_path / "theirs.py").write_text(code)
    monkeypatch.setattr(shipped, "_distribution", lambda plugin: object())
    monkeypatch.setattr(shipped, "package_files", lambda top: [tmp_path / f"{top}.py"])
    owners = {"theirs": [PLUGIN.distribution], "others": ["somebody's"]}
    monkeypatch.setattr(shipped, "distributions_of_packages", lambda: owners)
    (remark,) = remarks_on_imports(PLUGIN)
    assert remark.startswith("imports irplatform.text.tokenizer, which may change")
