"""Events, commands and results of plugins."""

from pathlib import Path

import pytest

from irplatform.cli.main import Commands
from irplatform.plugin import RunEvent
from irplatform.registry.loading import load

LISTENING = """
from irplatform.plugin import hookimpl
heard = []

@hookimpl
def run_started(event):
    heard.append(event.collection)

@hookimpl
def run_finished():
    heard.append("finished")
"""


def test_life_cycle_hooks_are_called_and_a_failing_one_is_named(install, tmp_path, capsys):
    failing = LISTENING.replace("heard.append(event.collection)", "raise OSError('deaf')")
    plugins = load((*install("a", failing), *install("b", LISTENING)))
    event = RunEvent("demo", ("bm25",), tmp_path)
    plugins.announce("run_started", event)
    plugins.announce("run_finished", event)
    (listener,) = (p for p in plugins.manager.get_plugins() if "module_b" in p.__name__)
    assert listener.heard == ["demo", "finished"]
    notice = capsys.readouterr().err
    assert "plugin 'a' (irplatform-a 1.5): run_started failed: OSError: deaf (" in notice
    assert f"module_a_{tmp_path.name}.py:7, in run_started)" in notice


@pytest.mark.parametrize("file", ["bm25.run", "bm25.run.gz"])
def test_an_event_names_the_file_of_a_run_compressed_or_not(tmp_path, file):
    (tmp_path / file).touch()
    assert RunEvent("demo", ("bm25",), tmp_path, runs=("bm25",)).file("bm25") == tmp_path / file


def test_hooks_are_called_in_the_order_that_they_ask_for(install, tmp_path, capsys):
    code = """
from irplatform.plugin import hookimpl

@hookimpl({order})
def run_finished():
    print(__name__[:8])
"""
    orders = {"a": "", "b": "trylast=True", "c": "tryfirst=True"}
    installed = [install(name, code.format(order=order)) for name, order in orders.items()]
    registry = load(tuple(plugin for plugins in installed for plugin in plugins))
    registry.announce("run_finished", RunEvent("demo", ("bm25",), tmp_path))
    assert capsys.readouterr().err.split() == ["module_c", "module_a", "module_b"]


WANDERING = """
import os
from irplatform.plugin import hookimpl

os.chdir("/")

@hookimpl
def register_measures(register):
    os.chdir("/")

@hookimpl
def run_started(event):
    os.chdir("/")
    1 / 0
"""


def test_no_plugin_moves_the_paths_of_users(install, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plugins = load(install("wandering", WANDERING))
    assert (plugins.broken, Path.cwd()) == ([], tmp_path)
    plugins.announce("run_started", RunEvent("demo", ("bm25",), Path("relative")))
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize("error", ["SystemExit", "BaseException"])
def test_an_event_hook_that_ends_the_program_is_named_and_the_rest_go_on(
    install, tmp_path, capsys, error
):
    ending = LISTENING.replace("heard.append(event.collection)", f"raise {error}(3)")
    plugins = load((*install("a", ending), *install("b", LISTENING)))
    plugins.announce("run_started", RunEvent("demo", ("bm25",), tmp_path))
    (listener,) = (p for p in plugins.manager.get_plugins() if "module_b" in p.__name__)
    assert listener.heard == ["demo"]
    notice = f"plugin 'a' (irplatform-a 1.5): run_started failed: {error}: 3"
    assert notice in capsys.readouterr().err


def test_a_plugin_that_cannot_add_its_command_is_named(install, capsys):
    code = (
        "from irplatform.plugin import hookimpl\n"
        "@hookimpl\ndef register_commands(cli):\n    raise TypeError('no')\n"
    )
    plugins = load(install("broken", code))
    plugins.add_commands(Commands())
    (failed,) = (plugin.failed for plugin in plugins.plugins)
    assert failed.startswith("register_commands failed: TypeError: no (")
    assert failed.endswith(".py:4, in register_commands)")
    assert failed in capsys.readouterr().err


def test_commands_are_among_what_a_plugin_provides(install):
    code = (
        "from irplatform.plugin import hookimpl\n"
        "@hookimpl\ndef register_commands(cli):\n    @cli.command('greet')\n    def f(): pass\n"
    )
    plugins = load(install("polite", code))
    plugins.add_commands(Commands())
    assert [(plugin.provides, plugin.failed) for plugin in plugins.plugins] == [
        (("command greet",), "")
    ]


@pytest.mark.parametrize("name", ["run", "greet"])
def test_a_command_belongs_to_who_came_first(install, capsys, name):
    code = (
        "from irplatform.plugin import hookimpl\n"
        "@hookimpl\ndef register_commands(cli):\n    @cli.command('run')\n    def f(): pass\n"
    ).replace("run", name)
    commands = Commands()
    load((*install("a", code), *install("b", code))).add_commands(commands)
    notice = capsys.readouterr().err
    message = f"register_commands failed: PluginError: there is a command '{name}' already ("
    assert f"plugin 'b' (irplatform-b 1.5): {message}" in notice.splitlines()[-1]
    assert ("plugin 'a'" in notice, list(commands.commands)) == (
        (True, []) if name == "run" else (False, ["greet"])
    )


RESULTS = """
from pathlib import Path
from irplatform.plugin import hookimpl

@hookimpl
def register_results(register):
    register(Path(__file__).with_suffix(".toml"))
"""


def test_a_plugin_ships_results(install, tmp_path):
    points = install("results", RESULTS)
    (broken,) = load(points).broken
    assert "does not exist" in broken.error
    (tmp_path / f"module_results_{tmp_path.name}.toml").touch()
    plugins = load(points)
    assert plugins.broken == []
    ((file, plugin),) = plugins.results.items()
    assert (file.suffix, plugin.name) == (".toml", "results")
    assert plugins.plugins[0].provides == (f"results {file.name}",)


def test_a_plugin_ships_tasks(install, tmp_path):
    points = install("tasks", RESULTS.replace("results", "tasks"))
    assert "does not exist" in load(points).broken[0].error
    (tmp_path / f"module_tasks_{tmp_path.name}.toml").touch()
    plugins = load(points)
    assert plugins.broken == []
    ((file, plugin),) = plugins.tasks.items()
    assert (file.suffix, plugin.name) == (".toml", "tasks")
