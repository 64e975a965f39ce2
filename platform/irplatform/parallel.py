"""Maps a function over a stream with all cores, results in order, memory flat."""

from __future__ import annotations

import os
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from irplatform.errors import PlatformError
from irplatform.workers import WorkerKilledError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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

    Raises:
        PlatformError: a worker was killed.
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
            "a worker process was killed, perhaps for want of memory. Run again with fewer workers."
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
    """Apply a function to every item, each in a process of its own, all at the same time.

    For processes that talk to each other: the first error ends them all.

    Args:
        function: a function of a module of this package, of one argument.
        items: one per process.

    Raises:
        PlatformError: a process was killed.
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
            "one of several processes that work together was killed, perhaps for want of memory."
        ) from error
    return [done[number] for number in range(len(items))]
