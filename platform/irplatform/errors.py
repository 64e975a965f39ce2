"""Errors that users see, and the words of messages.

The command line prints a `PlatformError` in a line and exits with its `exit_code`. Any other
exception that reaches the top is a bug and shows a traceback.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from itertools import islice
from reprlib import Repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_MOST_LISTED = 12
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, except tabs and line breaks, and marks of the direction of text."""
_LONGEST_LINE = 4_000
"""Characters of a line that are shown."""
_QUOTES = Repr()
_QUOTES.maxstring = _QUOTES.maxother = 60
_QUOTES.maxdict = _QUOTES.maxlevel = 2


class PlatformError(Exception):
    """A failure with an explanation (exit code 1); `names_plugin`: the message names the plugin."""

    exit_code = 1
    names_plugin = False

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: one line, unless a traceback is asked for."""
        if _shows_traceback() or getattr(_shell("InteractiveTB"), "mode", "") == "Verbose":
            import traceback

            return "".join(traceback.format_exception(self)).splitlines()
        return [f"{type(self).__name__}: {for_display(str(self))}"]

    @staticmethod
    def raise_refusal(told: object) -> None:
        """Raise what the disk refused while something was downloaded or unpacked, if it did.

        Told by an error with its causes and the errors that it holds, or by another program's
        words. A file that may not be written has a name; a connection that is not permitted has
        none.
        """
        for error in sorted(_errors_in(told), key=lambda e: not isinstance(e, OSError)):
            if lacks_space(error):
                refused = OSError(errno.ENOSPC, in_a_line(error))
                raise error if isinstance(error, OSError) else refused
            if isinstance(error, OSError) and error.errno in _OF_FILES and error.filename:
                raise error


class InputError(PlatformError):
    """Wrong usage or bad input (exit code 2).

    Args:
        message: what is wrong and what to do, in a sentence or two.
        path: the file at fault.
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
    """A file changed since the work began: everything made from it is removed."""


class PluginError(PlatformError):
    """A plugin broke its contract; the message names it and its distribution."""

    names_plugin = True


_NO_SPACE = re.compile(
    r"No space left on device|Disk quota exceeded|database or disk is full"
    r"|^\d+ requested and \d+ written$"
)
"""Texts of errors without an errno; the last one is numpy's."""


def lacks_space(error: BaseException) -> bool:
    """Return whether an error says that a disk or a quota is full."""
    if isinstance(error, OSError) and error.errno:
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    return not isinstance(error, PlatformError) and bool(_NO_SPACE.search(in_words(error)))


# SQLite opens a file only to read if the disk fails when it opens it to write.
_DISK_FAILS = re.compile(
    r"Input/output error|disk I/O error|Stale file handle|attempt to write a readonly database"
)
_OF_DISKS = {errno.EIO, errno.ESTALE, errno.ENXIO, errno.ENODEV}


def disk_failed(error: BaseException) -> bool:
    """Return whether an error says that a disk, or the network behind it, failed."""
    if isinstance(error, OSError) and error.errno:
        return error.errno in _OF_DISKS
    return not isinstance(error, PlatformError) and bool(_DISK_FAILS.search(in_words(error)))


def disk_fault(error: BaseException) -> bool:
    """Return whether a disk is to blame for an error: it is full, or failed."""
    return lacks_space(error) or disk_failed(error)


_NO_MEMORY = re.compile(
    r"(?:can't|cannot|failed to|unable to) allocate|failed to map segment|OutOfMemoryError"
    r"|bad_alloc|memory allocation|can't start new thread|Could not reserve enough space",
    re.IGNORECASE,
)
_TORCHS_WORDS = ("out of memory", "can't allocate memory", "not enough memory", "alloc_failed")
"""Torch's words for missing memory, on GPUs and CPUs."""


def lacks_resources(error: BaseException) -> bool:
    """Return whether an error says that memory, or the number of processes, is used up."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno:
        return error.errno in {errno.ENOMEM, errno.EAGAIN}
    return not isinstance(error, PlatformError) and bool(_NO_MEMORY.search(in_words(error)))


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error says that memory ran out; torch's is a `RuntimeError`."""
    words = in_words(error).lower() if isinstance(error, RuntimeError) else ""
    return isinstance(error, MemoryError) or any(phrase in words for phrase in _TORCHS_WORDS)


_ERRNO = re.compile(r"\[Errno (\d+)\][^\n:]*(?:: ([\"'])(.+?)\2)?")
"""An error of the system in the words of another program."""
_OF_FILES = {errno.EACCES, errno.EPERM, errno.EROFS}


