"""What Linux has and other systems, or sandboxes, lack is hidden: the platform finds a way out."""

import errno
import os
import sys
from pathlib import Path

import filelock  # noqa: F401 - before locks are hidden, since it looks for them once
import numpy as np
import psutil
import pytest

from irplatform.errors import InputError
from irplatform.files.cache import artifact
from irplatform.files.locks import lock
from irplatform.lucene.java import check_heap
from irplatform.run_folder.environment import describe_platform
from irplatform.run_folder.folder import alone_in
from irplatform.system import arithmetic
from irplatform.text.arrays import new_matrix
from irplatform.training.checkpoints import _link_or_copy
from irplatform.workers.distribution import available_cores, memory, within_cores


@pytest.fixture
def without_proc(monkeypatch):
    opened = Path.open

    def missing(path, *arguments, **keywords):
        if path.is_relative_to("/proc"):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return opened(path, *arguments, **keywords)

    monkeypatch.setattr(Path, "open", missing)
    monkeypatch.setattr(psutil, "PROCFS_PATH", "/nowhere")


@pytest.fixture(params=["missing", "of another kind"])
def without_locks(request, monkeypatch):
    import fcntl

    def unable(*_):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    if request.param == "missing":
        monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(fcntl, "flock", unable)


def test_without_affinity_all_cores_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert (available_cores(), within_cores("threads", 8)) == (3, 3)


def test_a_system_that_does_not_count_its_cores_has_one(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


def test_without_proc_a_run_says_that_the_memory_is_unknown(without_proc):
    assert memory() is None
    described = describe_platform()["hardware"]
    assert described["ram"] == "unknown"
    assert described["cpu"]["model"]


def test_without_proc_any_heap_is_taken_that_java_may_take(without_proc):
    check_heap("800m")
    check_heap("900g")
    with pytest.raises(InputError, match="'12m' is not a size of 64m or more"):
        check_heap("12m")


def test_a_machine_with_known_memory_bounds_the_heap():
    with pytest.raises(InputError, match=r"from 64m to \d+m, this machine's memory"):
        check_heap("900000g")


@pytest.mark.parametrize("machine", ["arm64", "aarch64"])
def test_another_processor_computes_in_its_own_way(machine, monkeypatch):
    system = os.uname()
    monkeypatch.setattr(os, "uname", lambda: type(system)((*system[:4], machine)))
    _is_native(monkeypatch)


@pytest.mark.parametrize("system", ["darwin", "freebsd14"])
def test_another_system_computes_in_its_own_way(system, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    _is_native(monkeypatch)


def test_a_processor_that_is_hidden_computes_in_its_own_way(without_proc, monkeypatch):
    _is_native(monkeypatch)


def _is_native(monkeypatch):
    for name in arithmetic.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    arithmetic.configure_libraries()
    assert arithmetic.arithmetic() == {}
    monkeypatch.setenv(arithmetic.VARIABLE, "portable")
    with pytest.raises(InputError, match="this is not an x86-64 processor with AVX2 under Linux"):
        arithmetic.check_arithmetic()


def test_without_locks_a_run_folder_is_written_to(without_locks, tmp_path):
    with alone_in(tmp_path):
        (tmp_path / "my.run").write_text("1 Q0 d 1 0.5 my\n")


@pytest.mark.filterwarnings("ignore:.*flock")
def test_without_locks_of_the_kernel_the_cache_is_locked_by_a_file(
    without_locks, fresh_home, tmp_path
):
    vectors = artifact("vectors", "m", {}, lambda place: (place / "v").write_text("1"))
    assert (vectors.path / "v").read_text() == "1"
    with lock(tmp_path / "item") as first, lock(tmp_path / "item") as second:
        assert (first, second) == (True, False)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_disk_without_locks_is_told_and_another_asked_for(number, tmp_path, monkeypatch):
    import fcntl

    def unable(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", unable)
    with alone_in(tmp_path):
        pass
    with (
        pytest.raises(InputError, match=f"{os.strerror(number)}. Set IRPLATFORM_HOME to a folder"),
        lock(tmp_path / "item"),
    ):
        pass


@pytest.mark.parametrize("lacks", ["the function", "the file system's help"])
def test_space_that_cannot_be_reserved_is_written(lacks, tmp_path, monkeypatch):
    def unable(*_):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    if lacks == "the function":
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    else:
        monkeypatch.setattr(os, "posix_fallocate", unable, raising=False)
    path = tmp_path / "matrix.npy"
    matrix = new_matrix(path, (100_000, 10))
    assert path.stat().st_blocks * 512 >= 4_000_000
    matrix[-1] = 1
    matrix.flush()
    array = np.load(path)
    assert (array.shape, array.sum()) == ((100_000, 10), 10)


def test_a_file_system_without_links_gets_copies(tmp_path, monkeypatch):
    def unable(*_):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", unable)
    (tmp_path / "a").write_text("weights")
    _link_or_copy(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (tmp_path / "b").read_text() == "weights"
