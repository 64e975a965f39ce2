"""What goes wrong in a plugin is told with its name, unless somebody ends the program."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from irplatform.cli.failures import refused
from irplatform.errors import InputError, PlatformError, PluginError, lacks_space
from irplatform.registry.plugin_calls import ENDINGS, plugin_call

FULL = Path("/dev/full")


class Panic(BaseException):
    """As a library in Rust raises it."""


class DumbError(RuntimeError):
    """As a mistake in a class of errors makes it."""

    def __str__(self):
        raise KeyError("no text")


def _panic():
    raise Panic("index out of bounds")


def _dumb():
    raise DumbError


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (sys.exit, "SystemExit"),
        (lambda: sys.exit(3), "SystemExit: 3"),
        (_panic, "Panic: index out of bounds"),
        (_dumb, "DumbError"),
    ],
)
def test_a_plugin_that_ends_the_program_is_named(end, reason):
    with (
        pytest.raises(
            PluginError, match=rf"^reranker 'x' failed scoring: {reason} \(.*plugin_calls"
        ),
        plugin_call("reranker 'x'", "scoring", __name__),
    ):
        end()


WHO = "reranker 'x' of plugin 'y'"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("no such list."), f"{WHO}: no such list."),
        (InputError("no list.", path="a.txt", line=3), f"{WHO}: a.txt:3: no list."),
        (InputError("no such\n\n  list."), f"{WHO}: no such list."),
        (PlatformError("no index."), f"{WHO}: no index."),
        (PluginError("reranker 'z' returned None."), "reranker 'z' returned None."),
    ],
)
def test_what_a_plugin_refuses_names_it_once(error, message):
    with (
        pytest.raises(type(error)) as refused,
        plugin_call("retriever 'outer' of plugin 'z'", "searching", __name__),
        plugin_call(WHO, "scoring", __name__),
    ):
        raise error
    assert str(refused.value) == message
    assert refused.value.exit_code == error.exit_code


def test_what_our_plugins_refuse_is_told_as_it_is():
    with (
        pytest.raises(InputError, match=r"^no such list\.$"),
        plugin_call(WHO, "scoring", __name__, as_told=True),
    ):
        raise InputError("no such list.")


@pytest.mark.parametrize("ending", ENDINGS)
def test_ctrl_c_ends_the_program_all_the_same(ending):
    with (
        pytest.raises(ending),
        plugin_call("reranker 'x'", "scoring", __name__),
    ):
        raise ending


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_ctrl_c_comes_to_another_thread_so_that_it_is_the_plugins_failure(ending):
    def work():
        with (
            pytest.raises(PluginError, match=ending.__name__),
            plugin_call("reranker 'x'", "scoring", __name__),
        ):
            raise ending

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def _numpy(full):
    np.save(full, np.zeros(100_000))


def _python(full):
    full.write_bytes(b"x" * 100_000)


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("write", [_numpy, _python])
def test_a_full_disk_is_no_plugins_fault_whoever_writes_there(write, tmp_path):
    full = tmp_path / "w.npy"
    full.symlink_to(FULL)
    with (
        pytest.raises(Exception, match=r"No space|written") as raised,
        plugin_call(WHO, "y", ""),
    ):
        write(full)
    assert lacks_space(raised.value)
    assert refused(raised.value).startswith("no space is left on the disk")
