"""Plugins at work: contained, and named where something goes wrong.

Whatever a stranger's code raises, users are told which plugin it was, what it was asked for and the
line, and the platform's own code goes on or ends in order.
"""

from __future__ import annotations

import os
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform import directory, interruptions, stdout
from irplatform.errors import (
    InputError,
    PlatformError,
    PluginError,
    in_a_line,
    in_words,
    lacks_space,
    one_line,
)
from irplatform.packages import missing_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRACEBACK = "IRPLATFORM_TRACEBACK"
ENDINGS = (KeyboardInterrupt, GeneratorExit)
"""Exceptions that end the program and are never blamed on a plugin. All others are, also those that
are no `Exception`: the panic of a library in Rust, and what `pytest.importorskip` raises."""
_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "alloc_failed")
"""What torch writes where memory is missing, on GPUs and on CPUs."""


class PluginMemoryError(PluginError, MemoryError):
    """A plugin needs more memory than there is; who can ask for less catches it."""


@contextmanager
def contained() -> Iterator[None]:
    """Within it, what plugins print goes to stderr; the working directory stays where it was.

    Ctrl-C and SIGTERM that came meanwhile end the work, whatever became of their exceptions.
    """
    try:
        with stdout.to_stderr(), directory.restored():
            yield
    except ENDINGS:
        raise
    except BaseException:
        interruptions.raise_lost()
        raise
    interruptions.raise_lost()


@contextmanager
def plugin_at_work(who: str, doing: str, module: str, *, as_told: bool = False) -> Iterator[None]:
    """Turn what goes wrong inside of a plugin into an error that names it and the place.

    What it prints meanwhile goes to stderr; the working directory stays where it was.

    Args:
        who: the system and its plugin.
        doing: what it was asked for: "scoring topic 3".
        module: the module of its class; the place is the innermost line of that package.
        as_told: whether users understand a `PlatformError` without the name of the plugin, as with
            those that come with the platform.

    Raises:
        PlatformError: as it was raised, with the name of the plugin in front.
        InputError: it needs a package of an extra that is not installed.
        Exception: as it was raised, where a disk is full, which is no plugin's fault.
        PluginError: for anything else; where memory is missing, a `PluginMemoryError`.
    """
    try:
        with contained():
            yield
    except ENDINGS:
        raise
    except PlatformError as error:
        if not (as_told or error.names_plugin):
            error.args = (one_line(f"{who}: {error}"),)
            error.names_plugin = True
        raise
    except BaseException as error:  # whatever a stranger's code raises
        if lacks_space(error):
            raise
        if missing := missing_extra(error, who):
            raise InputError(missing) from error
        place = _place_in(module, error) or _place_in("", error)
        kind = PluginMemoryError if lacks_memory(error) else PluginError
        raise kind(f"{who} failed {doing}: {in_a_line(error)} ({place})") from error


def _place_in(module: str, error: BaseException) -> str:
    """File, line and function of the innermost frame of a module's package; "" where it has none.

    Without a module, of the innermost frame of all. Of a file that Python cannot read, its own.
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{error.filename}:{error.lineno}"
    package = module.partition(".")[0]
    places = [
        f"{frame.f_code.co_filename}:{line}, in {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not module or str(frame.f_globals.get("__name__", "")).partition(".")[0] == package
    ]
    return places[-1] if places else ""


def with_place(error: BaseException, module: str) -> str:
    """An error in a line, with its place in a module's package where it has one."""
    place = _place_in(module, error)
    return in_a_line(error) + (f" ({place})" if place else "")


def show_traceback(error: BaseException) -> None:
    """Print an error's whole traceback, its causes' too, where `IRPLATFORM_TRACEBACK` is set.

    For authors of plugins: whoever uses one is told in a line.
    """
    if os.environ.get(_TRACEBACK, "0") not in ("", "0"):
        traceback.print_exception(error)


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out; torch says it in words, as a `RuntimeError`."""
    if isinstance(error, RuntimeError):
        message = in_words(error).lower()
        return any(words in message for words in _NO_MEMORY)
    return isinstance(error, MemoryError)
