"""A package that is installed and fails while it is imported is named, with its extra."""

import os
import pickle
import subprocess
import sys
from importlib import import_module, metadata

import pytest

from irplatform.errors import InputError
from irplatform.registry.loading import load
from irplatform.registry.plugin_calls import plugin_call
from irplatform.registry.session import load_plugin
from irplatform.system.packages import CORE, EXTRAS, failure, missing_extra, package_of
from irplatform.workers.pool import Work, packed, result_of

MODULES = {module: extra for extra in reversed(EXTRAS) for module in EXTRAS[extra]}
"""The modules, with the first extra that brings them."""
RAISED = [
    "ImportError('libgomp.so.1: undefined symbol')",
    "OSError('libcudart.so.12: cannot open shared object file')",
    "ValueError('libcublas.so.*[0-9] not found in the system path')",
    "RuntimeError('operator torchvision::nms does not exist')",
    "AttributeError('module has no attribute')",
    "KeyError('PATH')",
]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package with some code, in place of the true one."""
    monkeypatch.syspath_prepend(tmp_path)

    names = []

    def install(module, code):
        monkeypatch.delitem(sys.modules, module, raising=False)
        folder = tmp_path.joinpath(*module.split("."))
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(code)
        names.append(module)

    yield install
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("raised", RAISED)
@pytest.mark.parametrize("module", MODULES)
def test_the_package_and_its_extra_are_named(installed, module, raised):
    installed(module, f"raise {raised}")
    with pytest.raises(Exception) as caught:
        import_module(module)
    message = missing_extra(caught.value, "this command")
    begins = f"this command needs {package_of(module)} (extra '{MODULES[module]}'), which is ins"
    assert message.startswith(begins)
    assert raised.partition("'")[2].partition("'")[0] in message
    assert message.endswith("Install it again. `platform doctor` imports all packages.")


@pytest.mark.parametrize("raised", RAISED[:3])
@pytest.mark.parametrize("module", CORE)
def test_a_package_of_the_core_is_named(installed, module, raised):
    installed(module, f"raise {raised}")
    with pytest.raises(Exception) as caught:
        import_module(module)
    message = missing_extra(caught.value)
    assert message.startswith(
        f"this command needs {package_of(module)}, which is installed, but fails"
    )
    assert message.endswith("Install it again. `platform doctor` imports all packages.")


def test_a_package_of_the_core_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    message = missing_extra(ModuleNotFoundError("No module named 'yaml'", name="yaml"))
    assert message == "this command needs PyYAML. Run pip install PyYAML."


def test_a_name_that_the_core_has_not_is_the_fault_of_who_imports_it(installed):
    installed("mine", "from numpy import trapezium")
    with pytest.raises(ImportError) as caught:
        import_module("mine")
    assert missing_extra(caught.value) == ""


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_a_command_without_the_core_ends_in_a_line(installed, tmp_path, module):
    installed(module, "raise OSError('libgfortran.so.5')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "irplatform", "run", "--collection", "demo"]
    process = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stderr.count("\n")) == (2, 1)
    assert process.stderr.startswith(f"platform: this command needs {module}, which is installed")


def test_a_system_that_needs_the_package_is_named(installed):
    installed("lightgbm", "raise OSError('libgomp.so.1')")
    with (
        pytest.raises(InputError, match=r"^reranker 'x' needs lightgbm \(extra 'ltr'\).*libgomp"),
        plugin_call("reranker 'x'", "learning", __name__),
    ):
        import_module("lightgbm")


def test_a_package_that_imports_a_broken_one_is_not_to_blame(installed):
    installed("torch", "raise OSError('libcudart.so.12')")
    installed("sentence_transformers", "import torch")
    assert failure("sentence_transformers") == ("torch", "OSError: libcudart.so.12")
    assert failure("json") is None


def test_a_plugin_that_imports_a_broken_package_is_told_what_it_needs(installed, tmp_path):
    installed("torch", "raise OSError('libcudart.so.12')")
    installed("mine", "import torch")
    (plugin,) = load([metadata.EntryPoint("mine", "mine", "irplatform")]).plugins
    needs = "it needs torch (extra 'neural'), which is installed, but fails while it is imported"
    assert plugin.error.startswith(f"{needs}: OSError: libcudart.so.12. Install it again.")
    with pytest.raises(InputError, match="this plugin cannot be used: it needs torch"):
        load_plugin(tmp_path / "mine" / "__init__.py")


def test_a_worker_tells_what_it_needs(installed):
    installed("spacy", "raise ValueError('numpy.dtype size changed')")
    answer = Work(packed(import_module)).answer(pickle.dumps("spacy"))
    with pytest.raises(InputError, match=r"needs spacy \(extra 'concepts'\).*dtype size changed"):
        result_of(*pickle.loads(answer))


def test_an_error_of_a_package_that_was_imported_is_not_one_of_its_installation(installed):
    installed("torch", "def load():\n    raise OSError('no such file of weights')")
    with pytest.raises(OSError, match="weights") as caught:
        import_module("torch").load()
    assert missing_extra(caught.value) == ""
