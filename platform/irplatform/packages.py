"""Installed packages, of which some may be damaged: an interrupted installation leaves such."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

from irplatform.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterable


def leave_out_damaged() -> None:
    """Have Python pass over packages whose descriptions cannot be read, and name them.

    pydantic and torch look through all packages for plugins of their own, as we do, and end at the
    first one that cannot be read.
    """
    damaged: dict[str, str] = {}
    for distribution in metadata.distributions():
        try:
            _ = distribution.metadata, distribution.entry_points
        except Exception as error:
            damaged[_place(distribution)] = str(error)
    for place, reason in damaged.items():
        notice(
            f"{place} is damaged, and no plugin of it is used: its description cannot be read "
            f"({reason}). Install the package again, or remove the folder."
        )
    every = metadata.Distribution.discover

    def sound(**context: Any) -> Iterable[metadata.Distribution]:
        return (found for found in every(**context) if _place(found) not in damaged)

    metadata.Distribution.discover = sound  # type: ignore[method-assign]


def check_packages() -> None:
    """Leave out damaged packages, if there are any, before a library looks through all of them."""
    try:
        metadata.entry_points()
    except Exception:  # of one package's file, and Python does not say of which
        leave_out_damaged()


def _place(distribution: metadata.Distribution) -> str:
    return str(getattr(distribution, "_path", distribution))
