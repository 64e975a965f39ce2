"""What a plugin's entry point names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import PluginError

if TYPE_CHECKING:
    from importlib import metadata


def named_by(entry_point: metadata.EntryPoint) -> object:
    """Import the module, or the object in it, that an entry point names.

    Raises:
        PluginError: it names none. The module raises anything else.
    """
    if not entry_point.pattern.match(entry_point.value):
        raise PluginError(f"its entry point '{entry_point.value}' is no name of a module")
    try:
        return entry_point.load()
    except ModuleNotFoundError as error:
        if not f"{entry_point.module}.".startswith(f"{error.name}."):
            raise
        raise PluginError(
            f"its entry point '{entry_point.value}' names a module that is not there: {error}"
        ) from error
