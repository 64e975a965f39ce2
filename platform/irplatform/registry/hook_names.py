"""Checks of the names of a plugin's hooks and of their arguments.

They come before those of pluggy, which suggests no nearest name.
"""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING

from irplatform.errors import PluginError, unknown
from irplatform.plugin import Hooks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pluggy

HOOKS = {name: hook for name, hook in vars(Hooks).items() if inspect.isfunction(hook)}
"""The specifications, by name."""


def check_hooks(manager: pluggy.PluginManager, module: object) -> int:
    """See that a plugin's hooks and their arguments have the right names; how many there are.

    Raises:
        PluginError: one has not.
    """
    number = 0
    for name, options in _marked(manager, module):
        hook = options.get("specname") or name
        if hook not in HOOKS:
            if options["optionalhook"]:
                continue
            raise PluginError(str(unknown("hook", hook, HOOKS)))
        (needed,) = _arguments(HOOKS[hook])
        for argument in _arguments(getattr(module, name)):
            if argument != needed:
                raise PluginError(f"the argument of {hook} is called '{needed}', not '{argument}'")
        number += 1
    return number


def unmarked(manager: pluggy.PluginManager, module: object) -> tuple[str, ...]:
    """The functions of a plugin that are called like hooks, and are none."""
    marked = {name for name, _ in _marked(manager, module)}
    return tuple(
        name
        for name in HOOKS
        if name not in marked and inspect.isroutine(getattr(module, name, None))
    )


def without_hooks(module: object) -> str:
    """What is wrong with a plugin that has no hook: perhaps one is misspelt, and not marked."""
    functions = [name for name, _ in inspect.getmembers(module, inspect.isroutine)]
    for hook in HOOKS:
        if near := difflib.get_close_matches(hook, functions, n=1, cutoff=0.8):
            return f"it has no hook, and adds nothing. Is {near[0]} meant to be {hook}?"
    return "it has no hook, and adds nothing"


def _marked(
    manager: pluggy.PluginManager, module: object
) -> Iterator[tuple[str, pluggy.HookimplOpts]]:
    """Names of what is marked with `@hookimpl`, and how."""
    for name in dir(module):
        if (options := manager.parse_hookimpl_opts(module, name)) is not None:
            yield name, options


def _arguments(function: object) -> list[str]:
    """Names of the arguments that a hook must be given."""
    return [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()  # type: ignore[arg-type]
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.default is parameter.empty
        and parameter.name != "self"
    ]
