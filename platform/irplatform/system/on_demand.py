"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def on_demand(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package.

    Args:
        package: its `__name__`.
        modules: name to the module that defines it.
    """
    known = vars(sys.modules[package])

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        known[name] = value = getattr(import_module(modules[name]), name)
        return value

    return load, lambda: sorted({*known, *modules})
