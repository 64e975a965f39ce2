"""What is said of a name that nobody knows, and of numbers of things."""

import errno
import os
import sqlite3

import pytest
from safetensors import SafetensorError

from irplatform.errors import (
    PlatformError,
    PluginError,
    counted,
    in_a_line,
    lacks_space,
    nearest,
    place_of,
    printable,
    sentence,
    unknown,
)

MANY = [f"name-{n}" for n in range(20)]


@pytest.mark.parametrize(
    ("kind", "owner", "message"),
    [
        ("reranker", "", "unknown reranker 'delat'. Did you mean 'delta'?"),
        ("option", "bm25", "'delat' is not an option of bm25. Did you mean 'delta'?"),
        ("group of features", "", "unknown group of features 'delat'. Did you mean 'delta'?"),
    ],
)
def test_it_is_told_of_what_it_should_have_been_a_part_if_of_anything(kind, owner, message):
    assert str(unknown(kind, "delat", ["delta", "drmm"], of=owner)) == message


def test_without_one_that_is_near_all_are_named():
    assert str(unknown("kind", "xyz", ["a", "b"])) == "unknown kind 'xyz'. Known: a, b."
    assert "Known: " in str(unknown("kind", "mean", MANY)), "what is not near is no suggestion"
    assert "Known: " in str(unknown("kind", "0y0", MANY)), "what is not near is no suggestion"
    assert str(unknown("kind", "xyz", [], hint="Make one.")) == "unknown kind 'xyz'. Make one."


def test_a_number_is_not_nearly_another_one():
    topics = [str(n) for n in range(30, 10, -1)]
    message = (
        "'99' is not a topic of 'c'. Known: 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, …."
    )
    assert str(unknown("topic", "99", topics, of="'c'")) == message
    assert str(unknown("topic", "9", ["19", "x", "2"])) == "unknown topic '9'. Known: 2, 19, x."


@pytest.mark.parametrize("text", ["No licence.", "No licence", " No\nlicence.\n"])
def test_what_others_say_goes_on_in_a_sentence_of_ours(text):
    assert in_a_line(OSError(text)) == "OSError: No licence"


def test_control_characters_of_others_reach_no_terminal():
    line = in_a_line(OSError("\x1b[31mred\x1b[0m\x00\x7f\x9b2J,\ta\r\nnew line"))
    assert line == r"OSError: \x1b[31mred\x1b[0m\x00\x7f\x9b2J," + "\ta new line"
    assert printable("two\nlines\tof “é”\u200b😀") == "two\nlines\tof “é”\u200b😀"


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
    counts = [counted(number, "topic") for number in (0, 1, 2, 1204)]
    assert counts == ["0 topics", "1 topic", "2 topics", "1,204 topics"]


@pytest.mark.parametrize("text", ["It is wrong", "Did you mean 'x'?", "It is wrong.", "no!"])
def test_a_sentence_ends_with_one_mark(text):
    assert sentence(text) in (text, f"{text}.")
    assert not sentence(text).endswith(("..", "?.", "!."))


def _from(error, cause):
    error.__cause__ = cause
    return error


def _system(number, name="/x/y"):
    return OSError(number, os.strerror(number), name)


@pytest.mark.parametrize(
    "error",
    [
        _system(errno.ENOSPC),
        _system(errno.EDQUOT, None),
        _system(errno.EROFS),
        _system(errno.EACCES),
        _from(ConnectionError("the download ended"), _from(ValueError("x"), _system(errno.EDQUOT))),
        RuntimeError("All download sources failed", [("mirror", _system(errno.EACCES))]),
        RuntimeError("Internal error: No space left on device (os error 28)"),
        "ERROR: [Errno 30] Read-only file system: '/x/y'",
        "tar: write error: No space left on device",
    ],
    ids=str,
)
def test_what_a_disk_refused_is_found_in_an_error_or_in_words(error):
    with pytest.raises(OSError, match=r"space|quota|Read-only|Permission denied"):
        PlatformError.raise_refusal(error)


@pytest.mark.parametrize(
    "error",
    [
        ConnectionError("Max retries exceeded"),
        _system(errno.EACCES, None),  # a connection that is not permitted
        _system(errno.ENOENT),
        RuntimeError("All sources failed", [("mirror", _system(errno.ECONNREFUSED, None))]),
        PluginError("it says: No space left on device"),
        "ERROR: (Caused by: [Errno 13] Permission denied')': /simple/",
        "",
    ],
    ids=str,
)
def test_what_no_disk_refused_is_left_to_the_caller(error):
    PlatformError.raise_refusal(error)


def test_a_place_outside_of_notebooks_is_file_and_line():
    assert place_of("plugin.py", 8) == "plugin.py:8"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("trec-rag-2026", "trec-rag-2026-retrieval"),
        ("trec-rag-2027", "trec-rag-2026-retrieval"),
        ("trec-ragtime-2026", "trec-ragtime-2026-mlir"),
        ("trec", ""),
    ],
)
def test_the_nearest_name_may_have_more_words(name, near):
    assert nearest(name, ["trec-ragtime-2026-mlir", "trec-rag-2026-retrieval"]) == near
