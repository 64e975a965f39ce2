"""Entry points of plugins, and checks of the hooks that they name."""

from __future__ import annotations

import inspect
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import PluginError, unknown
from irplatform.plugin.hooks import Hooks
from irplatform.registry.code_digests import GROUP, OURS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import pluggy


_MOST_SEEN = 200
"""Folders that are searched for a plugin that is not installed."""


def entry_points() -> Iterable[metadata.EntryPoint]:
    """Return the entry points of all packages."""
    found = metadata.entry_points(group=GROUP)
    for entry_point in found:
        _ = entry_point.dist and entry_point.dist.metadata  # names are read later
    return found


def not_installed(name: str, installed: Collection[str], *, others: bool) -> str:
    """Return how to install a plugin of a folder near the current one, or "".

    The name is a plugin's; with `others`, it may be that of a system of any plugin.
    """
    here = Path()
    with suppress(OSError):
        projects = [here / "pyproject.toml", *sorted(here.glob("*/pyproject.toml"))[:_MOST_SEEN]]
        found = {plugin: path.parent for path in projects for plugin in _plugins_in(path)}
        missing = {plugin: folder for plugin, folder in found.items() if plugin not in installed}
        for plugin, folder in missing.items():
            if plugin == name or (others and name not in missing):
                return f"The plugin '{plugin}' is not installed: `pip install -e {folder}`."
    return ""


def without_entry_point(name: str = "") -> str:
    """Return a remark on installed packages `irplatform-…` that bring no plugin, or "".

    A package `irplatform-NAME` comes first.
    """
    found = {}
    for package in metadata.distributions():
        with suppress(Exception):  # a damaged one
            title = package.name
            points = package.entry_points if title.startswith(f"{OURS}-") else ()
            if title.startswith(f"{OURS}-") and not any(p.group == GROUP for p in points):
                found[title] = package.version
    if not found:
        return ""
    title = min(found, key=lambda each: (each not in (name, f"{OURS}-{name}"), each))
    return (
        f"{title} {found[title]} is installed without an entry point: add one in the group "
        f"'{GROUP}' to its pyproject.toml, and install it again."
    )


def _plugins_in(project: Path) -> list[str]:
    from irplatform.files.formats import read_toml

    with suppress(Exception):  # of any project
        return [*read_toml(project)["project"]["entry-points"][GROUP]] if project.is_file() else []
    return []


HOOKS = {name: hook for name, hook in vars(Hooks).items() if inspect.isfunction(hook)}
"""The hook specifications, by name."""


def check_hooks(manager: pluggy.PluginManager, module: object) -> None:
    """Refuse an unknown hook, with the nearest right name."""
    for name, options in marked(manager, module):
        hook = options.get("specname") or name
        if hook not in HOOKS and not options["optionalhook"]:
            raise PluginError(str(unknown("hook", hook, HOOKS)))


def unmarked(manager: pluggy.PluginManager, module: object) -> tuple[str, ...]:
    """Return functions of a plugin that are named like hooks but lack `@hookimpl`."""
    hooks = {name for name, _ in marked(manager, module)}
    return tuple(
        name
        for name in HOOKS
        if name not in hooks and inspect.isroutine(getattr(module, name, None))
    )


def marked(
    manager: pluggy.PluginManager, module: object
) -> Iterator[tuple[str, pluggy.HookimplOpts]]:
    """Yield the names of the hooks in a module, each with its options."""
    for name in dir(module):
        if (options := manager.parse_hookimpl_opts(module, name)) is not None:
            yield name, options
