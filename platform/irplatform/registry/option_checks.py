"""Whether the options of a system can be used: without being set, in JSON, and with its presets."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from irplatform.errors import InputError, PluginError
from irplatform.plugin import Options
from irplatform.registry.settings import flat, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.registry.registration import Registration, System


def check_options(registration: Registration[System]) -> None:
    """See that a system's options, its defaults among them, are sound, and fit its presets.

    They are checked when it is registered, not when it is used.

    Raises:
        PluginError: they are not.
        InputError: a default is no option, or not of its type.
    """
    options: object = registration.system.Options
    if not (isinstance(options, type) and issubclass(options, Options)):
        raise PluginError(
            f"the Options of {registration.title} are {options!r}, not a subclass of "
            "irplatform.plugin.Options"
        )
    _refuse_required(registration.title, options, registration.defaults)
    _refuse_excluded(registration.title, options)
    beginning = registration.name.partition(".")[0]
    if registration.kind != "feature group" and beginning in options.model_fields:
        raise PluginError(
            f"{registration.title} has an option '{beginning}': of '{registration.name}.NAME' "
            "nobody could tell whether it is an option of it or a part of that one"
        )
    default_options = registration.options({})
    try:
        default_options.model_dump(mode="json")
    except PydanticSerializationError as error:
        raise PluginError(
            f"the options of {registration.title} cannot be recorded as JSON: {error}"
        ) from error
    _refuse_sets(registration.title, options)
    if (found := _set_in(default_options.model_dump(), "")) is not None:
        raise PluginError(
            f"the default of option '{found}' of {registration.title} has a set in it, which has "
            "no order to be recorded in; take a tuple"
        )
    _check_presets(registration)


def _refuse_required(system: str, options: type[Options], defaults: Mapping[str, object]) -> None:
    """Refuse options that somebody would have to set."""
    for name, field in options.model_fields.items():
        if field.is_required() and name not in defaults:
            raise PluginError(f"option '{name}' of {system} needs a default")


def _refuse_excluded(
    system: str, options: type[BaseModel], seen: frozenset[type[BaseModel]] = frozenset()
) -> None:
    """Refuse options that no record of a run would show, and no cached result depend on."""
    for name, field in options.model_fields.items():
        if field.exclude or getattr(field, "exclude_if", None):
            raise PluginError(
                f"option '{name}' of {system} is declared with exclude, so that it would not be "
                "recorded, and cached results would not depend on it"
            )
        for part in _tables_in(field.annotation):
            if part not in seen:  # one that holds others of its kind
                _refuse_excluded(system, part, seen | {part})


def _tables_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The classes of tables that a type has in it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _tables_in(argument)


def _refuse_sets(system: str, options: type[BaseModel]) -> None:
    """Refuse options without an order, which would be another fingerprint in every process."""
    for name, field in options.model_fields.items():
        if _is_set(field.annotation):
            raise PluginError(
                f"option '{name}' of {system} is a set, which has no order to be recorded in; "
                "declare a tuple"
            )
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            _refuse_sets(system, field.annotation)


def _is_set(annotation: Any) -> bool:
    base_type = get_origin(annotation) or annotation
    return (isinstance(base_type, type) and issubclass(base_type, Set)) or any(
        map(_is_set, get_args(annotation))
    )


def _set_in(value: object, name: str) -> str | None:
    """The name of the option whose value has a set in it, or None."""
    if isinstance(value, Set):
        return name
    if isinstance(value, Mapping):
        parts = [(f"{name}.{key}" if name else str(key), part) for key, part in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(name, part) for part in value]
    else:
        return None
    return next((found for key, part in parts if (found := _set_in(part, key)) is not None), None)


def _check_presets(registration: Registration[System]) -> None:
    """Refuse presets that are no tables of settings, or have one that the system does not take."""
    presets: object = registration.presets
    if not isinstance(presets, Mapping):
        raise PluginError(
            f"the presets of {registration.title} are {presets!r}, not settings by name"
        )
    for name, settings in presets.items():
        if not isinstance(settings, Mapping):
            raise PluginError(
                f"preset '{name}' of {registration.title} is {settings!r}, not a table of settings"
            )
        try:
            _, values = settings_of(
                registration,
                {f"{registration.name}.{key}": value for key, value in flat(settings).items()},
            )
            registration.options(values)
        except InputError as error:
            raise PluginError(f"preset '{name}': {error}") from error
