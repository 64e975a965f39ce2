"""The end of a server: it answers what it has begun, and takes nothing new."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from irplatform.errors import PlatformError, counted
from irplatform.serving.model_thread import ENDED
from irplatform.system import process
from irplatform.system.console import notice, tell

if TYPE_CHECKING:
    from irplatform.serving.model_thread import ModelThread

_SAME = 0.1
"""Seconds within which a second signal is the first once more: `timeout` sends it to the process,
and to its group."""
_CLOSING = 1.0
"""Seconds for the models to end when nothing is left to answer."""


class Ending:
    """The end of a server, which begins with a signal and takes some seconds at most."""

    def __init__(self, models: ModelThread[Any], seconds: float) -> None:
        self._models, self._seconds = models, seconds
        self._since, self._code = 0.0, PlatformError.exit_code
        self._hurried = self._is_announced = False

    def begin(self) -> None:
        """Take nothing new."""
        self._since = self._since or time.monotonic()
        self._models.stopping = True

    def on_signal(self, number: int) -> None:
        """Begin the end; if it has begun, hurry it."""
        self._code = 128 + number
        self._hurried |= 0 < self._since < time.monotonic() - _SAME
        self.begin()

    def is_over(self) -> bool:
        """Tell if a server may end now; what it has not answered in time is given up."""
        if not self._since:
            return self._models.ended
        seconds = self._since + self._seconds - time.monotonic()
        if (begun := self._models.begun) and seconds > 0 and not self._hurried:
            if not self._is_announced:
                tell(f"stopping; {counted(begun, 'request')} left to answer within {seconds:.0f} s")
            self._is_announced = True
            return self._models.ended
        self._models.give_up()
        return True

    def leave(self) -> None:
        """Say how the server ended, and exit: with 0, or a signal's code if requests were given up.

        PlatformError if the models have ended before.
        """
        if self._models.ended:
            raise PlatformError(ENDED)
        lost = self._models.given_up
        in_order = self._models.end(_CLOSING)
        notice(
            f"stopped; {counted(self._models.request_count - lost, 'request')} answered, "
            f"{lost} given up"
        )
        code = self._code if lost else 0
        if not in_order:  # a model still computes, perhaps for ever
            process.finish()
            os._exit(code)
        sys.exit(code)
