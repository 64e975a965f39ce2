"""Prepares what comes next while a model works on what it has.

A GPU is fast enough to wait for texts that are read and cut into tokens between two steps. Reading
and tokenizing mostly run outside of Python's global lock, so that one thread can do it meanwhile.
"""

from __future__ import annotations

import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")

_AHEAD = 2
"""Items that are prepared before they are asked for, the one at work included."""


def prepared_ahead(
    prepare: Callable[[Item], Prepared], items: Iterable[Item]
) -> Iterator[Prepared]:
    """Prepare the items one by one in a thread, a little ahead of whoever takes them.

    Yields:
        What is prepared, in the order of the items. An error of `prepare` is raised at its item's
        place, one of drawing an item when it is drawn.
    """
    begun: deque[Future[Prepared]] = deque()
    with ThreadPoolExecutor(1) as thread:
        try:
            for item in items:
                begun.append(thread.submit(prepare, item))
                if len(begun) > _AHEAD:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()
            with suppress(RuntimeError):  # the program is ending
                thread.submit(_leave_java)


def _leave_java() -> None:
    """Detach this thread from Java, if it read documents: else the JVM keeps what it has for it."""
    if jnius := sys.modules.get("jnius"):
        jnius.detach()
