"""Workers that apply a function to a stream of items: processes here, or a Ray cluster.

Callers use `ordered_map`; `use_workers` chooses the workers.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from irplatform.errors import PlatformError
from irplatform.settings import check_least
from irplatform.spelling import option
from irplatform.system import console
from irplatform.system.arithmetic import choose_device
from irplatform.workers.pool import WorkerKilledError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from irplatform.workers.cluster import Cluster

Item = TypeVar("Item")
Result = TypeVar("Result")
_WORTH_STARTING = 3
"""Fewer items are usually done before processes have started."""
RAY = "ray"
Count = int | Literal["ray"] | None
"""The number of workers, or "ray" for those of a Ray cluster; None for the usual number."""
_chosen: list[int | Cluster] = []
"""The workers of each open block of `use_workers`, innermost last."""


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> tuple[int, int] | None:
    """Return the bytes of memory here, and how many are free; None where the system hides them."""
    try:
        import psutil

        now = psutil.virtual_memory()
    except (OSError, KeyError, NotImplementedError):  # no /proc, as in some sandboxes
        return None
    return now.total, now.available


def within_cores(name: str, threads: int) -> int:
    """Return a number of threads, limited to the cores here; a notice names the setting."""
    if threads <= (cores := available_cores()):
        return threads
    console.notice(f"{option(name, threads)} is more than the cores here: {cores} are used")
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


@contextmanager
def use_workers(count: Count) -> Iterator[None]:
    """Let so many workers, or those of a Ray cluster, do the work of `ordered_map` in the block.

    None changes nothing. InputError if it is less than 1, Ray is not installed, its cluster cannot
    be reached, or a machine of it has another version of this package.

    Examples:
        >>> with use_workers(2):
        ...     list(ordered_map(abs, [-1, -2, -3]))
        [1, 2, 3]
    """
    if isinstance(count, int):
        check_least("workers", count, 1)
    with ExitStack() as stack:
        if isinstance(count, str):
            from irplatform.workers.cluster import Cluster

            _chosen.append(stack.enter_context(Cluster()))
        elif count is not None:
            _chosen.append(count)
        try:
            yield
        finally:
            if count is not None:
                _chosen.pop()


def cluster() -> Cluster | None:
    """Return the Ray cluster of this block, if there is one."""
    return None if not _chosen or isinstance(_chosen[-1], int) else _chosen[-1]


def takes_gpu(device: str) -> bool:
    """Tell if work on a device needs a GPU of a cluster."""
    return cluster() is not None and device == "cuda"


def several_workers() -> bool:
    """Tell if a block of `use_workers` asks for more than one."""
    return bool(_chosen) and _chosen[-1] != 1


def map_documents(
    here: Callable[[Item], Result],
    there: Callable[[Item], Result],
    items: Iterable[Item],
    device: str,
) -> Iterator[Result]:
    """Apply a function to items here, or its twin in workers if a block asks for several.

    Args:
        here: for this process.
        there: for workers, which import it; on their device.
        items: blocks of documents, say; read as needed.
        device: where the function computes.
    """
    if not several_workers():
        return map(here, items)
    return ordered_map(_OnDevice(device, there), items, fewest=2, on_gpu=takes_gpu(device))


@dataclass
class _OnDevice(Generic[Item, Result]):
    """A function whose device each worker chooses once, before the first item."""

    device: str
    function: Callable[[Item], Result]
    is_chosen: bool = False

    def __call__(self, item: Item) -> Result:
        if not self.is_chosen:
            choose_device(self.device)
            self.is_chosen = True
        return self.function(item)


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    fewest: int = _WORTH_STARTING,
    threads: int = 1,
    on_gpu: bool = False,
) -> Iterator[Result]:
    """Apply a function to every item of a stream, in parallel; results come in order.

    Workers import the function: it belongs to a module. Items are read only as far as needed.
    Without a cluster, fewer than `fewest` items, or one worker, stay in this process.

    Args:
        function: sent once to each worker.
        items: its arguments, one a call.
        workers: their number outside `use_workers`; by default one per core.
        fewest: the smallest number of items that is worth starting workers.
        threads: cores that a call takes.
        on_gpu: a call takes a GPU of a cluster.

    Raises:
        PlatformError: a worker was killed, on a cluster several times.
    """
    if (machines := cluster()) is not None:
        yield from machines.map(function, items, threads=threads, on_gpu=on_gpu)
        return
    choice = _chosen[-1] if _chosen else workers
    count = choice if isinstance(choice, int) else available_cores()
    stream = iter(items)
    first = list(islice(stream, max(fewest, count)))
    everything = chain(first, stream)
    if count <= 1 or len(first) < fewest:
        yield from map(function, everything)
        return
    count = min(count, len(first))
    try:
        with Workers(function, count) as pool:
            yield from _in_order(pool, everything, ahead=2 * count)
    except WorkerKilledError as error:
        raise PlatformError(f"a worker process {error}") from error


def _in_order(
    pool: Workers[Item, Result], items: Iterable[Item], *, ahead: int
) -> Iterator[Result]:
    """Results in the order of the items, of which `ahead` are begun before the first is done."""
    results: dict[int, Result] = {}
    number = yielded = 0
    for item in items:
        while not pool.idle or number - yielded > ahead:
            results.update(pool.results())
            while yielded in results:
                yield results.pop(yielded)
                yielded += 1
        pool.give(number, item)
        number += 1
    while yielded < number:
        if yielded not in results:
            results.update(pool.results())
        else:
            yield results.pop(yielded)
            yielded += 1
