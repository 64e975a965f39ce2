"""Keeps a report of gensim 4.4 from the user: of an error that there was not.

Where a product of two vectors is exactly -1, compiled code takes it for the sign of an error and
finds none (https://github.com/piskvorky/gensim/issues/3642). Python then writes to sys.stderr, in
pieces and past `sys.unraisablehook`: "Exception ignored in: 'gensim…'", and no exception.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGINNING = "Exception ignored in: "


@contextmanager
def without_false_errors() -> Iterator[None]:
    """Keep such reports back from sys.stderr; all else is written as ever."""
    usual = sys.stderr
    sys.stderr = _Without(usual)
    try:
        yield
    finally:
        sys.stderr = usual


class _Without:
    def __init__(self, usual: Any) -> None:
        self._usual = usual
        self._begun = threading.local()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._usual, name)

    def write(self, text: str) -> int:
        before = getattr(self._begun, "text", "")
        self._begun.text = ""
        if (not before and text == _BEGINNING) or (
            before == _BEGINNING and text.startswith("'gensim.")
        ):
            self._begun.text = text
        elif before == _BEGINNING:
            self._usual.write(before + text)
        elif not before or text != "\n":
            self._usual.write(text)
        return len(text)
