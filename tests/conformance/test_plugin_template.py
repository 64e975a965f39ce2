"""New plugins of all kinds can be installed as they are written, and pass their tests."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from strangers import platform_with

import irplatform
from irplatform.cli.plugins import KINDS
from irplatform.conformance import template
from irplatform.conformance.template import new_plugin
from irplatform.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
USED = {
    "reranker": "reranker {}",
    "trainable": "reranker {}",
    "neural": "reranker {}",
    "retriever": "retriever {}",
    "collection": "collection {}",
    "measure": "measure WordOverlap2{}",
    "features": "feature group {}",
    "knowledge": "knowledge format {}",
    "task": "tasks tasks.toml",
    "judge": "judge {}",
}
NAMES = {kind: f"word-overlap-2{kind}" for kind in USED}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The packages of a plugin of every kind."""
    place = tmp_path_factory.mktemp("sources")
    return {kind: new_plugin(name, place, kind).folder for kind, name in NAMES.items()}


@pytest.fixture(scope="module")
def call(sources, tmp_path_factory):
    """Call a module of Python where all of them are installed."""
    target = tmp_path_factory.mktemp("installed")
    install = ["pip", "install", "--quiet", "--disable-pip-version-check", "--isolated"]
    install += ["--no-cache-dir", "--no-index", "--no-deps", "--no-build-isolation"]
    copies = tmp_path_factory.mktemp("copies") / "all"  # building leaves files
    for source in sources.values():
        shutil.copytree(source, copies / source.name)
    install += ["--target", str(target), *map(str, copies.iterdir())]
    path = os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])

    def call(*arguments, cwd=target):
        process = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    call(*install)
    return call


def test_there_is_a_template_for_every_kind():
    files = {path.stem for path in Path(template.__file__).with_name("templates").glob("*.txt")}
    assert [*KINDS] == [*USED]
    assert files == {*KINDS, "package"}


@pytest.mark.parametrize("kind", USED)
def test_the_folder_has_what_a_package_needs(sources, kind):
    source = sources[kind]
    assert source.name == f"irplatform-{NAMES[kind]}"
    module = NAMES[kind].replace("-", "_")
    code = [f"irplatform_{module}.py"]
    if kind == "task":
        code = [f"irplatform_{module}/__init__.py", f"irplatform_{module}/tasks.toml"]
    expected = ["LICENSE", "README.md", *code, "pyproject.toml", f"tests/test_{module}.py"]
    assert sorted(p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file()) == [
        *expected
    ]


@pytest.mark.parametrize("kind", USED)
def test_it_asks_for_the_contract_it_is_made_for(sources, kind):
    project = tomllib.loads((sources[kind] / "pyproject.toml").read_text())["project"]
    extra = "[neural]" if kind == "neural" else ""
    assert project["dependencies"] == [f"irplatform{extra}>=0.2,<0.3"]
    assert Version(irplatform.__version__) in SpecifierSet(">=0.2,<0.3")
    assert project["optional-dependencies"] == {"test": ["pytest>=8"]}


@pytest.mark.parametrize("kind", USED)
def test_its_code_is_short(sources, kind):
    (module,) = (*sources[kind].glob("*.py"), *sources[kind].glob("irplatform_*/*.py"))
    lines = [line for line in module.read_text().splitlines() if line.strip()]
    assert 7 <= len(lines) <= (90 if kind == "neural" else 55)


def test_all_are_found(call):
    entries = json.loads(call("irplatform", "plugins", "list", "--json"))["plugins"]
    provides = {entry["name"]: entry["provides"] for entry in entries}
    for kind, name in NAMES.items():
        word = USED[kind].format(kind if kind == "measure" else name)
        assert [system.casefold() for system in provides[name]] == [word.casefold()]


@pytest.mark.java
def test_their_tests_pass(call, sources):
    """All at once, which is sooner; they check the contract, too."""
    output = call("pytest", "-q", "-p", "no:cacheprovider", *map(str, sources.values()))
    last = output.splitlines()[-1]
    assert "passed" in last
    assert not {"failed", "skipped", "warning"}.intersection(last.split())


def test_they_are_typed_and_linted(call, sources):
    pytest.importorskip("mypy")
    modules = [str(module) for source in sources.values() for module in source.rglob("*.py")]
    call("mypy", *modules, cwd=ROOT)  # with the settings and the cache of `make types`: quick
    call("ruff", "check", "--no-cache", *map(str, sources.values()))
    call("ruff", "format", "--check", "--no-cache", *map(str, sources.values()))


@pytest.mark.parametrize("name", ["Mine", "my_ranker", "-x", "2nd", "a--b", "../x", ""])
def test_a_name_that_cannot_be_one_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="cannot name a plugin"):
        new_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is already a reranker 'delta'"):
        new_plugin("delta", tmp_path, taken={"reranker": ["delta"]})
    with pytest.raises(InputError, match="there is already a plugin 'shelf'"):
        new_plugin("shelf", tmp_path, taken={"plugin": ["shelf"]})
    with pytest.raises(InputError, match="there is already a measure 'MyCount'"):
        new_plugin("my-count", tmp_path, "measure", {"measure": ["MyCount"]})
    with pytest.raises(InputError, match="there is already a module 'irplatform_encoders'"):
        new_plugin("encoders", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["biencoder", "dual", "demo", "lucene", "strange"])
def test_the_name_of_a_plugin_is_refused_whatever_it_registers(tmp_path, name):
    process = platform_with("", tmp_path, "plugins", "new", name, "--in", "new", cwd=tmp_path)
    assert process.returncode == 2
    assert f"there is already a plugin '{name}'; choose another name." in process.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["fused", "mine-alone", "mine-seed7", "none", "options"])
def test_a_name_that_the_platform_or_python_gave_away_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=f"'{name}' already has another meaning"):
        new_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_where_it_is_interrupted(tmp_path, monkeypatch):
    def interrupted(self, *arguments, **keywords):
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
