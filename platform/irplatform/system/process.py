"""The process of a command: plugins cannot spoil its output, and signals end it in order.

While a plugin works, its prints go to stderr, and the working directory is restored afterwards. In
a command, file descriptor 1 leads to stderr as well, for C libraries and other programs. Finalizers
drop Ctrl-C and SIGTERM, and libraries turn them into other errors, so they are raised again when a
plugin returns or progress is made. While a library computes, Python can raise nothing: after
`GRACE` seconds the process ends, which loses nothing that was finished. A server ends in its own
time; see `serving`.
"""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from irplatform.errors import lost
from irplatform.system import console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import ReadableBuffer

INTERRUPTED = (128 + signal.SIGINT, 128 + signal.SIGTERM)
"""Exit codes of commands that a signal ended."""
GRACE = 1.5
"""Seconds for a command to end in order."""

_lock = threading.Lock()
_blocks: list[tuple[TextIO, Path | None]] = []
"""stdout and the working directory before each open block of `isolated`, in any thread. The last
block to end restores those of the first."""
_results: list[int] = []
"""A duplicate of file descriptor 1, while that leads to stderr."""
_command: list[int] = []
"""The process of the running command; empty in a program that calls the API."""
_signals: list[type[KeyboardInterrupt]] = []
"""Signals that have not ended the command yet."""
_temporary: list[bool] = []
"""Not empty while the command works in a cache that is removed."""
_serving: list[bool] = []
"""Not empty while the command is a server that answers."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which batch systems send; it ends a command as Ctrl-C does."""


@contextmanager
def isolated() -> Iterator[None]:
    """Send prints to stderr, restore the working directory, raise interruptions that were lost."""
    with _lock:
        if not _blocks and _command:
            _redirect_descriptor()
        _blocks.append((sys.stdout, _working_directory()))
        sys.stdout = io.TextIOWrapper(
            _ToStderr(), encoding="utf-8", errors="backslashreplace", write_through=True
        )
    try:
        yield
    finally:
        with _lock:
            stdout, directory = _blocks[0]
            _blocks.pop()
            if not _blocks:
                sys.stdout = stdout
                _restore_descriptor()
                if directory is not None and _working_directory() != directory:
                    os.chdir(directory)
        raise_lost()


def finish() -> None:
    """Give up stdout for good: threads that outlive the command print to stderr."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):  # Python flushes once more when it ends, and says so
        return
    _redirect_descriptor()
    _results.clear()
    sys.stdout = sys.stderr


@contextmanager
def command() -> Iterator[None]:
    """Run a command in the main thread: `isolated` moves descriptor 1, and signals end the work."""
    _temporary.clear()
    _command.append(os.getpid())
    console.at_each_step(raise_lost)
    handlers = {signal.SIGTERM: _raise(Terminated)}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        handlers[signal.SIGINT] = _raise(KeyboardInterrupt)
    before: dict[int, Any] = {number: signal.signal(number, h) for number, h in handlers.items()}
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    ended = threading.Event()
    watchdog = threading.Thread(target=_end_late, args=(reading, ended, {*before}), daemon=True)
    try:
        watchdog.start()
    except RuntimeError:  # no thread is allowed: signals raise all the same
        os.close(reading)
    else:
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        from irplatform import spelling

        with spelling.written_for_command():
            yield
    finally:
        ended.set()
        signal.set_wakeup_fd(-1)
        os.close(writing)  # which ends the thread
        if watchdog.ident is not None:
            watchdog.join(1)  # one that outlives Python aborts the process if memory is short
        for number, handler in before.items():
            signal.signal(number, handler)
        _signals.clear()
        _command.clear()


@contextmanager
def serving(on_signal: Callable[[int], None]) -> Iterator[None]:
    """Hand over Ctrl-C and SIGTERM to a server; nothing ends it but itself in the block."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, lambda number, _frame: on_signal(number)) for n in numbers}
    _serving.append(True)
    try:
        yield
    finally:
        _serving.pop()
        for number, handler in before.items():
            signal.signal(number, handler)


def keep_nothing() -> None:
    """Let `interrupted` say that the running command starts over: its cache is temporary."""
    _temporary.append(True)


def interrupted(lost: str = "") -> str:
    """Return the line for a command that a signal ended; `lost` is what starts over."""
    notice = "what was finished is kept, and the same command goes on from there."
    return f"platform: interrupted; {'nothing is kept.' if _temporary else f'{notice}{lost}'}"


def tell_kept(stop: KeyboardInterrupt) -> None:
    """Let IPython show in a line what an interrupted call of a notebook keeps."""
    if not _command:
        notice = "what was finished is kept, and the same call goes on from there."
        message = f"{type(stop).__name__}: {notice}{lost(stop)}"
        stop._render_traceback_ = lambda: [message]  # type: ignore[attr-defined]


def raise_lost() -> None:
    """Raise an interruption again that was lost on its way: KeyboardInterrupt or `Terminated`."""
    if _signals and threading.current_thread() is threading.main_thread():
        raise _signals[0]


def is_interruption(error: BaseException) -> bool:
    """Tell if an error ends the program; code may raise one without a signal."""
    return isinstance(error, KeyboardInterrupt) and (bool(_signals) or _command != [os.getpid()])


def _working_directory() -> Path | None:
    with suppress(FileNotFoundError):  # removed
        return Path.cwd()
    return None


def _redirect_descriptor() -> None:
    """Lead file descriptor 1 to stderr, if it is that of stdout."""
    with suppress(OSError):  # streams of tests and notebooks have none
        if sys.stdout.fileno() == 1:
            _results.append(os.dup(1))
            os.dup2(sys.stderr.fileno(), 1)


def _restore_descriptor() -> None:
    import ctypes

    while _results:
        with suppress(OSError, TypeError, AttributeError):  # no such library on Windows
            ctypes.CDLL(None).fflush(None)  # C libraries hold back what they printed
        os.dup2(_results[-1], 1)
        os.close(_results.pop())


class _ToStderr(io.RawIOBase):
    """Passes UTF-8 on to stderr."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: ReadableBuffer, /) -> int:
        content = bytes(data)
        console.write(self._decoder.decode(content))
        return len(content)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return sys.stderr.isatty()

    def fileno(self) -> int:
        return sys.stderr.fileno()

    def close(self) -> None:
        """Stay open: a plugin may keep the stream, or close it."""


def _raise(kind: type[KeyboardInterrupt]) -> Callable[[int, object], None]:
    """A handler that raises in the command's process; processes forked from it just end."""

    def handle(number: int, _frame: object) -> None:
        if _command != [os.getpid()]:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        # `timeout` and batch systems send SIGTERM twice, to us and to our group; the second one
        # would cut short what the first one tidies up.
        elif kind is not Terminated or kind not in _signals:
            _signals.append(kind)
            raise kind

    return handle


def _end_late(reading: int, ended: threading.Event, numbers: set[int]) -> None:
    """End the process if it still runs `GRACE` seconds after one of some signals.

    The system writes the number of each signal to the pipe. `ended` is set at the command's end.
    """
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while received := pipe.read(1):
            if received[0] in numbers and not _serving and not ended.wait(GRACE):
                console.end_with(interrupted())
                os._exit(128 + received[0])
