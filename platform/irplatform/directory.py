"""The working directory is the user's: relative paths of the command line are read from it.

A plugin that goes elsewhere, while it is loaded or at work, would move them.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = threading.Lock()
_before: list[Path | None] = []
"""Where we were before each block that is open, in any thread; None where that had been removed.
The first is the user's, and the last block that ends goes back there."""


@contextmanager
def restored() -> Iterator[None]:
    """Go back, at the end, to where we were at the beginning; within another block, at its end."""
    with _lock:
        _before.append(_here())
    try:
        yield
    finally:
        with _lock:
            users = _before[0]
            _before.pop()
            if not _before and users is not None and _here() != users:
                os.chdir(users)


def _here() -> Path | None:
    """The working directory; None where somebody removed it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None
