"""Tries again what failed for a passing reason, waiting longer each time.

The waits double (exponential back-off) unless the server says how long to wait (`Retry-After`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from irplatform.console import notice
from irplatform.errors import PlatformError, unstopped

if TYPE_CHECKING:
    from collections.abc import Callable

_ATTEMPTS = 8
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
_PATIENCE = 600.0
"""Seconds that a server may ask us to wait; beyond, the user had better come back."""

T = TypeVar("T")


class TransientError(Exception):
    """A failure that may pass.

    Args:
        reason: what happened, without a full stop.
        wait: seconds that the server asks us to wait, where it does.
    """

    def __init__(self, reason: str, *, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def with_retries(call: Callable[[], T], server: str) -> T:
    """Call until it succeeds, eight times at most.

    Args:
        call: what to do; raises `TransientError` where it is worth another try.
        server: whom it asks, for messages.

    Raises:
        PlatformError: it failed every time, or is asked to wait for more than ten minutes.
    """
    wait = _FIRST_WAIT
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return call()
        except TransientError as error:
            again = "The same command goes on from here"
            if attempt == _ATTEMPTS:
                raise PlatformError(
                    f"{server} failed {_ATTEMPTS} times, at last: {unstopped(error)}. {again}; "
                    "try it later."
                ) from error
            pause = wait if error.wait is None else error.wait
            if pause > _PATIENCE:
                raise PlatformError(
                    f"{server}: {error}, and asks to wait {pause / 60:.0f} minutes. {again} then."
                ) from error
            notice(f"{server}: {error}; trying again in {pause:.0f} s")
            time.sleep(pause)
            wait = min(2 * wait, _LONGEST_WAIT)
    raise AssertionError("unreachable")
