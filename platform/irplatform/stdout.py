"""Standard output belongs to results: what plugins print goes to stderr meanwhile.

`--json` promises one JSON object on stdout, which a single `print` in a plugin would break.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = threading.Lock()
_before: list[TextIO] = []
"""What stdout was before each block that is open, in any thread. The first is the real one, and the
last to be taken: a block that ends while another thread's is open does not give stdout back."""


@contextmanager
def to_stderr() -> Iterator[None]:
    """Within it, what Python code prints to stdout goes to stderr."""
    with _lock:
        _before.append(sys.stdout)
        sys.stdout = sys.stderr
    try:
        yield
    finally:
        with _lock:
            last = _before.pop()
            if not _before:
                sys.stdout = last
