"""Loads plugins one by one, guarded.

A plugin that cannot be imported, has a wrong hook signature or fails while registering is
remembered as broken, with its distribution, version and error, and the others go on.
`IRPLATFORM_PLUGINS` selects plugins by the name of their entry point (`delta,lucene`) or switches
some off (`-delta`). Of several with one name the first is loaded; `NAME@DISTRIBUTION` is one.
"""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform import __version__
from irplatform.errors import show_traceback, unknown
from irplatform.plugin.hooks import Hooks
from irplatform.registry.entry_points import (
    check_hooks,
    entry_points,
    named_by,
    unmarked,
    unmet_requirement,
    without_hooks,
)
from irplatform.registry.lookup import Registry
from irplatform.registry.plugin_calls import with_place
from irplatform.registry.register_hooks import Contribution
from irplatform.registry.registration import Plugin
from irplatform.system.process import is_interruption, isolated

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib import metadata


@functools.cache
def registry() -> Registry:
    """The registry of this process; plugins are loaded at the first call."""
    return load(entry_points(), os.environ.get("IRPLATFORM_PLUGINS", ""))


def load(entry_points: Iterable[metadata.EntryPoint], selection: str = "") -> Registry:
    """Load plugins.

    Args:
        entry_points: where they are.
        selection: names to load, or names to leave out with a "-" before each, separated by
            commas; empty loads all.

    Raises:
        InputError: a plugin that is to be loaded is not installed.
    """
    plugin_registry = Registry()
    plugin_registry.manager.add_hookspecs(Hooks)
    # Ours first: a third-party plugin cannot take the name of a built-in system.
    ordered = sorted(map(_found_at, entry_points), key=lambda p: (not p[0].ours, *_called(p[0])))
    names = {name for plugin, _ in ordered for name in _called(plugin)}
    for name in _parts(selection):
        if not name.startswith("-") and name not in (*names, "none"):
            plain = [plugin_name for plugin_name in names if ("@" in plugin_name) == ("@" in name)]
            raise unknown("plugin", name, plain, hint="IRPLATFORM_PLUGINS names it.")
    for plugin, entry_point in ordered:
        if _selected(plugin, selection):
            plugin_registry.plugins.append(_load_one(plugin_registry, plugin, entry_point))
    return plugin_registry


def _found_at(entry_point: metadata.EntryPoint) -> tuple[Plugin, metadata.EntryPoint]:
    distribution = entry_point.dist
    # What an interrupted uninstallation leaves has neither.
    name = (distribution and distribution.name) or "unknown distribution"
    version = (distribution and distribution.version) or "?"
    return Plugin(entry_point.name, name, version), entry_point


def _called(plugin: Plugin) -> tuple[str, str]:
    """What a selection may call a plugin; the second tells it from others of its name."""
    return plugin.name, f"{plugin.name}@{plugin.distribution}"


def _parts(selection: str) -> list[str]:
    return [part.strip() for part in selection.split(",") if part.strip()]


def _selected(plugin: Plugin, selection: str) -> bool:
    parts = _parts(selection)
    selected = {part for part in parts if not part.startswith("-")}
    names = _called(plugin)
    return not any(f"-{name}" in parts for name in names) and (
        not selected or not selected.isdisjoint(names)
    )


def _load_one(
    plugin_registry: Registry, plugin: Plugin, entry_point: metadata.EntryPoint
) -> Plugin:
    if first := next(
        (other for other in plugin_registry.plugins if other.name == plugin.name), None
    ):
        return replace(
            plugin,
            error=f"{first} has this name, too. IRPLATFORM_PLUGINS=-{_called(first)[1]} leaves "
            f"that one out, -{_called(plugin)[1]} this one",
        )
    contribution = Contribution(plugin)
    unmet = "" if plugin.ours else unmet_requirement(entry_point)
    manager = plugin_registry.manager
    try:
        with isolated():
            module = named_by(entry_point)
            hooks = check_hooks(manager, module)
            manager.register(module, name=str(plugin))
            contribution.collect(manager)
            forgotten = unmarked(manager, module)
            idle = "" if hooks or forgotten else without_hooks(module)
        plugin_registry.add(contribution.tables)
    except BaseException as error:  # a broken module must not stop the others
        if is_interruption(error):
            raise
        if manager.has_plugin(str(plugin)):
            manager.unregister(name=str(plugin))
        show_traceback(error)
        told = with_place(error, entry_point.value.partition(":")[0].strip())
        hint = f"; {unmet}" if unmet else _of_another_version(error)
        return replace(plugin, error=told + hint)
    return replace(
        plugin,
        provides=tuple(contribution.provides),
        unmarked=forgotten,
        remarks=tuple(filter(None, (idle, unmet))),
    )


def _of_another_version(error: BaseException) -> str:
    """What to look at where a plugin imports of the platform what it does not have."""
    if not isinstance(error, ImportError) or (error.name or "").partition(".")[0] != "irplatform":
        return ""
    return f". The plugin may be made for another version than irplatform {__version__}"
