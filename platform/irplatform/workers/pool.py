"""Processes that work on items in parallel, and end with the process that started them.

Each worker has its own pipe, and nothing else is shared that a killed worker could leave locked or
half-written. Processes are spawned, since a fork of a Java virtual machine or of torch's threads
hangs. They import this package and nothing of the caller's script, and ignore Ctrl-C.

No wait is endless but that for a function which works on: a thread looks at the processes, ends the
pipe of a dead one, which a process that it started may hold open, and kills a stopped one.
"""

from __future__ import annotations

import atexit
import ctypes
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import contextmanager, suppress
from functools import cached_property
from multiprocessing.connection import wait
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from irplatform.errors import InputError, PlatformError, in_a_line, place_of
from irplatform.spelling import for_command, write_for_command
from irplatform.system import console
from irplatform.system.packages import missing_extra
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    import psutil

Item = TypeVar("Item")
Result = TypeVar("Result")
_NO_MORE = b""
LOOK = 1.0
"""Seconds between looks at the processes."""
_STOPPED = 60.0
"""Seconds that a process may be stopped (SIGSTOP) before it is killed."""
_ENDING = 5.0
"""Seconds that processes have to end when all is done; a plugin's threads may never end."""
_WITH_PARENT = 1
"""Linux's PR_SET_PDEATHSIG: a signal at the parent's end, even while a library computes."""
_REPORT = None
"""Begins a notice or progress of a worker, where a result begins with True, an error with False."""


class WorkerKilledError(Exception):
    """A worker ended without an answer; the text says how, and what to do."""


