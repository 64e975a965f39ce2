"""Standard output belongs to results: what plugins print goes to stderr meanwhile.

`--json` promises one JSON object on stdout, which a single `print` in a plugin would break. Plugins
get streams of their own, so that none can close, detach or replace those of the platform.
"""

from __future__ import annotations

import codecs
import io
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import ReadableBuffer

_NAMES = ("stdout", "stderr", "__stdout__", "__stderr__")
_lock = threading.Lock()
_before: list[dict[str, TextIO | None]] = []
"""The streams before each block that is open, in any thread. The first are the platform's; the last
block that ends puts them back: one that ends while another thread's is open does not."""


@contextmanager
def to_stderr() -> Iterator[None]:
    """Within it, what Python code prints to stdout goes to stderr."""
    with _lock:
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
