"""Loads plugins one by one, guarded.

A plugin that cannot be imported, has a wrong hook signature or fails while registering is
remembered as broken, with its distribution, version and error, and the others go on.
`IRPLATFORM_PLUGINS` selects plugins by the name of their entry point (`delta,lucene`) or switches
some off (`-delta`).
"""

from __future__ import annotations

import functools
import inspect
import os
from importlib import metadata
from typing import TYPE_CHECKING

from irplatform import stdout
from irplatform.errors import in_a_line, place_in, show_traceback, unknown
from irplatform.plugin import Hooks
from irplatform.registry.contribution import Contribution
from irplatform.registry.lookup import Registry
from irplatform.registry.registration import Plugin
from irplatform.registry.sources import GROUP, OURS

if TYPE_CHECKING:
    from collections.abc import Iterable


@functools.cache
def registry() -> Registry:
    """The registry of this process; plugins are loaded at the first call."""
    return load(metadata.entry_points(group=GROUP), os.environ.get("IRPLATFORM_PLUGINS", ""))


def load(entry_points: Iterable[metadata.EntryPoint], selection: str = "") -> Registry:
    """Load plugins.

    Args:
        entry_points: where they are.
        selection: names to load, or names to leave out with a "-" before each, separated by
            commas; empty loads all.

    Raises:
        InputError: a plugin that is to be loaded is not installed.
    """
    found = Registry()
    found.manager.add_hookspecs(Hooks)
    # Ours first: no stranger takes the name of what everybody knows.
    entry_points = sorted(entry_points, key=lambda e: (not _is_ours(e), e.name))
    names = [entry_point.name for entry_point in entry_points]
    for name in _parts(selection):
        if not name.startswith("-") and name not in (*names, "none"):
            raise unknown("plugin", name, names, hint="IRPLATFORM_PLUGINS names it.")
    for entry_point in entry_points:
        if _selected(entry_point.name, selection):
            found.plugins.append(_load_one(found, entry_point))
    return found


def _is_ours(entry_point: metadata.EntryPoint) -> bool:
    return entry_point.dist is not None and entry_point.dist.name == OURS


def _parts(selection: str) -> list[str]:
    return [part.strip() for part in selection.split(",") if part.strip()]


def _selected(name: str, selection: str) -> bool:
    chosen = _parts(selection)
    wanted = {part for part in chosen if not part.startswith("-")}
    return f"-{name}" not in chosen and (not wanted or name in wanted)


def _load_one(found: Registry, entry_point: metadata.EntryPoint) -> Plugin:
    distribution = entry_point.dist.name if entry_point.dist else "unknown distribution"
    version = entry_point.dist.version if entry_point.dist else "?"
    plugin = Plugin(entry_point.name, distribution, version)
    contribution = Contribution(plugin)
    try:
        with stdout.spared():
            module = entry_point.load()
            found.manager.register(module, name=str(plugin))
            found.manager.check_pending()
            contribution.collect(found.manager)
            unmarked = _unmarked(found, module)
        found.add(contribution.tables)
    except (Exception, SystemExit) as error:  # a stranger's module must not stop the others
        if found.manager.has_plugin(str(plugin)):
            found.manager.unregister(name=str(plugin))
        show_traceback(error)
        place = place_in(entry_point.value.partition(":")[0].strip(), error)
        told = in_a_line(error) + (f" ({place})" if place else "")
        return Plugin(plugin.name, distribution, version, error=told)
    provides = tuple(contribution.provides)
    return Plugin(plugin.name, distribution, version, provides=provides, unmarked=unmarked)


def _unmarked(found: Registry, module: object) -> tuple[str, ...]:
    """The functions of a plugin that are called like hooks, and are none."""
    return tuple(
        name
        for name, hook in vars(Hooks).items()
        if inspect.isfunction(hook)
        and inspect.isroutine(getattr(module, name, None))
        and found.manager.parse_hookimpl_opts(module, name) is None
    )
