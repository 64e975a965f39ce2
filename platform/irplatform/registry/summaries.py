"""What lists say of the platform's own systems, kept in the cache: no class is imported for it.

It depends on the platform's code, and on what is installed, without which a class may not be
imported. Systems of other plugins, and those that cannot be used, are asked each time.
"""

from __future__ import annotations

import inspect
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.files.code_digests import our_digest
from irplatform.files.facts import kept_fact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.registry.registration import Registration

_INSTALLED = (".dist-info", ".egg-info")


@dataclass(frozen=True)
class Summary:
    """The first line about a system, and the packages that it needs with default options."""

    text: str
    packages: tuple[str, ...]


def summary_of(registration: Registration[Any]) -> Summary:
    """Return the summary of a system that is not broken; this imports its class."""
    documentation = inspect.cleandoc(registration.system.__doc__ or "")
    return Summary(documentation.split("\n")[0], tuple(registration.packages()))


def known_summaries(table: str, systems: Mapping[str, Registration[Any]]) -> dict[str, Summary]:
    """Return summaries of the platform's own systems by name; `table` says of what: "rerankers"."""
    places = {
        n: r.declared for n, r in systems.items() if r.plugin.is_builtin and r.plugin.installed
    }
    depends_on = {
        "code": our_digest(),
        "systems": {name: place for name, place in places.items() if isinstance(place, str)},
        "python": sys.version,
        "installed": _installed(),
    }

    def find() -> dict[str, tuple[str, tuple[str, ...]]]:
        usable = (name for name in depends_on["systems"] if not systems[name].broken)
        summaries = {name: summary_of(systems[name]) for name in usable}
        return {name: (summary.text, summary.packages) for name, summary in summaries.items()}

    facts = kept_fact("summary", table, depends_on, find)
    return {name: Summary(text, tuple(packages)) for name, (text, packages) in facts.items()}


def _installed() -> list[str]:
    """Names of the installed distributions, with their versions."""
    names: set[str] = set()
    for folder in sys.path:
        with suppress(OSError):
            paths = Path(folder or ".").iterdir()
            names.update(path.name for path in paths if path.suffix in _INSTALLED)
    return sorted(names)
