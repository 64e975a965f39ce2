"""Passes of a network over inputs of their own, several at a time on the CPU.

Numpy and torch leave Python's lock while they compute. An input gives the same numbers however many
are computed at a time, so that threads change no score.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.plugin import Resources

Item = TypeVar("Item")
Result = TypeVar("Result")


def passes_at_a_time(resources: Resources) -> int:
    """In how many threads a system may compute: 1 on a GPU, which has its own."""
    if resources.device != "cpu":
        return 1
    return max(1, resources.threads // resources.model_threads)


def in_threads(
    compute: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> Iterator[Result]:
    """Compute something of each item.

    Args:
        compute: called from several threads at a time; torch's modes, such as `inference_mode`,
            are those of a thread, so it enters them itself.
        items: all are begun in their order.
        threads: how many.

    Yields:
        What is computed, in the order of the items.
    """
    if threads <= 1 or len(items) < 2:
        yield from map(compute, items)
        return
    pool = ThreadPoolExecutor(min(threads, len(items)))
    try:
        yield from pool.map(compute, items)
    finally:
        pool.shutdown(cancel_futures=True)
