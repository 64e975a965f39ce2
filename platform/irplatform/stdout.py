"""Standard output belongs to results: what plugins print goes to stderr meanwhile.

`--json` promises one JSON object on stdout, which a single `print` in a plugin would break. In a
command, file descriptor 1 leads to stderr as well, for C libraries and programs that they start.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from irplatform import console

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import ReadableBuffer

_lock = threading.Lock()
_before: list[TextIO] = []
"""The stdout before each block that is open, in any thread. The first is the platform's; the last
block that ends puts it back: one that ends while another thread's is open does not."""
_in_command = threading.Event()
"""Whether a command runs. A program that calls the API keeps its file descriptor 1."""
_results: list[int] = []
"""A duplicate of file descriptor 1, while that leads to stderr."""


@contextmanager
def of_a_command() -> Iterator[None]:
    """Within it, `to_stderr` leads file descriptor 1 to stderr as well."""
    _in_command.set()
    try:
        yield
    finally:
        _in_command.clear()


@contextmanager
def to_stderr() -> Iterator[None]:
    """Within it, what Python code prints to stdout goes to stderr, above the progress line."""
    with _lock:
        if not _before and _in_command.is_set():
            _redirect_descriptor()
        _before.append(sys.stdout)
        sys.stdout = io.TextIOWrapper(  # without a buffer, as that of `python -u`
            _Passage(),
            encoding="utf-8",
            errors="backslashreplace",
            write_through=True,
        )
    try:
        yield
    finally:
        with _lock:
            platforms = _before[0]
            _before.pop()
            if not _before:
                sys.stdout = platforms
                _give_descriptor_back()


def finish() -> None:
    """Give stdout up for good: whatever goes on at the end of the process prints to stderr."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):  # Python flushes once more when it ends, and says so
        return
    _redirect_descriptor()
    _results.clear()
    sys.stdout = sys.stderr


def say_text(text: str = "") -> None:
    """Print sentences for people to stdout; on a terminal lines end between words."""
    console.say(console.wrapped(text, console.terminal_width(sys.stdout)))


def _redirect_descriptor() -> None:
    """Lead file descriptor 1 to stderr, where it is that of stdout."""
    with suppress(OSError):  # streams of tests and notebooks have none
        if sys.stdout.fileno() == 1:
            _results.append(os.dup(1))
            os.dup2(sys.stderr.fileno(), 1)


def _give_descriptor_back() -> None:
    while _results:
        _flush_libraries()
        os.dup2(_results[-1], 1)
        os.close(_results.pop())


def _flush_libraries() -> None:
    """Write what C libraries printed: they hold it back where stdout is no terminal."""
    import ctypes

    with suppress(OSError, TypeError, AttributeError):  # Windows has no library of that name
        ctypes.CDLL(None).fflush(None)


class _Passage(io.RawIOBase):
    """Passes UTF-8 on to stderr; closing it does not close that."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: ReadableBuffer, /) -> int:
        held = bytes(data)
        console.write(self._decoder.decode(held))
        return len(held)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return sys.stderr.isatty()

    def fileno(self) -> int:
        return sys.stderr.fileno()

    def close(self) -> None:
        """Stay open: what wraps it closes it when that is collected."""
