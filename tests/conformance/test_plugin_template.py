"""A new plugin can be installed as it is written, is found, passes its tests and its check."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from strangers import platform_with

import irplatform
from irplatform.conformance.template import new_plugin
from irplatform.errors import InputError

WITHOUT_TORCH = """
[[tool.mypy.overrides]]
module = "torch.*"
follow_imports = "skip"
"""
"""For mypy's settings: what a new plugin has nothing of takes most of the time."""


@pytest.fixture
def written(tmp_path):
    """As it is written, for each test: installing, testing and checking leave files in it."""
    return new_plugin("word-overlap-2", tmp_path)


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """Call a module of Python where the plugin is installed."""
    target = tmp_path_factory.mktemp("installed")
    source = new_plugin("word-overlap-2", tmp_path_factory.mktemp("source"))
    install = ["pip", "install", "--quiet", "--disable-pip-version-check", "--isolated"]
    install += ["--no-cache-dir", "--no-index", "--no-deps", "--no-build-isolation"]
    install += ["--target", str(target), str(source)]
    path = os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])
    platform = str(Path(irplatform.__file__).parents[1])  # mypy finds no editable installation

    def call(*arguments, cwd=target):
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": path, "MYPYPATH": platform},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    call(*install)
    return call


def test_the_folder_has_what_a_package_needs(written):
    assert written.name == "irplatform-word-overlap-2"
    assert sorted(p.relative_to(written).as_posix() for p in written.rglob("*.*")) == [
        "irplatform_word_overlap_2.py",
        "pyproject.toml",
        "tests/test_word_overlap_2.py",
    ]


def test_its_reranker_is_found_with_its_option(call):
    shown = json.loads(call("irplatform", "rerankers", "show", "word-overlap-2", "--json"))
    assert shown["distribution"] == "irplatform-word-overlap-2"
    assert [option["name"] for option in shown["options"]] == ["title"]


def test_its_tests_pass(call, written):
    assert "2 passed" in call("pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=written)


def test_it_is_typed_and_linted(call, written):
    pytest.importorskip("mypy")
    settings = written.with_name("mypy.toml")
    settings.write_text((written / "pyproject.toml").read_text() + WITHOUT_TORCH)
    mypy = ("mypy", "--config-file", str(settings), "--follow-imports", "silent")
    call(*mypy, "irplatform_word_overlap_2.py", cwd=written)
    call("ruff", "check", "--no-cache", ".", cwd=written)
    call("ruff", "format", "--check", "--no-cache", ".", cwd=written)


@pytest.mark.java
def test_it_keeps_the_contract(call):
    told = call("irplatform", "plugins", "check", "word-overlap-2")
    assert told == "reranker word-overlap-2: keeps the contract\n"


@pytest.mark.parametrize("name", ["Mine", "my_ranker", "-x", "2nd", "a--b", "../x", ""])
def test_a_name_that_cannot_be_one_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="cannot name a plugin"):
        new_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is already a reranker 'delta'"):
        new_plugin("delta", tmp_path, rerankers=["delta"])
    with pytest.raises(InputError, match="there is already a plugin 'shelf'"):
        new_plugin("shelf", tmp_path, plugins=["shelf"])
    with pytest.raises(InputError, match="there is already a module 'irplatform_encoders'"):
        new_plugin("encoders", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["biencoder", "dual", "demo", "lucene", "strange"])
def test_the_name_of_a_plugin_is_refused_whatever_it_registers(tmp_path, name):
    done = platform_with("", tmp_path, "plugins", "new", name, "--in", "new", cwd=tmp_path)
    assert done.returncode == 2
    assert f"there is already a plugin '{name}'; choose another name." in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["fused", "mine-alone", "mine-seed7", "none", "options"])
def test_a_name_that_the_platform_or_python_gave_away_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=f"'{name}' already has another meaning"):
        new_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_where_it_is_interrupted(tmp_path, monkeypatch):
    def interrupted(self, *arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        new_plugin("mine", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_as_it_is(tmp_path):
    (tmp_path / "irplatform-mine").mkdir()
    with pytest.raises(InputError, match="exists already; nothing was written"):
        new_plugin("mine", tmp_path)
    assert list((tmp_path / "irplatform-mine").iterdir()) == []
