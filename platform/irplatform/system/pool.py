"""Processes that work on items in parallel, and end with the process that started them.

Each worker has its own pipe, and nothing else is shared that a killed worker could leave locked or
half-written. Processes are spawned, since a fork of a Java virtual machine or of torch's threads
hangs. They import this package and nothing of the caller's script, and ignore Ctrl-C.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from functools import cached_property
from multiprocessing.connection import wait
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from irplatform.system import console
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Item = TypeVar("Item")
Result = TypeVar("Result")
_NO_MORE = b""
_REPORT = None
"""Begins a notice or progress of a worker, where a result begins with True, an error with False."""


class WorkerKilledError(Exception):
    """A worker ended without an answer: it was killed, perhaps because memory ran out."""


class _InWorkerError(Exception):
    """A worker's traceback as text: the object cannot be sent."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Workers(Generic[Item, Result]):
    """Processes that apply one function of a module to items, one item at a time each.

    A context manager: at the end of the block the processes end; an error in it kills them.
    """

    def __init__(self, function: Callable[[Item], Result], count: int) -> None:
        self._sent = pickle.dumps(function, pickle.HIGHEST_PROTOCOL)
        self._count = count
        self._processes: dict[Connection, BaseProcess] = {}
        self._idle: list[Connection] = []
        self._new: set[Connection] = set()
        self._at_work: dict[Connection, int] = {}

    def __enter__(self) -> Self:
        atexit.register(self.kill)  # else Python waits for the workers of an unfinished generator
        try:
            for _ in range(self._count):
                self._start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        try:
            if error is None:
                for pipe, process in self._processes.items():
                    with suppress(OSError):  # it was killed
                        pipe.send_bytes(_NO_MORE)
                    process.join()
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
                pipe.send_bytes(self._sent)
            pipe.send_bytes(message)
        except OSError:
            raise WorkerKilledError from None

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
                raise WorkerKilledError from None
            done, result, where = pickle.loads(answer)
            if done is _REPORT:
                console.take_report(str(id(pipe)), *result)
                continue
            console.take_report(str(id(pipe)), "progress", None)
            result = result_of(done, result, where)
            self._idle.append(pipe)
            yield self._at_work.pop(pipe), result

    def result(self) -> Result:
        """Return the result of the only item."""
        while True:
            for _, result in self.results():
                return result

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs,))
        with _anonymous_main(), isolated():  # the process's own prints go to stderr
            process.start()
        theirs.close()  # else its end would not be seen from here
        self._processes[ours] = process
        self._new.add(ours)
        self._idle.append(ours)

    def kill(self) -> None:
        """End all workers at once."""
        atexit.unregister(self.kill)
        for process in self._processes.values():
            process.kill()
        for pipe, process in self._processes.items():
            process.join()
            pipe.close()
        self._processes.clear()


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
    messages: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, messages), daemon=True).start()
    sending = threading.Lock()

    def report(kind: str, content: object) -> None:
        with sending, suppress(OSError):
            pipe.send_bytes(pickle.dumps((_REPORT, (kind, content), "")))

    console.report_to(report)
    work = Work(messages.get())
    with suppress(OSError):  # the other process has ended
        while message := messages.get():
            answer = work.answer(message)
            with sending:
                pipe.send_bytes(answer)


def _receive(pipe: Connection, messages: SimpleQueue[bytes]) -> None:
    """Read messages during work, to notice at once that the other process has ended."""
    with suppress(EOFError, OSError):
        while True:
            messages.put(pipe.recv_bytes())
    os._exit(1)


class Work:
    """A pickled function in a worker, which may keep what it makes for one item for the next."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    @cached_property
    def _function(self) -> Callable[[Any], Any]:
        function: Callable[[Any], Any] = pickle.loads(self._sent)
        return function

    def answer(self, message: bytes) -> bytes:
        """Return the pickled result of an item, or the error; see `result_of`."""
        try:
            return pickle.dumps(
                (True, self._function(pickle.loads(message)), ""), pickle.HIGHEST_PROTOCOL
            )
        except BaseException as error:
            where = traceback.format_exc()
            try:
                answer = pickle.dumps((False, error, where), pickle.HIGHEST_PROTOCOL)
                pickle.loads(answer)  # some errors can be written and not read
            except Exception:
                return pickle.dumps((False, RuntimeError(str(error)), where))
            return answer


def result_of(done: bool, result: Any, where: str) -> Any:
    """Return a worker's result, or raise its error, caused by the traceback there."""
    if not done:
        raise result from _InWorkerError(where)
    return result
