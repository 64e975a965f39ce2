"""Settings by name: which of them a system takes, and the nested values that they make."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, get_args

from irplatform.errors import InputError
from irplatform.plugin import Options

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from irplatform.registry.registration import Registration


def setting_names(options: type[Options], prefix: str = "") -> Iterator[str]:
    """Names of options, and "loop.epochs" where one has parts."""
    for name, field in options.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Options):
            yield from setting_names(kind, f"{prefix}{name}.")
        else:
            yield prefix + name


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Nested settings by their full names: `{"loop": {"epochs": 3}}` is `{"loop.epochs": 3}`."""
    settings: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            settings.update(flat(value, f"{prefix}{name}."))
        else:
            settings[prefix + name] = value
    return settings


def settings_of(
    registration: Registration[Any],
    settings: Mapping[str, object],
    of_name: Container[str] = (),
    beneath: Mapping[str, object] | None = None,
) -> tuple[set[str], dict[str, object]]:
    """The settings that a system takes: which keys were used, and the nested values.

    Args:
        registration: the system.
        settings: all that were given.
        of_name: options of all systems with its name, which are left to those that have them.
        beneath: values that the settings are set into, as JSON holds them.
    """
    paths = {key: path for key in settings if (path := _path_of(key, registration, of_name))}
    with_parts = {path[0] for path in paths.values() if len(path) > 1}
    values: dict[str, Any] = {
        name: deepcopy(value)
        for name, value in (beneath or {}).items()
        if isinstance(value, dict) or name not in with_parts
    }
    for key, path in paths.items():
        place, value = values, settings[key]
        for part in path[:-1]:
            inner = place.setdefault(part, _base(registration, part))
            if not isinstance(inner, dict):
                raise InputError(f"'{part}' cannot be set both as a whole and by '{key}'.")
            place = inner
        unset = value == "none" and _takes_none(registration.system.Options, path)
        place[path[-1]] = None if unset else deepcopy(value)  # parts of it may be set below
    return set(paths), values


def _path_of(key: str, registration: Registration[Any], of_name: Container[str]) -> list[str]:
    """Where in a system's options a setting belongs, as ["loop", "epochs"]; [] for nowhere."""
    names = registration.option_names()
    path = path_within(key, registration.name, names)
    by_name = key.startswith(f"{registration.name}.")
    return path if path and (path[0] in names or (by_name and path[0] not in of_name)) else []


def path_within(key: str, system: str, names: Container[str]) -> list[str]:
    """A setting's name as a path in a system's options; the system's own name may stand before it.

    Args:
        key: the setting's name, such as "delta.loop.epochs".
        system: the system's name, which may have dots in it.
        names: of its options; the first part of a path that is one of them is none of the system's.
    """
    if key.partition(".")[0] in names:
        return key.split(".")
    if key == system:
        return []
    return key.removeprefix(f"{system}.").split(".")


def _takes_none(options: Any, path: Sequence[str]) -> bool:
    """Whether an option may be unset, and "none" is no value of it."""
    for part in path:
        field = getattr(options, "model_fields", {}).get(part)
        if field is None:
            return False
        options = field.annotation
    return type(None) in get_args(options) and not any(
        "none" in get_args(member) for member in get_args(options)
    )


def _base(registration: Registration[Any], option: str) -> dict[str, Any]:
    """The present values of an option that has parts, to change some of them.

    What is as in its class is left out, so that an option knows which of its parts were set.
    """
    if option not in registration.system.Options.model_fields:
        return {}
    value = getattr(registration.options({}), option)
    return dict(value.model_dump(exclude_unset=True)) if hasattr(value, "model_dump") else {}
