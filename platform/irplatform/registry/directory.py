"""The working directory is the user's: relative paths of the command line are read from it.

A plugin that goes elsewhere while it is loaded or told of a run would move them.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def kept() -> Iterator[None]:
    """Go back, at the end, to where we were at the beginning."""
    try:
        before = Path.cwd()
    except FileNotFoundError:  # somebody removed it
        yield
        return
    try:
        yield
    finally:
        os.chdir(before)
