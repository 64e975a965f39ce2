"""Where work is done: no more threads than cores, and a process that is left as it was."""

import warnings

import pytest
import torch

from irplatform.system.arithmetic import choose_device, settings_kept
from irplatform.system.workers import within_cores


@pytest.mark.parametrize(("wanted", "used"), [(1, 1), (4, 4), (5, 4), (100_000, 4)])
def test_there_are_no_more_threads_than_cores(monkeypatch, capsys, wanted, used):
    monkeypatch.setattr("irplatform.system.workers.available_cores", lambda: 4)
    assert within_cores("--model-threads", wanted) == used
    told = f"--model-threads {wanted} is more than the cores here: 4 are used\n"
    assert capsys.readouterr().err == ("" if wanted == used else told)


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
