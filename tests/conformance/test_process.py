"""What a plugin changes of the whole process is told, and put back; what libraries do is not."""

import locale
import os
import random
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from irplatform.conformance.process import Watch


def _set_environment():
    os.environ["SHELF_HOME"] = "secret"


def _handle():
    signal.signal(signal.SIGUSR1, lambda *_: None)


CHANGES = {
    "the working directory is / instead of ": lambda: os.chdir("/"),
    "os.environ is another one (SHELF_HOME) ": _set_environment,
    "the list of warnings filters is another one ": lambda: warnings.simplefilter("ignore"),
    "the table of signal handlers is another one (SIGUSR1) ": _handle,
    "the locale is another one (LC_NUMERIC) ": lambda: locale.setlocale(
        locale.LC_NUMERIC, "C.UTF-8"
    ),
    "the state of Python's random generator ": lambda: random.seed(42),
    "the state of numpy's random generator ": lambda: np.random.seed(42),
    "the state of torch's random generator ": lambda: torch.manual_seed(42),
    "the error state of numpy is another one (divide, over) ": lambda: np.seterr(
        divide="raise", over="ignore"
    ),
    "the default type of torch is torch.float64 instead of torch.float32 ": lambda: (
        torch.set_default_dtype(torch.float64)
    ),
    "the grad mode of torch is False instead of True ": lambda: torch.set_grad_enabled(False),
    "the number of threads of torch is 3 instead of ": lambda: torch.set_num_threads(3),
    "the use of deterministic algorithms in torch is True instead of False ": lambda: (
        torch.use_deterministic_algorithms(True)
    ),
    "torch.backends.cudnn.benchmark is True instead of False ": lambda: setattr(
        torch.backends.cudnn, "benchmark", True
    ),
}


@pytest.fixture(autouse=True)
def _process_as_it_comes():
    """Another test may have started a JVM, which takes the locale of the environment's `LANG`."""
    numeric, threads = locale.setlocale(locale.LC_NUMERIC), torch.get_num_threads()
    locale.setlocale(locale.LC_NUMERIC, "C")
    torch.set_num_threads(1)
    yield
    locale.setlocale(locale.LC_NUMERIC, numeric)
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("told", "change"), CHANGES.items(), ids=CHANGES)
def test_a_change_is_told_once_with_what_was_done(told, change):
    watch = Watch()
    with watch.during("score()"):
        change()
    with watch.during("score()"):
        change()
    (line,) = watch.told
    assert line.startswith(told)
    assert line.endswith(" after score()")
    assert "secret" not in line


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_all_but_generators_is_put_back(change):
    watch, after = Watch(), Watch()
    with after.during("a whole check"), watch.during("score()"):
        change()
    assert [line for line in after.told if "random generator" not in line] == []


@pytest.mark.parametrize("draw", [random.random, np.random.random, lambda: torch.rand(1)])
def test_a_draw_is_a_change(draw):
    watch = Watch()
    with watch.during("score()"):
        draw()
    assert "random generator" in watch.told[0]


def test_networks_draw_from_torch_alone():
    watch = Watch()
    with watch.during("fit()", networks=True):
        torch.manual_seed(1)
        torch.nn.Linear(2, 2)
        random.random()
    assert watch.told == ["the state of Python's random generator is another one after fit()"]


def test_what_leaves_nothing_behind_is_nothing():
    watch = Watch()
    with watch.during("score()"):
        with torch.no_grad(), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
        random.Random(1).random()
        np.random.default_rng(1).random()
    assert watch.told == []


def test_what_a_library_does_at_its_first_import_is_its_own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    Path(tmp_path / "a_library.py").write_text(
        "import os, random\nos.environ['A_LIBRARY'] = '1'\nrandom.random()\n"
    )
    watch = Watch()
    with watch.during("prepare()"):
        import a_library  # noqa: F401
    assert watch.told == []
    assert "A_LIBRARY" not in os.environ
    with watch.during("prepare()"):
        os.environ["A_LIBRARY"] = "1"
    assert len(watch.told) == 1
    del sys.modules["a_library"]


def test_an_error_passes_and_what_it_left_is_told():
    watch = Watch()
    with pytest.raises(KeyError), watch.during("score()"):
        os.environ["SHELF_HOME"] = "secret"
        raise KeyError
    assert len(watch.told) == 1
