"""The end of a server: it answers what it has begun, and takes nothing new.

The first signal begins the end. What is not answered some seconds later, or at a second signal, is
given up, and its client is told.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.errors import counted
from irplatform.system import process
from irplatform.system.console import notice, tell

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from irplatform.serving.model_thread import ModelThread

Result = TypeVar("Result")
STOPPING = "the server is stopping; try again later."
_SAME = 0.1
"""Seconds within which a second signal is the first once more: `timeout` sends it to the process,
and to its group."""
_CLOSING = 1.0
"""Seconds for the models to end when nothing is left to answer."""


class Ending:
    """The requests that a server has begun, and its end, which a signal begins.

    Attributes:
        begun: the tasks of requests that are being answered, those that wait for models included.
        answered, given_up: the numbers of requests that were.
    """

    def __init__(self, seconds: float) -> None:
        self.begun: set[asyncio.Task[Any]] = set()
        self.answered = self.given_up = 0
        self._seconds, self._since = seconds, 0.0
        self._hurried = self._told = False
        self._code = 1

    def __bool__(self) -> bool:
        """The end has begun."""
        return self._since > 0

    def begin(self) -> None:
        """Begin the end."""
        self._since = time.monotonic()

    def on_signal(self, number: int) -> None:
        """Begin the end, or hurry it."""
        self._code = 128 + number
        if not self:
            self.begin()
        elif time.monotonic() - self._since > _SAME:
            self._hurried = True

    def is_over(self) -> bool:
        """Tell if a server that ends has nothing left to wait for."""
        if self.begun and not self._told:
            self._told = True
            left = counted(len(self.begun), "request")
            tell(f"stopping; {left} left to answer within {self._seconds:g} s")
        late = time.monotonic() - self._since >= self._seconds
        return not self.begun or late or self._hurried

    async def answer(
        self, work: Awaitable[Result], instead: Callable[[], Awaitable[Result]]
    ) -> Result:
        """Do the work of a request; `instead` is done if it is given up."""
        task = asyncio.current_task()
        assert task is not None
        self.begun.add(task)
        try:
            result = await work
        except asyncio.CancelledError:
            if not self:
                raise
            task.uncancel()
            self.given_up += 1
            return await instead()
        finally:
            self.begun.discard(task)
        self.answered += 1
        return result

    def give_up(self) -> None:
        """Give up what is not answered."""
        for task in self.begun:
            task.cancel()

    def leave(self, models: ModelThread[Any]) -> None:
        """Say how the server ended, and exit: with 0, or a signal's code if it gave up requests."""
        code = self._code if self.given_up else 0
        ended = models.end(_CLOSING)
        notice(f"stopped; {counted(self.answered, 'request')} answered, {self.given_up} given up")
        if not ended:  # a model still computes, perhaps for ever
            process.end_now(code)
        sys.exit(code)