class _InWorkerError(Exception):
    """A worker's traceback as text: the object cannot be sent."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Workers(Generic[Item, Result]):
    """Processes that apply one function of a module to items, one item at a time each.

    A context manager: at the end of the block the processes end; an error in it kills them.
    """

    def __init__(self, function: Callable[[Item], Result], count: int) -> None:
        self._content = packed(function)
        self._count = count
        self._processes: dict[Connection, BaseProcess] = {}
        self._idle: list[Connection] = []
        self._new: set[Connection] = set()
        self._at_work: dict[Connection, int] = {}
        self._killed = threading.Event()
        self._stopped = False
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        atexit.register(self.kill)  # else Python waits for the workers of an unfinished generator
        try:
            for _ in range(self._count):
                self._start()
            self._watcher.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        try:
            if error is None:
                for pipe in self._processes:
                    with suppress(OSError):  # it was killed
                        pipe.send_bytes(_NO_MORE)
                end = time.monotonic() + _ENDING
                for process in self._processes.values():
                    process.join(max(0.0, end - time.monotonic()))
        finally:
            self.kill()

    @property
    def idle(self) -> bool:
        """A worker waits for an item."""
        return bool(self._idle)

    def give(self, number: int, item: Item) -> None:
        """Send an item to an idle worker; its result comes back with this number."""
        pipe = self._idle.pop()
        self._at_work[pipe] = number
        message = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        try:
            if pipe in self._new:
                self._new.remove(pipe)
                pipe.send_bytes(self._content)
            pipe.send_bytes(message)
        except OSError:
            raise self._ended(self._processes[pipe]) from None

    def results(self) -> Iterator[tuple[int, Result]]:
        """Yield results with the numbers of their items; wait until a worker answers.

        WorkerKilledError if one was killed. An error of the function has the worker's traceback as
        its cause.
        """
        ready = wait(list(self._at_work))
        for pipe in [pipe for pipe in self._at_work if pipe in ready]:
            try:
                answer = pipe.recv_bytes()
            except (EOFError, OSError):
                raise self._ended(self._processes[pipe]) from None
            status, result, trace = pickle.loads(answer)
            if status is _REPORT:
                console.take_report(str(id(pipe)), *result)
                continue
            console.take_report(str(id(pipe)), "progress", None)
            result = result_of(status, result, trace)
            self._idle.append(pipe)
            yield self._at_work.pop(pipe), result

    def result(self) -> Result:
        """Return the result of the only item."""
        while True:
            for _, result in self.results():
                return result

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        pipe, worker_end = context.Pipe()
        process = context.Process(target=_work, args=(worker_end,))
        with _anonymous_main(), isolated():  # the process's own prints go to stderr
            try:
                process.start()
            except BrokenPipeError:
                raise self._ended(process) from None
        worker_end.close()  # else its end would not be seen from here
        self._processes[pipe] = process
        self._new.add(pipe)
        self._idle.append(pipe)

    def _ended(self, process: BaseProcess) -> WorkerKilledError:
        process.join(LOOK)
        return WorkerKilledError(_how_ended(process.exitcode, stopped=self._stopped))

    def _watch(self) -> None:
        import psutil

        since: dict[int, float] = {}
        while not self._killed.wait(LOOK):
            for pipe, process in [*self._processes.items()]:
                with suppress(psutil.Error, OSError):
                    system_process = psutil.Process(process.pid)
                    if system_process.status() == psutil.STATUS_ZOMBIE:
                        with socket.socket(fileno=os.dup(pipe.fileno())) as connection:
                            connection.shutdown(socket.SHUT_RDWR)
                    elif stopped_too_long(system_process, since):
                        self._stopped = True
                        process.kill()

    def kill(self) -> None:
        """End all workers at once."""
        atexit.unregister(self.kill)
        self._killed.set()
        if self._watcher.is_alive():
            self._watcher.join()
        for process in self._processes.values():
            process.kill()
        for pipe, process in self._processes.items():
            process.join()
            pipe.close()
        self._processes.clear()


def stopped_too_long(process: psutil.Process, since: dict[int, float]) -> bool:
    """Tell if a process has been stopped (SIGSTOP) for a minute; `since` keeps when that began."""
    now = time.monotonic()
    if process.status() != "stopped":
        since.pop(process.pid, None)
        return False
    return now - since.setdefault(process.pid, now) > _STOPPED


def _how_ended(exit_code: int | None, *, stopped: bool) -> str:
    """Say how a worker ended, and what to do."""
    if stopped:
        return f"was stopped (SIGSTOP) for {_STOPPED:.0f} s. Run again."
    if exit_code in (None, -signal.SIGKILL):
        return "was killed, perhaps because memory ran out. Run again with fewer workers."
    if exit_code >= 0:
        return f"ended with exit code {exit_code}: a plugin or a library ended it."
    name = signal.Signals(-exit_code).name
    return f"was ended by {name}. PYTHONFAULTHANDLER=1 shows where, if a library did it."


@contextmanager
def _anonymous_main() -> Iterator[None]:
    # A spawned process runs the caller's script again unless it has no file; a script or notebook
    # without `if __name__ == "__main__"` would start workers without end.
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _work(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # only Linux has it
        ctypes.CDLL(None).prctl(_WITH_PARENT, signal.SIGKILL)
    messages: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, messages), daemon=True).start()
    sending = threading.Lock()

    def report(kind: str, content: object) -> None:
        with sending, suppress(OSError):
            pipe.send_bytes(pickle.dumps((_REPORT, (kind, content), "")))

    console.report_to(report)
    function = messages.get()  # nothing, if there were fewer items than workers
    work = Work(function)
    with suppress(OSError):  # the other process has ended
        while function and (message := messages.get()):
            answer = work.answer(message)
            with sending:
                pipe.send_bytes(answer)


def _receive(pipe: Connection, messages: SimpleQueue[bytes]) -> None:
    """Read messages during work, to notice at once that the other process has ended."""
    with suppress(EOFError, OSError):
        while True:
            messages.put(pipe.recv_bytes())
    os._exit(1)


def packed(function: Callable[[Any], Any]) -> bytes:
    """Return a function, and for whom messages are written, for `Work`."""
    return pickle.dumps((for_command(), function), pickle.HIGHEST_PROTOCOL)


class Work:
    """A packed function in a worker, which may keep what it makes for one item for the next."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    @cached_property
    def _function(self) -> Callable[[Any], Any]:
        try:
            called, function = pickle.loads(self._content)
            write_for_command(called)
        except BaseException as error:  # a plugin's module failed, here alone
            raise _explained("cannot import its work", error) from error
        return cast("Callable[[Any], Any]", function)

    def answer(self, message: bytes) -> bytes:
        """Return the pickled result of an item, or the error; see `result_of`."""
        try:
            return pickle.dumps(
                (True, self._function(pickle.loads(message)), ""), pickle.HIGHEST_PROTOCOL
            )
        except BaseException as error:
            trace = traceback.format_exc()
            failure = error if isinstance(error, Exception) else _explained("was ended", error)
            if missing := missing_extra(error):  # seen from frames, which are not sent
                failure = InputError(missing)
            try:
                answer = pickle.dumps((False, failure, trace), pickle.HIGHEST_PROTOCOL)
                pickle.loads(answer)  # some errors can be written and not read
            except Exception:
                return pickle.dumps((False, RuntimeError(str(error)), trace))
            return answer


def _explained(outcome: str, error: BaseException) -> PlatformError:
    """An error of a worker that would otherwise show a traceback, or end the program silently."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    place = place_of(frame.f_code.co_filename, line)
    return PlatformError(f"a worker process {outcome}: {in_a_line(error)} ({place})")


def result_of(success: bool, result: Any, trace: str) -> Any:
    """Return a worker's result, or raise its error, caused by the traceback there."""
    if not success:
        raise result from _InWorkerError(trace)
    return result
