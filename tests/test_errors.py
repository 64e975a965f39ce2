"""What is said of a name that nobody knows, and of numbers of things."""

import errno
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError

from irplatform.cli.failures import refused
from irplatform.errors import (
    ENDINGS,
    InputError,
    PlatformError,
    PluginError,
    counted,
    in_a_line,
    lacks_space,
    plugin_at_work,
    unknown,
)

FULL = Path("/dev/full")
MANY = [f"name-{n}" for n in range(20)]


@pytest.mark.parametrize(
    ("kind", "whole", "message"),
    [
        ("reranker", "", "unknown reranker 'delat'. Did you mean 'delta'?"),
        ("option", "bm25", "'delat' is no option of bm25. Did you mean 'delta'?"),
        ("group of features", "", "unknown group of features 'delat'. Did you mean 'delta'?"),
    ],
)
def test_it_is_told_of_what_it_should_have_been_a_part_if_of_anything(kind, whole, message):
    assert str(unknown(kind, "delat", ["delta", "drmm"], of=whole)) == message


def test_without_one_that_is_near_all_are_named_or_the_nearest():
    assert str(unknown("kind", "xyz", ["a", "b"])) == "unknown kind 'xyz'. Known: a, b."
    assert "The nearest: " in str(unknown("kind", "mean", MANY))
    assert "Known: " in str(unknown("kind", "0y0", MANY)), "what is not near is no suggestion"
    assert str(unknown("kind", "xyz", [], hint="Make one.")) == "unknown kind 'xyz'. Make one."


def test_a_number_is_not_nearly_another_one():
    topics = [str(n) for n in range(30, 10, -1)]
    told = "'99' is no topic of 'c'. Known: 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, …."
    assert str(unknown("topic", "99", topics, of="'c'")) == told
    assert str(unknown("topic", "9", ["19", "x", "2"])) == "unknown topic '9'. Known: 2, 19, x."


@pytest.mark.parametrize("text", ["No licence.", "No licence", " No\nlicence.\n"])
def test_what_others_say_goes_on_in_a_sentence_of_ours(text):
    assert in_a_line(OSError(text)) == "OSError: No licence"


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
    ("end", "told"),
    [
        (sys.exit, "SystemExit"),
        (lambda: sys.exit(3), "SystemExit: 3"),
        (_panic, "Panic: index out of bounds"),
        (_dumb, "DumbError"),
    ],
)
def test_a_plugin_that_ends_the_program_is_named(end, told):
    with (
        pytest.raises(PluginError, match=rf"^reranker 'x' failed scoring: {told} \(.*test_errors"),
        plugin_at_work("reranker 'x'", "scoring", __name__),
    ):
        end()


WHO = "reranker 'x' of plugin 'y'"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InputError("no such list."), f"{WHO}: no such list."),
        (InputError("no list.", path="a.txt", line=3), f"{WHO}: a.txt:3: no list."),
        (InputError("no such\n\n  list."), f"{WHO}: no such list."),
        (PlatformError("no index."), f"{WHO}: no index."),
        (PluginError("reranker 'z' returned None."), "reranker 'z' returned None."),
    ],
)
def test_what_a_plugin_refuses_names_it_once(error, told):
    with (
        pytest.raises(type(error)) as refused,
        plugin_at_work("retriever 'outer' of plugin 'z'", "searching", __name__),
        plugin_at_work(WHO, "scoring", __name__),
    ):
        raise error
    assert str(refused.value) == told
    assert refused.value.exit_code == error.exit_code


def test_what_our_plugins_refuse_is_told_as_it_is():
    with (
        pytest.raises(InputError, match=r"^no such list\.$"),
        plugin_at_work(WHO, "scoring", __name__, as_told=True),
    ):
        raise InputError("no such list.")


@pytest.mark.parametrize("ending", ENDINGS)
def test_ctrl_c_ends_the_program_all_the_same(ending):
    with (
        pytest.raises(ending),
        plugin_at_work("reranker 'x'", "scoring", __name__),
    ):
        raise ending


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
        plugin_at_work(WHO, "y", ""),
    ):
        write(full)
    assert lacks_space(raised.value)
    assert refused(raised.value).startswith("no space is left on the disk")


@pytest.mark.parametrize(
    "error",
    [
        SafetensorError("I/O error: No space left on device (os error 28)"),
        sqlite3.OperationalError("database or disk is full"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
    ],
)
def test_a_full_disk_is_known_in_other_words(error):
    assert lacks_space(error)


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "Input/output error"), PluginError("No space left on device")]
)
def test_other_errors_are_no_full_disk(error):
    assert not lacks_space(error)


def test_one_thing_is_told_in_the_singular():
    told = [counted(number, "topic") for number in (0, 1, 2, 1204)]
    assert told == ["0 topics", "1 topic", "2 topics", "1,204 topics"]
