"""Loads plugins one by one; a broken one does not stop the others.

`IRPLATFORM_PLUGINS` selects plugins by the names of their entry points (`delta,lucene`) or leaves
some out (`-delta`). A broken plugin is kept with its error.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING

from irplatform.errors import PluginError, show_traceback, unknown
from irplatform.files.code_digests import GROUP
from irplatform.plugin.hooks import Hooks
from irplatform.registry.lookup import Registry
from irplatform.registry.plugin_calls import with_place
from irplatform.registry.register_hooks import Contribution
from irplatform.registry.registration import Plugin
from irplatform.system.process import is_interruption, isolated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pluggy

HOOKS = {name: hook for name, hook in vars(Hooks).items() if inspect.isfunction(hook)}
"""The hook specifications, by name."""


@functools.cache
def registry() -> Registry:
    """Return the registry of this process; the first call loads plugins."""
    return load(entry_points(), os.environ.get("IRPLATFORM_PLUGINS", ""))


def entry_points() -> Iterable[metadata.EntryPoint]:
    """Return the entry points of all packages."""
    return metadata.entry_points(group=GROUP)


def load(entry_points: Iterable[metadata.EntryPoint], selection: str = "") -> Registry:
    """Load plugins; `selection` names those to load, or to leave out (`-name`); empty loads all.

    Raises:
        InputError: a selected plugin is not installed.
    """
    plugin_registry = Registry()
    plugin_registry.manager.add_hookspecs(Hooks)
    points = [*entry_points]
    distributions = {id(point.dist): point.dist for point in points}  # one has many plugins
    templates = {key: _about(distribution) for key, distribution in distributions.items()}
    plugins = [replace(templates[id(point.dist)], name=point.name) for point in points]
    # Ours first: a third-party plugin cannot take the name of a built-in system.
    pairs = sorted(
        zip(plugins, points, strict=True),
        key=lambda p: (not p[0].is_builtin, p[0].name, p[0].distribution),
    )
    names = {plugin.name for plugin, _ in pairs}
    parts = {part.strip() for part in selection.split(",") if part.strip()}
    selected = {part for part in parts if not part.startswith("-")}
    for name in selected - {*names, "none"}:
        raise unknown("plugin", name, names, hint="IRPLATFORM_PLUGINS names it.")
    for plugin, entry_point in pairs:
        if f"-{plugin.name}" not in parts and (not selected or plugin.name in selected):
            plugin_registry.plugins.append(_load_one(plugin_registry, plugin, entry_point))
    return plugin_registry


def _about(distribution: metadata.Distribution | None) -> Plugin:
    """What plugins of a distribution have in common: all but the name."""
    # An interrupted uninstallation leaves neither.
    name = (distribution and distribution.name) or "unknown distribution"
    version = (distribution and distribution.version) or "?"
    required = (distribution and distribution.requires) or []
    versions = next(
        (match[1] for requirement in required if (match := _VERSIONS.match(requirement))), ""
    )
    contract = ",".join(sorted(map(str.strip, versions.split(",")), reverse=True))  # ">=0.2,<0.3"
    return Plugin("", name, version, contract=contract)


_VERSIONS = re.compile(r"irplatform\s*(?:\[[^]]*\])?\s*\(?([<>=!~][^;)]*)")


def _load_one(
    plugin_registry: Registry, plugin: Plugin, entry_point: metadata.EntryPoint
) -> Plugin:
    if first := next(
        (other for other in plugin_registry.plugins if other.name == plugin.name), None
    ):
        return replace(plugin, error=f"{first} has this name, too. Uninstall one of them")
    contribution = Contribution(plugin)
    manager = plugin_registry.manager
    try:
        with isolated():
            module = entry_point.load()
            check_hooks(manager, module)
            manager.register(module, name=str(plugin))
            contribution.collect(manager)
            forgotten = unmarked(manager, module)
        plugin_registry.add(contribution.tables)
    except BaseException as error:  # a broken module must not stop the others
        discard(manager, plugin, error)
        error_text = with_place(error, entry_point.value.partition(":")[0].strip())
        if plugin.is_builtin and isinstance(error, ModuleNotFoundError):  # of a former version
            error_text += ": install irplatform again"
        return replace(plugin, error=error_text)
    return replace(plugin, provides=tuple(contribution.provides), unmarked=forgotten)


def discard(manager: pluggy.PluginManager, plugin: Plugin, error: BaseException) -> None:
    """Take out a plugin that failed while it was loaded; an interruption is raised again."""
    if is_interruption(error):
        raise error
    if manager.has_plugin(str(plugin)):
        manager.unregister(name=str(plugin))
    show_traceback(error)


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
