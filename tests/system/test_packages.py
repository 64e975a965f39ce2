"""A plugin that ends programs when it is loaded is named, and Ctrl-C ends the command."""

from importlib import metadata

import pytest

from irplatform.registry.loading import load
from irplatform.system.process import command


@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "GeneratorExit", "SystemExit"])
def test_what_ends_programs_names_the_plugin_that_raises_it(tmp_path, monkeypatch, raised):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"ending_{raised}.py").write_text(f"raise {raised}\n")
    point = metadata.EntryPoint("odd", f"ending_{raised}", "irplatform")
    with command():
        (plugin,) = load([point]).plugins
    assert plugin.error.startswith(raised)


def test_ctrl_c_while_plugins_load_ends_the_command(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "waiting.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    point = metadata.EntryPoint("odd", "waiting", "irplatform")
    with pytest.raises(KeyboardInterrupt), command():
        load([point])
