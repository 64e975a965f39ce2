"""What callers from Python may write more shortly: a text for a path, one name for a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from irplatform.errors import InputError
from irplatform.options import flat

AnyPath: TypeAlias = Path | str
Names: TypeAlias = Iterable[str] | str
Paths: TypeAlias = Iterable[AnyPath] | AnyPath


def names(given: Names, argument: str) -> tuple[str, ...]:
    """A list of names; one name stands for a list of one.

    Raises:
        InputError: it is neither.
    """
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
        raise InputError(f"{argument} is {given!r}; it must be a name or a list of names.")
    found = tuple(listed)
    if strange := [name for name in found if not isinstance(name, str)]:
        raise InputError(f"{argument} has {strange[0]!r} in it; it must be a list of names.")
    return found


def path(given: AnyPath, argument: str) -> Path:
    """A path, also of a text.

    Raises:
        InputError: it is neither, or empty.
    """
    if not isinstance(given, Path | str) or given == "":
        raise InputError(f"{argument} is {given!r}; it must be a path.")
    return Path(given)


def paths(given: Paths, argument: str) -> tuple[Path, ...]:
    """A list of paths; one path stands for a list of one.

    Raises:
        InputError: it is neither.
    """
    listed = (given,) if isinstance(given, Path | str) else given
    if not isinstance(listed, Iterable):
        raise InputError(f"{argument} is {given!r}; it must be a path or a list of paths.")
    return tuple(path(each, argument) for each in listed)


def settings_by_name(given: Mapping[str, object] | None) -> dict[str, object]:
    """Options of systems by their full names: `{"rm3": {"fb_terms": 20}}` is rm3.fb_terms.

    Raises:
        InputError: it is no mapping.
    """
    if not isinstance(given or {}, Mapping):
        raise InputError(
            f"settings is {given!r}; it must map options to values: {{'rm3.fb_terms': 20}}."
        )
    settings: dict[str, object] = {}
    for name, value in (given or {}).items():
        whole = not isinstance(value, dict) or "." in name
        settings |= {name: value} if whole else flat({name: value})
    return settings
