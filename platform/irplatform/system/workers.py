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
from itertools import chain, islice
from multiprocessing.connection import wait
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from irplatform.errors import PlatformError
from irplatform.system import console
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess


Item = TypeVar("Item")
Result = TypeVar("Result")
_NO_MORE = b""
_REPORT = None
"""In the place of whether an item is done: a notice, or how far the worker is."""
_WORTH_STARTING = 3
"""Fewer items are usually done sooner here than processes start."""


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def within_cores(option: str, threads: int) -> int:
    """Return a number of threads, limited to the cores here with a notice."""
    if threads <= (cores := available_cores()):
        return threads
    console.notice(f"{option} {threads} is more than the cores here: {cores} are used")
    return cores


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of a size; the last one may be shorter. `itertools.batched` of Python 3.12."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def batched_by_size(
    items: Iterable[Item], size_of: Callable[[Item], int], most: int
) -> Iterator[list[Item]]:
    """Yield lists of items whose sizes sum to at most a limit; a larger item stands alone."""
    batch: list[Item] = []
    total = 0
    for item in items:
        size = size_of(item)
        if batch and total + size > most:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch


def sample_evenly(items: Sequence[Item], most: int) -> Sequence[Item]:
    """Return all items or, of more than `most`, every n-th with the smallest n that suffices."""
    return items[:: max(1, -(-len(items) // most))]


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    fewest: int = _WORTH_STARTING,
) -> Iterator[Result]:
    """Apply a function to every item of a stream, in parallel; results come in order.

    It is a function of a module of this package. Items are read only as far as needed. Fewer than
    `fewest` items, or one worker, stay in this process. PlatformError if a worker was killed.
    """
    workers = available_cores() if workers is None else workers
    stream = iter(items)
    first = list(islice(stream, fewest))
    if workers <= 1 or len(first) < fewest:
        yield from map(function, chain(first, stream))
        return
    try:
        with Workers(function, workers) as pool:
            yield from _in_order(pool, chain(first, stream), ahead=2 * workers)
    except WorkerKilledError as error:
        raise PlatformError(
            "a worker process was killed, perhaps because memory ran out. Run again with fewer "
            "workers."
        ) from error


def _in_order(
    pool: Workers[Item, Result], items: Iterable[Item], *, ahead: int
) -> Iterator[Result]:
    """Results in the order of the items, of which `ahead` are begun before the first is done."""
    done: dict[int, Result] = {}
    sent = yielded = 0
    for item in items:
        while not pool.idle or sent - yielded > ahead:
            done.update(pool.results())
            while yielded in done:
                yield done.pop(yielded)
                yielded += 1
        pool.give(sent, item)
        sent += 1
    while yielded < sent:
        if yielded not in done:
            done.update(pool.results())
        else:
            yield done.pop(yielded)
            yielded += 1


def all_at_once(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Apply a function to every item, each in its own process, all at the same time.

    For processes that talk to each other: the first error ends them all. PlatformError if one was
    killed.
    """
    done: dict[int, Result] = {}
    try:
        with Workers(function, len(items)) as pool:
            for number, item in enumerate(items):
                pool.give(number, item)
            while pool.at_work:
                done.update(pool.results())
    except WorkerKilledError as error:
        raise PlatformError(
            "one of several processes that work together was killed, perhaps because memory ran "
            "out."
        ) from error
    return [done[number] for number in range(len(items))]


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
        self._function = function
        self._count = count
        self._processes: dict[Connection, BaseProcess] = {}
        self._idle: list[Connection] = []
        self._at_work: dict[Connection, int] = {}

    def __enter__(self) -> Self:
        atexit.register(self.kill)  # else Python waits for workers of an unfinished generator
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
                    with suppress(OSError):  # one that was killed has ended, too
                        pipe.send_bytes(_NO_MORE)
                    process.join()
        finally:
            self.kill()

    @property
    def idle(self) -> bool:
        """A worker waits for an item."""
        return bool(self._idle)

    @property
    def at_work(self) -> bool:
        """A worker works on an item."""
        return bool(self._at_work)

    def give(self, number: int, item: Item) -> None:
        """Send an item to an idle worker; its result comes back with this number."""
        pipe = self._idle.pop()
        self._at_work[pipe] = number
        message = pickle.dumps((self._function, item), pickle.HIGHEST_PROTOCOL)
        try:
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
            if not done:
                raise result from _InWorkerError(where)
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
        with _anonymous_main(), isolated():  # where its file descriptor 1 then leads, too
            process.start()
        theirs.close()  # else its end would not be seen from here
        self._processes[ours] = process
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
    with suppress(OSError):  # the other process has ended
        while message := messages.get():
            answer = _answer(message)
            with sending:
                pipe.send_bytes(answer)


def _receive(pipe: Connection, messages: SimpleQueue[bytes]) -> None:
    """Read messages during work, to notice at once that the other process has ended."""
    with suppress(EOFError, OSError):
        while True:
            messages.put(pipe.recv_bytes())
    os._exit(1)


def _answer(message: bytes) -> bytes:
    try:
        function, item = pickle.loads(message)
        return pickle.dumps((True, function(item), ""), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:
        where = traceback.format_exc()
        try:
            answer = pickle.dumps((False, error, where), pickle.HIGHEST_PROTOCOL)
            pickle.loads(answer)  # some errors can be written and not read
        except Exception:
            return pickle.dumps((False, RuntimeError(str(error)), where))
        return answer
