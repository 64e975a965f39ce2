"""Where work is done: no more threads than cores, and a process that is left as it was."""

import importlib
import sys
import warnings

import pytest
import torch

from irplatform.system.arithmetic import choose_device, settings_kept
from irplatform.workers.distribution import within_cores


@pytest.mark.parametrize(("setting", "threads"), [(1, 1), (4, 4), (5, 4), (100_000, 4)])
def test_there_are_no_more_threads_than_cores(monkeypatch, capsys, setting, threads):
    monkeypatch.setattr("irplatform.workers.distribution.available_cores", lambda: 4)
    assert within_cores("model_threads", setting) == threads
    message = f"model_threads={setting} is more than the cores here: 4 are used\n"
    assert capsys.readouterr().err == ("" if setting == threads else message)


def _work():
    """What a run changes in a process."""
    choose_device("cpu", 1)
    warnings.filterwarnings("ignore", message="nothing")


@pytest.mark.parametrize("fails", [False, True])
def test_a_process_is_left_as_it_was(fails):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    filters = [*warnings.filters]
    try:
        with settings_kept():
            _work()
            assert torch.get_num_threads() == 1
            if fails:
                raise KeyError
    except KeyError:
        assert fails
    assert (torch.get_num_threads(), warnings.filters) == (2, filters)
    torch.set_num_threads(before)


STANDS_FOR_TORCH = """
from types import SimpleNamespace
backends = SimpleNamespace(cudnn=SimpleNamespace(allow_tf32=True))
threads = 7
def get_num_threads():
    return threads
def set_num_threads(number):
    global threads
    threads = number
"""


def test_torch_is_not_imported_for_the_cpu_and_has_its_threads_when_a_plugin_does(
    monkeypatch, tmp_path
):
    (tmp_path / "torch.py").write_text(STANDS_FOR_TORCH)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch")
    with settings_kept():
        assert choose_device("cpu", 3) == "cpu"
        assert "torch" not in sys.modules
        imported = importlib.import_module("torch")
        assert imported.threads == 3
    assert imported.threads == 7


def test_torch_is_left_as_it_is_after_a_command_that_did_not_import_it(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text(STANDS_FOR_TORCH)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch")
    with settings_kept():
        choose_device("cpu", 3)
    assert importlib.import_module("torch").threads == 7
