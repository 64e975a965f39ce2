"""Keeps calls to a server below a rate, over any window of time, whichever way the server counts.

Nobody knows when a call arrives; it has arrived when its answer is there. A call therefore begins a
second after the third-last one was *answered* (for three calls a second), so that delays on the way
cannot push calls together.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class RateLimiter:
    """Waits before each call until it may begin.

    Args:
        per_second: the most calls that a server takes in any second; below 1 for fewer.
        clock: seconds that only grow.
        sleep: waits for seconds.
    """

    def __init__(
        self,
        per_second: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        calls = max(1, int(per_second))
        self._seconds = calls / per_second
        self._answered: deque[float] = deque(maxlen=calls)
        self._clock = clock
        self._sleep = sleep

    @contextmanager
    def call(self) -> Iterator[None]:
        """Wrap a call, from its beginning to its answer or failure."""
        if len(self._answered) == self._answered.maxlen:
            while (early := self._answered[0] + self._seconds - self._clock()) > 0:
                self._sleep(early)
        try:
            yield
        finally:
            self._answered.append(self._clock())
