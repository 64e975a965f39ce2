"""What users are told when something goes wrong.

A `PlatformError` is a failure that we expected and can explain; the command line prints its text
and exits with `exit_code`. An `InputError` is the user's to mend: it says what is wrong, where, and
what to do. Anything else that reaches the top is a bug of ours and shows a traceback.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class PlatformError(Exception):
    """A failure with an explanation (exit code 1)."""

    exit_code = 1


class InputError(PlatformError):
    """Wrong usage or bad input (exit code 2).

    Args:
        message: what is wrong and what to do, in a sentence or two.
        path: the file at fault, if there is one.
        line: its line, counted from 1.
    """

    exit_code = 2

    def __init__(
        self, message: str, *, path: Path | str | None = None, line: int | None = None
    ) -> None:
        self.path = path
        self.line = line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class PluginError(PlatformError):
    """A plugin broke its contract; the message names it and its distribution."""


def unknown(kind: str, name: str, known: Iterable[str], *, hint: str = "") -> InputError:
    """An error for a name that nobody registered, with the nearest right one.

    Args:
        kind: what the name should have named, as a noun: "reranker", "measure".
        name: the name as it was given.
        known: all right names.
        hint: what else to do, appended as it is.
    """
    names = sorted(known)
    lowered = {right.lower(): right for right in names}
    near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.5)
    suggestion = f" Did you mean '{lowered[near[0]]}'?" if near else ""
    listing = f" Known: {', '.join(names)}." if names and not near else ""
    return InputError(f"unknown {kind} '{name}'.{suggestion}{listing}{' ' + hint if hint else ''}")
