"""Maps a function over a stream with all cores, results in order, memory flat.

Processes are spawned, never forked: a Java virtual machine or threads of torch may be running here,
and a fork of those hangs. Workers import this package and nothing of the caller's script, ignore
Ctrl-C (the parent ends them), and end by themselves when the parent was killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import chain, islice
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from irplatform.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_STARTING = 3
"""Fewer items than this are usually done here: starting processes takes longer than the work."""


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    fewest: int = _WORTH_STARTING,
) -> Iterator[Result]:
    """Apply a function to every item of a stream, in parallel.

    Args:
        function: a function of a module of this package, of one argument.
        items: read as far ahead as the workers need, and no further.
        workers: how many processes; by default one per core. 1 works in this process.
        fewest: items that are worth starting processes for; fewer are done in this process.

    Yields:
        The results in the order of the items.

    Raises:
        PlatformError: a worker was killed.
    """
    workers = available_cores() if workers is None else workers
    stream = iter(items)
    first = list(islice(stream, fewest))
    if workers <= 1 or len(first) < fewest:
        yield from map(function, chain(first, stream))
        return
    killed = (
        "a worker process was killed, perhaps for want of memory. Run again with fewer workers."
    )
    with _processes(workers, killed) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in chain(first, stream):
            with _anonymous_main():
                waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def all_at_once(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Apply a function to every item, each in a process of its own, all at the same time.

    For processes that talk to each other: the first error ends them all.

    Args:
        function: a function of a module of this package, of one argument.
        items: one per process.

    Raises:
        PlatformError: a process was killed.
    """
    killed = "one of several processes that work together was killed, perhaps for want of memory."
    with _processes(len(items), killed) as pool:
        with _anonymous_main():
            running = [pool.submit(function, item) for item in items]
        for done in as_completed(running):
            done.result()
        return [done.result() for done in running]


@contextmanager
def _processes(count: int, killed: str) -> Iterator[ProcessPoolExecutor]:
    """Spawned processes, which are ended when the block ends; an error in it ends their work, too.

    Raises:
        PlatformError: one was killed; with this message.
    """
    context = multiprocessing.get_context("spawn")
    # Not an event: who sets one waits for all that wait for it, and a killed worker never answers.
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        count, mp_context=context, initializer=_start_worker, initargs=(theirs,)
    )
    try:
        yield pool
    except BrokenProcessPool as error:
        raise PlatformError(killed) from error
    except BaseException:
        ours.close()  # nobody wants what the others are still at
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        ours.close()
        theirs.close()


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


def _start_worker(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_at_its_end, args=(pipe,), daemon=True).start()


def _end_at_its_end(pipe: Connection) -> None:
    """Nothing is ever sent: what comes is the end, when the parent closes the pipe or is killed."""
    with suppress(EOFError, OSError):
        pipe.recv()
    os._exit(1)
