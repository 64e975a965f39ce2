"""Calls of plugins: an error names the plugin, its task and the line."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import (
    InputError,
    PlatformError,
    PluginError,
    in_a_line,
    lacks_memory,
    lacks_space,
    one_line,
)
from irplatform.system.packages import missing_extra
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDINGS = (KeyboardInterrupt, GeneratorExit)
"""Exceptions that end the program and are never blamed on a plugin. All others are, also those that
are no `Exception`: the panic of a library in Rust, and what `pytest.importorskip` raises."""


class PluginMemoryError(PluginError, MemoryError):
    """A plugin needs more memory than there is; callers that can ask for less catch it."""


@contextmanager
def plugin_call(who: str, doing: str, module: str, *, as_told: bool = False) -> Iterator[None]:
    """Call a plugin `isolated`, and turn its errors into one that names it and the place.

    Args:
        who: the system and its plugin.
        doing: its task: "scoring topic 3".
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
        with isolated():
            yield
    except ENDINGS:
        raise
    except PlatformError as error:
        if not (as_told or error.names_plugin):
            error.args = (one_line(f"{who}: {error}"),)
            error.names_plugin = True
        raise
    except BaseException as error:
        if lacks_space(error):
            raise
        if missing := missing_extra(error, who):
            raise InputError(missing) from error
        place = _place_in(module, error) or _place_in("", error)
        kind = PluginMemoryError if lacks_memory(error) else PluginError
        raise kind(f"{who} failed {doing}: {in_a_line(error)} ({place})") from error


def close_coroutine(answer: object) -> bool:
    """Whether an answer is a coroutine, for a function that is async; Python then does not warn.

    Nobody awaits it.
    """
    if not inspect.iscoroutine(answer):
        return False
    answer.close()
    return True


def with_place(error: BaseException, module: str) -> str:
    """An error in a line, with its place in a module's package where it has one."""
    place = _place_in(module, error)
    return in_a_line(error) + (f" ({place})" if place else "")


def _place_in(module: str, error: BaseException) -> str:
    """File, line and function of the innermost frame of a module's package; "" where it has none.

    Without a module, of the innermost frame of all. Of a file that Python cannot read, its own.
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{error.filename}:{error.lineno}"
    import traceback

    package = module.partition(".")[0]
    places = [
        f"{frame.f_code.co_filename}:{line}, in {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not module or str(frame.f_globals.get("__name__", "")).partition(".")[0] == package
    ]
    return places[-1] if places else ""
