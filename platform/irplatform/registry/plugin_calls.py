"""Calls of plugins: an error names the plugin, its task and the line."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import (
    InputError,
    PlatformError,
    PluginError,
    disk_fault,
    in_a_line,
    lacks_memory,
    one_line,
    place_of,
)
from irplatform.system.packages import missing_extra
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDINGS = (KeyboardInterrupt, GeneratorExit)
"""Exceptions that end the program, in its main thread. All others are a plugin's failure, such as a
panic in Rust."""


class PluginMemoryError(PluginError, MemoryError):
    """A plugin ran out of memory; a caller may catch it and ask for less."""


@contextmanager
def plugin_call(title: str, doing: str, module: str, *, as_told: bool = False) -> Iterator[None]:
    """Call a plugin (`title`) `isolated`; its errors name it, the task and the line.

    The task is such as "scoring topic 3", the line the innermost one in the package of `module`.
    With `as_told`, a `PlatformError` stays as it is. A full or failing disk stays an error of its
    kind, a missing extra is an `InputError`, and anything else a `PluginError`.
    """
    try:
        with isolated():
            yield
    except PlatformError as error:
        if not (as_told or error.names_plugin):
            error.args = (one_line(f"{title}: {error}"),)
            error.names_plugin = True
        raise
    except BaseException as error:
        is_main_thread = threading.current_thread() is threading.main_thread()
        if disk_fault(error) or (is_main_thread and isinstance(error, ENDINGS)):
            raise
        if missing := missing_extra(error, title):
            raise InputError(missing) from error
        place = _place_in(module, error) or _place_in("", error)
        kind = PluginMemoryError if lacks_memory(error) else PluginError
        raise kind(f"{title} failed {doing}: {in_a_line(error)} ({place})") from error


def with_place(error: BaseException, module: str) -> str:
    """Return an error in one line, with its place in a module's package."""
    place = _place_in(module, error)
    is_internal = isinstance(error, ImportError) and (error.name or "").startswith("irplatform.")
    rule = " (a plugin imports irplatform.plugin and irplatform.kit)" if is_internal else ""
    text = missing_extra(error, "it").rstrip(".") or in_a_line(error)
    return text + rule + (f" ({place})" if place else "")


def _place_in(module: str, error: BaseException) -> str:
    """The innermost frame in a module's package, or of all without a module; "" for none."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return place_of(error.filename, error.lineno)
    import traceback

    package = module.partition(".")[0]
    places = [
        f"{place_of(frame.f_code.co_filename, line)}, in {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not module or str(frame.f_globals.get("__name__", "")).partition(".")[0] == package
    ]
    return places[-1] if places else ""
