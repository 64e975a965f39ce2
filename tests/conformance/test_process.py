"""What a plugin changes of the whole process is told, and put back; what libraries do is not."""

import os
import random
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from irplatform.conformance.watch import Watch

CHANGES = {
    "the working directory is / instead of ": lambda: os.chdir("/"),
    "the state of Python's random generator is different ": lambda: random.seed(42),
    "the state of numpy's random generator is different ": lambda: np.random.seed(42),
    "the state of torch's random generator is different ": lambda: torch.manual_seed(42),
    "the error state of numpy is {'divide': 'raise'} instead of {'divide': ": lambda: np.seterr(
        divide="raise"
    ),
    "the default type of torch is torch.float64 instead of torch.float32 ": lambda: (
        torch.set_default_dtype(torch.float64)
    ),
    "the grad mode of torch is False instead of True ": lambda: torch.set_grad_enabled(False),
    "the number of threads of torch is 3 instead of ": lambda: torch.set_num_threads(3),
    "the determinism of torch is True instead of False ": lambda: (
        torch.use_deterministic_algorithms(True)
    ),
    "the matrix precision of torch is medium instead of highest ": lambda: (
        torch.set_float32_matmul_precision("medium")
    ),
    "the default device of torch is meta instead of cpu ": lambda: torch.set_default_device("meta"),
    "the table torch.backends.cudnn is {'benchmark': True} instead of {'benchmark': False} ": (
        lambda: setattr(torch.backends.cudnn, "benchmark", True)
    ),
    "the environment is {'A_PLUGINS': '1'} instead of {} ": lambda: os.environ.update(
        {"A_PLUGINS": "1"}
    ),
    "the table of signal handlers is ": lambda: signal.signal(signal.SIGUSR1, print),
}


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("message", "change"), CHANGES.items(), ids=CHANGES)
def test_a_change_is_told_once_with_what_was_done(message, change):
    watch = Watch()
    with watch.during("score()"):
        change()
    with watch.during("score()"):
        change()
    (line,) = watch.changes
    assert line.startswith(message)
    assert " after score(): " in line


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
    (line,) = watch.changes
    assert line.startswith("the state of Python's random generator is different after fit(): draw")


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


def test_what_a_library_sets_in_the_environment_at_its_import_is_its_own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    Path(tmp_path / "setting_library.py").write_text(
        "import os\nos.environ['OF_A_LIBRARY'] = '1'\n"
    )
    watch = Watch()
    with watch.during("prepare()"):
        import setting_library  # noqa: F401
    assert watch.changes == []
    del sys.modules["setting_library"]
    os.environ.pop("OF_A_LIBRARY", None)


READER = """
import os
import sqlite3
from pathlib import Path

def text(path):
    return Path(path).read_text()

def packaged():
    return (Path(__file__).parent / "words.toml").read_text()

def table(path):
    return sqlite3.connect(path).execute("select 1").fetchall()

def written(path, time=None):
    Path(path).write_text("a")
    if time:  # a file system whose clock is behind
        os.utime(path, (time, time))
    return Path(path).read_text()
"""


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A plugin's package that reads files."""
    package = tmp_path / "reading_plugin"
    package.mkdir()
    (package / "__init__.py").write_text(READER)
    (package / "words.toml").write_text("a = 1")
    for name in ("words.txt", "numbers.db"):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (1, 1))
    monkeypatch.syspath_prepend(tmp_path)
    import reading_plugin

    yield reading_plugin
    del sys.modules["reading_plugin"]


def _remarks(reader, call, *declared):
    system = type("System", (), {"__module__": reader.__name__})
    watch = Watch()
    watch.look_at(
        SimpleNamespace(registration=SimpleNamespace(system=system), files=lambda: declared)
    )
    with watch.during("prepare()"):
        call()
    return watch.remarks


def test_a_file_that_is_not_declared_is_remarked(reader, tmp_path):
    words, numbers = tmp_path / "words.txt", tmp_path / "numbers.db"
    (line,) = _remarks(reader, lambda: reader.text(words))
    assert line.startswith(
        f"prepare() reads {words}, and results stay in the cache when it changes"
    )
    assert len(_remarks(reader, lambda: reader.table(numbers))) == 1
    (line,) = _remarks(reader, reader.packaged)  # a change of a TOML file changes no digest
    assert "reading_plugin/words.toml" in line


def test_a_file_that_is_declared_or_made_meanwhile_or_read_by_others_is_not(reader, tmp_path):
    words = tmp_path / "words.txt"
    assert _remarks(reader, lambda: reader.text(words), words) == []
    assert _remarks(reader, lambda: reader.text(words), tmp_path) == []
    assert _remarks(reader, lambda: reader.written(tmp_path / "new.txt")) == []
    assert _remarks(reader, lambda: reader.written(tmp_path / "old.txt", 1)) == []
    assert _remarks(reader, words.read_text) == []
    assert _remarks(reader, lambda: reader.text("/proc/cpuinfo")) == []
