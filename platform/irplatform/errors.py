"""Errors and their words, as users see them.

A `PlatformError` is a failure that was expected and can be explained; the command line prints its
text and exits with `exit_code`. An `InputError` is the user's to mend: it says what is wrong,
where, and what to do. Anything else that reaches the top is a bug and shows a traceback.
"""

from __future__ import annotations

import errno
import os
import re
from itertools import islice
from reprlib import Repr
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MOST_LISTED = 12
"""More names than this help nobody."""
_SHORT = 3
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, except tabs and line breaks, and what turns the direction of text around."""
_LONGEST_LINE = 4_000
"""Characters of a line that are shown: values may have 10 MB."""
_QUOTES = Repr()
_QUOTES.maxstring = _QUOTES.maxother = 60


class PlatformError(Exception):
    """A failure with an explanation (exit code 1).

    Attributes:
        names_plugin: whether the message names the plugin.
    """

    exit_code = 1
    names_plugin = False


class InputError(PlatformError):
    """Wrong usage or bad input (exit code 2).

    Args:
        message: what is wrong and what to do, in a sentence or two; kept without the place.
        path: the file at fault, if there is one.
        line: its line, counted from 1.
    """

    exit_code = 2

    def __init__(
        self, message: str, *, path: Path | str | None = None, line: int | None = None
    ) -> None:
        self.message = message
        self.path = path
        self.line = line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class ChangedFileError(InputError):
    """A file has changed since the work began: anything made from it must go."""


class PluginError(PlatformError):
    """A plugin broke its contract; the message names it and its distribution."""

    names_plugin = True


_NO_SPACE = re.compile(
    r"No space left on device|Disk quota exceeded|database or disk is full"
    r"|^\d+ requested and \d+ written$"
)
"""Texts of errors without a number; the last one is numpy's."""


def lacks_space(error: BaseException) -> bool:
    """Whether an error says that a disk, or a user's quota, is full.

    numpy, safetensors, SQLite and Java say it in words.
    """
    if isinstance(error, OSError) and error.errno:
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    return not isinstance(error, PlatformError) and bool(_NO_SPACE.search(in_words(error)))


_NO_MEMORY = re.compile(
    r"(?:can't|cannot|failed to|unable to) allocate|failed to map segment|OutOfMemoryError"
    r"|bad_alloc|memory allocation|can't start new thread|Could not reserve enough space",
    re.IGNORECASE,
)


_TORCHS_WORDS = ("out of memory", "can't allocate memory", "not enough memory", "alloc_failed")
"""Torch's words where memory is missing, on GPUs and on CPUs."""


def lacks_resources(error: BaseException) -> bool:
    """Whether an error says that memory, or the number of processes, is used up."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno:
        return error.errno in {errno.ENOMEM, errno.EAGAIN}
    return not isinstance(error, PlatformError) and bool(_NO_MEMORY.search(in_words(error)))


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out; torch's is a `RuntimeError`."""
    if isinstance(error, RuntimeError):
        message = in_words(error).lower()
        return any(words in message for words in _TORCHS_WORDS)
    return isinstance(error, MemoryError)


def show_traceback(error: BaseException) -> None:
    """Print the whole traceback if `IRPLATFORM_TRACEBACK` is set, for authors of plugins."""
    if os.environ.get("IRPLATFORM_TRACEBACK", "0") not in ("", "0"):
        import traceback

        traceback.print_exception(error)


def check_least(option: str, value: float, least: int) -> None:
    """Refuse a number below the least; in the option's name, `_` stands for `-`."""
    if value < least:
        raise InputError(f"--{option.replace('_', '-')} is {value}; it must be at least {least}.")


def in_a_line(error: BaseException) -> str:
    """An error's kind and text in a line: "OSError: no licence file"."""
    text = unstopped(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def unstopped(told: object) -> str:
    """A text of others in a line without its full stop, to go on with a sentence of ours."""
    return one_line(in_words(told)).removesuffix(".")


def one_line(text: str) -> str:
    """A text without its line breaks: each message is a line."""
    return printable(" ".join(filter(None, map(str.strip, text.splitlines()))))


def printable(text: str) -> str:
    """A text with its control characters as escapes: a terminal would obey them."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def for_display(text: str) -> str:
    """A text for people: printable, and long lines cut in the middle."""
    return "\n".join(map(_shortened, printable(text).split("\n")))


def _shortened(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    part = _LONGEST_LINE // 2
    return f"{line[:part]} … ({len(line) - 2 * part:,} more characters) … {line[-part:]}"


def in_words(told: object) -> str:
    """An object as text; "" if its `__str__` fails."""
    try:
        return str(told)
    except Exception:
        return ""


def quoted(value: object) -> str:
    """A plugin's answer, as Python writes it; of long ones, beginning and end."""
    return _QUOTES.repr(value)


def listing(names: Iterable[str], most: int = 5) -> str:
    """The first few names: "1, 2, 3, 4, 5, …"."""
    shown = list(islice(names, most + 1))
    return ", ".join([*shown[:most], *(["…"] if len(shown) > most else [])])


def counted(number: int, noun: str) -> str:
    """A number of things: "1 topic", "1,204 topics"; the noun's plural ends in s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unknown(
    kind: str, name: str, known: Iterable[str], *, of: str = "", hint: str = ""
) -> InputError:
    """An error for an unknown name, with the nearest right one.

    Args:
        kind: what the name should have named: "reranker", "measure".
        name: as it was given.
        known: all right names.
        of: what it should have been a part of: "'k2' is no option of bm25"; without it, "unknown
            option 'k2'".
        hint: what else to do, appended as it is.
    """
    names = _ordered(known)
    if guess := did_you_mean(name, names):
        suggestion = f" {guess}"
    elif len(names) > _MOST_LISTED and (holding := _holding(name, names)):
        suggestion = f" The nearest: {', '.join(holding[:3])}."
    else:
        suggestion = f" Known: {listing(names, _MOST_LISTED)}." if names else ""
    problem = f"'{name}' is no {kind} of {of}" if of else f"unknown {kind} '{name}'"
    return InputError(f"{problem}.{suggestion}{' ' + hint if hint else ''}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question for the nearest right name, or "" if none is near."""
    near = nearest(name, known)
    return f"Did you mean '{near}'?" if near else ""


def _ordered(names: Iterable[str]) -> list[str]:
    """In alphabetical order, numbers first and by size."""
    return sorted(names, key=lambda name: (0, int(name), "") if name.isdecimal() else (1, 0, name))


def nearest(name: str, known: Iterable[str]) -> str:
    """The right name with nearly the same spelling, or "".

    Numbers have none: 19 is spelled nearly like 99. Names of up to three letters may differ in one
    letter.
    """
    if name.isdecimal():
        return ""
    import difflib

    lowered = {right.lower(): right for right in known}
    near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    if not near and len(name) <= _SHORT:
        near = [
            right
            for right in lowered
            if len(right) == len(name)
            and sum(a != b for a, b in zip(name.lower(), right, strict=True)) == 1
        ]
    return lowered[near[0]] if near else ""


def _holding(name: str, known: Iterable[str]) -> list[str]:
    """Names that contain a name of more than a few letters, as vanilla-bert contains bert."""
    return [right for right in known if len(name) >= _SHORT and name.lower() in right.lower()]
