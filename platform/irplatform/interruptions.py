"""Ctrl-C and SIGTERM, which end a command wherever they come.

Python raises an exception where the signal finds it. Some places lose it: finalizers drop what is
raised in them, and libraries turn it into an error of their own. So it is remembered, and raised
again at the next place that asks: whenever a plugin has done something, and when work advances.

Python can raise nothing while a library computes or waits, which may be for minutes. A command
that is still there `GRACE` seconds after a signal ends at once, as after SIGKILL, which loses
nothing that was finished.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Terminated(KeyboardInterrupt):
    """SIGTERM, which batch systems send: everything is left as after Ctrl-C."""


INTERRUPTED = (128 + signal.SIGINT, 128 + signal.SIGTERM)
"""The exit codes of commands that a signal ended."""
GRACE = 1.5
"""Seconds for a command to end in order."""
MESSAGE = (
    "platform: interrupted; what was finished is kept, and the same command goes on from there."
)

_come: list[type[KeyboardInterrupt]] = []
"""What has come and has not ended the command yet."""
_watching: list[int] = []
"""The process in which all that comes is remembered."""


@contextmanager
def ending(say: Callable[[str], None]) -> Iterator[None]:
    """Within it, signals end the work, also where a library loses what they raise.

    For the main thread of a program.

    Args:
        say: writes a last line where the process is ended in the middle of something.
    """
    process = os.getpid()
    _watching.append(process)
    before: dict[int, Any] = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, _raising(Terminated, process))
    }
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        handler = _raising(KeyboardInterrupt, process)
        before[signal.SIGINT] = signal.signal(signal.SIGINT, handler)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    over = threading.Event()
    late = threading.Thread(target=_end_late, args=(reading, over, set(before), say), daemon=True)
    try:
        late.start()
    except RuntimeError:  # no thread is allowed: signals raise all the same
        os.close(reading)
    else:
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(-1)
        os.close(writing)  # which ends the thread
        if late.ident is not None:
            late.join(1)  # one that lives longer than Python aborts the process if memory is short
        for number, handler in before.items():
            signal.signal(number, handler)
        _come.clear()
        _watching.clear()


def is_meant(error: BaseException) -> bool:
    """Whether an error ends the program: not where code raises it of which no signal has come."""
    return isinstance(error, KeyboardInterrupt) and (bool(_come) or _watching != [os.getpid()])


def _end_late(
    reading: int, over: threading.Event, numbers: set[int], say: Callable[[str], None]
) -> None:
    """End the process where it does not end itself in time after one of these signals.

    Args:
        reading: a pipe to which the system writes the number of each signal as it comes.
        over: set when the command has ended.
        numbers: the signals.
        say: writes a last line.
    """
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while received := pipe.read(1):
            if received[0] in numbers and not over.wait(GRACE):
                say(MESSAGE)
                os._exit(128 + received[0])


def raise_lost() -> None:
    """Raise what has come and was lost on its way.

    Raises:
        KeyboardInterrupt: Ctrl-C has come; or `Terminated`, SIGTERM.
    """
    if _come and threading.current_thread() is threading.main_thread():
        raise _come[0]


def _raising(kind: type[KeyboardInterrupt], process: int) -> Callable[[int, object], None]:
    """A handler that raises in this process; in those that are forked from it, it ends them."""

    def handle(number: int, _frame: object) -> None:
        if os.getpid() != process:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        # `timeout` and batch systems send SIGTERM twice, to us and to our group; the second one
        # would cut short what the first one tidies up.
        if kind is Terminated and kind in _come:
            return
        _come.append(kind)
        raise kind

    return handle
