"""Entry points: where plugins are, what they name, which platform their distribution asks for."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform import __version__
from irplatform.errors import PluginError, unknown
from irplatform.plugin.hooks import Hooks
from irplatform.registry.code_digests import GROUP, OURS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import pluggy


_OF_US = re.compile(rf"{OURS}\s*[\[(<>=!~]", re.IGNORECASE)
"""How a requirement begins that may name versions of the platform."""
_MOST_SEEN = 200
"""Folders with a project."""


def entry_points() -> Iterable[metadata.EntryPoint]:
    """Return the entry points of all packages."""
    found = metadata.entry_points(group=GROUP)
    for entry_point in found:
        _ = entry_point.dist and entry_point.dist.metadata  # names are read later
    return found


def without_entry_point(name: str) -> str:
    """That a package of this name is installed but brings no plugin; "" where there is none."""
    called = name if name.startswith(f"{OURS}-") else f"{OURS}-{name}"
    try:
        distribution = metadata.distribution(called)
        brings = any(point.group == GROUP for point in distribution.entry_points)
    except Exception:  # no such package, or a damaged one
        return ""
    if brings:
        return ""
    return (
        f"{called} {distribution.version} is installed, but has no entry point of the group "
        f"'{GROUP}': add one to its pyproject.toml, and install it again."
    )


def not_installed(name: str, installed: Collection[str], *, others: bool) -> str:
    """That a folder near the current one has a plugin to install, perhaps this one; "" for none.

    Args:
        name: of a plugin or system that is not registered.
        installed: the names of the plugins that are.
        others: whether a plugin of another name may be meant, which has a system of this one.
    """
    written: dict[str, str] = {}
    for folder in _folders_near():
        for plugin in _plugins_in(folder):
            if plugin not in installed:
                written.setdefault(plugin, str(folder))
    meant = [name] if name in written else [*written] if others else []
    if not meant:
        return ""
    where = written[meant[0]]
    place = "this folder" if where == "." else where
    return f"The plugin '{meant[0]}' in {place} is not installed: `pip install -e {where}`."


def _folders_near() -> Iterator[Path]:
    """The current folder and those in it; then those beside it, where it is in a package."""
    here = Path()
    yield here
    for place in (here, Path("..")):
        with suppress(OSError):
            yield from islice(sorted(p.parent for p in place.glob("*/pyproject.toml")), _MOST_SEEN)


def _plugins_in(folder: Path) -> list[str]:
    """The names of entry points that a folder's `pyproject.toml` has for plugins."""
    from irplatform.system.formats import read_toml

    path = folder / "pyproject.toml"
    with suppress(Exception):  # whatever is wrong with somebody's project
        return [*read_toml(path)["project"]["entry-points"][GROUP]] if path.is_file() else []
    return []


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


def unmet_requirement(entry_point: metadata.EntryPoint) -> str:
    """Which other version of the platform its distribution asks for, in words; "" for none."""
    requirements = (entry_point.dist.requires or []) if entry_point.dist else []
    ours = [requirement for requirement in requirements if _OF_US.match(requirement)]
    if not ours:
        return ""
    from packaging.requirements import InvalidRequirement, Requirement  # takes a while

    for text in ours:
        with suppress(InvalidRequirement):
            requirement = Requirement(text)
            needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if needed and not requirement.specifier.contains(__version__, prereleases=True):
                return f"it requires {OURS}{requirement.specifier}, and this is {__version__}"
    return ""


# Checks of the names of a plugin's hooks and of their arguments.
#
# They come before those of pluggy, which suggests no nearest name.

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
    import difflib

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
