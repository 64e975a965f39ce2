"""Work in several threads that wait for a server, and that Ctrl-C does not wait for."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> Iterator[tuple[int, Result]]:
    """Call a function for items in several threads; yield places and results as they come.

    An error of one item is raised here, and no further item is begun.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    results: SimpleQueue[tuple[int, Result | BaseException]] = SimpleQueue()
    ended = Event()
    for place in range(len(items)):
        waiting.put(place)

    def run() -> None:
        while not ended.is_set():
            try:
                place = waiting.get_nowait()
            except Empty:
                return
            try:
                results.put((place, work(items[place])))
            except BaseException as error:
                results.put((place, error))

    for _ in range(min(threads, len(items))):
        Thread(target=run, daemon=True).start()
    try:
        for _ in items:
            place, result = results.get()
            if isinstance(result, BaseException):
                raise result
            yield place, result
    finally:
        ended.set()
