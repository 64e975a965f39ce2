"""What a plugin changes of the whole process is told, and put back; what libraries do is not."""

import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from irplatform.conformance.data import Watch

CHANGES = {
    "the working directory is / instead of ": lambda: os.chdir("/"),
    "the state of Python's random generator is different ": lambda: random.seed(42),
    "the state of numpy's random generator is different ": lambda: np.random.seed(42),
    "the state of torch's random generator is different ": lambda: torch.manual_seed(42),
    "the error state of numpy is {'divide': 'raise', ": lambda: np.seterr(divide="raise"),
    "the default type of torch is torch.float64 instead of torch.float32 ": lambda: (
        torch.set_default_dtype(torch.float64)
    ),
    "the grad mode of torch is False instead of True ": lambda: torch.set_grad_enabled(False),
    "the number of threads of torch is 3 instead of ": lambda: torch.set_num_threads(3),
}


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("told", "change"), CHANGES.items(), ids=CHANGES)
def test_a_change_is_told_once_with_what_was_done(told, change):
    watch = Watch()
    with watch.during("score()"):
        change()
    with watch.during("score()"):
        change()
    (line,) = watch.changes
    assert line.startswith(told)
    assert line.endswith(" after score()")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_all_but_generators_is_put_back(change):
    watch, after = Watch(), Watch()
    with after.during("a whole check"), watch.during("score()"):
        change()
    assert [line for line in after.changes if "random generator" not in line] == []


@pytest.mark.parametrize("draw", [random.random, np.random.random, lambda: torch.rand(1)])
def test_a_draw_is_a_change(draw):
    watch = Watch()
    with watch.during("score()"):
        draw()
    assert "random generator" in watch.changes[0]


def test_networks_draw_from_torch_alone():
    watch = Watch()
    with watch.during("fit()", networks=True):
        torch.manual_seed(1)
        torch.nn.Linear(2, 2)
        random.random()
    assert watch.changes == ["the state of Python's random generator is different after fit()"]


def test_what_leaves_nothing_behind_is_nothing():
    watch = Watch()
    with watch.during("score()"):
        with torch.no_grad(), np.errstate(all="ignore"):
            random.Random(1).random()
        np.random.default_rng(1).random()
    assert watch.changes == []


def test_what_a_library_draws_at_its_first_import_is_its_own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    Path(tmp_path / "a_library.py").write_text("import random\nrandom.random()\n")
    watch = Watch()
    with watch.during("prepare()"):
        import a_library  # noqa: F401
    assert watch.changes == []
    with watch.during("prepare()"):
        random.random()
    assert len(watch.changes) == 1
    del sys.modules["a_library"]


def test_an_error_passes_and_what_it_left_is_told():
    watch = Watch()
    with pytest.raises(KeyError), watch.during("score()"):
        random.random()
        raise KeyError
    assert len(watch.changes) == 1
