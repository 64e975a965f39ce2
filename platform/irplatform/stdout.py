"""Standard output belongs to results: what plugins print goes to stderr meanwhile.

`--json` promises one JSON object on stdout, which a single `print` in a plugin would break. Plugins
get streams of their own, so that none can close, detach or replace those of the platform. In a
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import ReadableBuffer

_NAMES = ("stdout", "stderr", "__stdout__", "__stderr__")
_lock = threading.Lock()
_before: list[dict[str, TextIO | None]] = []
"""The streams before each block that is open, in any thread. The first are the platform's; the last
block that ends puts them back: one that ends while another thread's is open does not."""
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
    """Within it, what Python code prints to stdout goes to stderr."""
    with _lock:
        if not _before and _in_command.is_set():
            _redirect_descriptor()
        _before.append({name: getattr(sys, name) for name in _NAMES})
        _lend()
    try:
        yield
    finally:
        with _lock:
            platforms = _before[0]
            _before.pop()
            if _before:
                _lend()  # whoever goes on gets no stream that this one left unusable
            else:
                _set(platforms)
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


def _lend() -> None:
    """Hand out new streams that write to the platform's stderr."""
    stderr = _before[0]["stderr"]
    _set({name: stderr if stderr is None else _stream_to(stderr) for name in _NAMES})


def _set(streams: dict[str, TextIO | None]) -> None:
    for name, stream in streams.items():
        setattr(sys, name, stream)


def _stream_to(stderr: TextIO) -> TextIO:
    return io.TextIOWrapper(  # without a buffer, as those of `python -u`
        _Passage(stderr),  # type: ignore[type-var]
        encoding="utf-8",
        errors="backslashreplace",
        write_through=True,
    )


class _Passage(io.RawIOBase):
    """Passes UTF-8 on to a text stream; closing it closes neither."""

    def __init__(self, to: TextIO) -> None:
        self._to = to
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: ReadableBuffer, /) -> int:
        held = bytes(data)
        self._to.write(self._decoder.decode(held))
        self._to.flush()
        return len(held)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._to.isatty()

    def fileno(self) -> int:
        return self._to.fileno()

    def close(self) -> None:
        """Stay open: a wrapper of somebody else closes it when it is collected."""
