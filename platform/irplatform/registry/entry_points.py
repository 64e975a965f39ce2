"""Entry points: where plugins are, what they name, which platform their distribution asks for."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform import __version__
from irplatform.errors import PluginError
from irplatform.packages import leave_out_damaged
from irplatform.registry.sources import GROUP, OURS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_OF_US = re.compile(rf"{OURS}\s*[\[(<>=!~]", re.IGNORECASE)
"""How a requirement begins that may name versions of the platform."""
_MOST_SEEN = 200
"""Folders with a project."""


def entry_points() -> Iterable[metadata.EntryPoint]:
    """Where the plugins of all packages are, but for packages that nobody can read."""
    try:
        return _found()
    except Exception:
        leave_out_damaged()
        return _found()


def _found() -> Iterable[metadata.EntryPoint]:
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
        name: what nobody registered: a plugin, or a system of one.
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
    from irplatform.toml_io import read_toml

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