def _errors_in(source: object) -> Iterator[BaseException]:
    if isinstance(source, str):
        for number, _, name in _ERRNO.findall(source):
            yield OSError(int(number), os.strerror(int(number)), name or None)
        yield Exception(source)
    elif isinstance(source, BaseException):
        for cause in chain(source):
            yield cause
            yield from _errors_in(
                [argument for argument in cause.args if not isinstance(argument, str)]
            )
    elif isinstance(source, list | tuple):
        for part in source:
            yield from _errors_in(part)


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    cause: BaseException | None = error
    ids: set[int] = set()
    while cause is not None and id(cause) not in ids:
        ids.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def lost(error: BaseException) -> str:
    """Return the notes of `cache.artifact` on work that starts over, or ""."""
    notes: list[str] = []
    for cause in chain(error):
        notes += [note for note in getattr(cause, "__notes__", ()) if note not in notes]
    return "".join(f" {note}" for note in notes)


def show_traceback(error: BaseException) -> None:
    """Print the traceback if `IRPLATFORM_TRACEBACK` is set, for authors of plugins."""
    if _shows_traceback():
        import traceback

        traceback.print_exception(error)


def _shows_traceback() -> bool:
    return os.environ.get("IRPLATFORM_TRACEBACK", "0") not in ("", "0")


def _shell(part: str) -> Any:
    """A part of IPython's shell, such as its compiler; None in a program without a shell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, part, None)


def place_of(file: str, line: int) -> str:
    """Return a place in code: "plugin.py:8", or "Cell In[3], line 8" in a notebook."""
    cell = getattr(_shell("compile"), "format_code_name", lambda _: None)(file)
    return f"{' '.join(cell)}, line {line}" if cell else f"{file}:{line}"


def in_a_line(error: BaseException) -> str:
    """Return an error's kind and text in a line: "OSError: no licence file"."""
    text = unstopped(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def unstopped(message: object) -> str:
    """Return an error or text in a line, without its full stop."""
    return one_line(in_words(message)).removesuffix(".")


def sentence(text: str) -> str:
    """Return a text that ends with one mark: "Did you mean 'x'?" has its own."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def one_line(text: str) -> str:
    """Return a text without its line breaks."""
    return printable(" ".join(filter(None, map(str.strip, text.splitlines()))))


def printable(text: str) -> str:
    """Return a text with its control characters as escapes."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def for_display(text: str) -> str:
    """Return a printable text, with long lines cut in the middle."""
    return "\n".join(map(_shortened, printable(text).split("\n")))


def _shortened(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    part = _LONGEST_LINE // 2
    return f"{line[:part]} … ({len(line) - 2 * part:,} more characters) … {line[-part:]}"


def in_words(value: object) -> str:
    """Return an object as text; "" if its `__str__` fails."""
    try:
        return str(value)
    except Exception:
        return ""


def quoted(value: object) -> str:
    """Return a value as Python writes it, of a long one beginning and end; of a table, its kind."""
    text = _QUOTES.repr(value)
    return f"a {type(value).__name__}" if "\n" in text else text


def listing(names: Iterable[str], most: int = 5) -> str:
    """Return the first few names: "1, 2, 3, 4, 5, …"."""
    beginning = list(islice(names, most + 1))
    return ", ".join([*beginning[:most], *(["…"] if len(beginning) > most else [])])


def enumeration(names: Sequence[str]) -> str:
    """Return all names in a list: "a, b and c"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def counted(number: int, noun: str) -> str:
    """Return a number of things: "1 topic", "1,204 topics"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unknown(
    kind: str, name: str, choices: Iterable[str], *, of: str = "", hint: str = ""
) -> InputError:
    """Return an error for an unknown name of a kind ("measure"), with the nearest right one.

    `of` is the whole that should have it: "'k2' is not an option of bm25".
    """
    # Numbers first and by size
    names = sorted(choices, key=lambda n: (0, int(n), "") if n.isdecimal() else (1, 0, n))
    if guess := did_you_mean(name, names):
        suggestion = f" {guess}"
    else:
        suggestion = f" Known: {listing(names, _MOST_LISTED)}." if names else ""
    article = "an" if kind[0] in "aeiou" else "a"
    problem = f"'{name}' is not {article} {kind} of {of}" if of else f"unknown {kind} '{name}'"
    return InputError(f"{problem}.{suggestion}{' ' + hint if hint else ''}")


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return a question with the nearest right name, or ""."""
    near = nearest(name, choices)
    return f"Did you mean '{near}'?" if near else ""


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return the right name with nearly the same spelling, or "", as for all numbers.

    A name of several words may lack the last ones: trec-rag-2026 is near trec-rag-2026-retrieval.
    """
    if name.isdecimal():
        return ""
    import difflib

    choices = [*choices]
    lowered = {right.lower(): right for right in choices}
    if "-" in name:
        for right in choices:
            words = right.lower().split("-")
            for count in range(2, len(words)):
                lowered.setdefault("-".join(words[:count]), right)
    cutoff = 0.6 if len(name) > 3 else 0.5  # k2 is near k1
    near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[near[0]] if near else ""
