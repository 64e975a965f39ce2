"""Typed options of systems: set by name, and explained without words of Python or pydantic."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict

from irplatform.errors import InputError, unstopped
from irplatform.files.formats import TOMLError, parse_toml
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from pydantic import ValidationError
    from pydantic.fields import FieldInfo


_WORDS = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Path: "file",
    NoneType: "none",
    Any: "anything",
}
_NUMBERS = (int, float)
_SHOULD_BE = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "dict": "a table of settings",
}
"""Beginning of a pydantic problem (`int_parsing`, `int_type`) → the expected value."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class Options(BaseModel):
    """Base of every declaration of options.

    An option is an annotated attribute with a default and `Field(description="…")`. `settings` and
    TOML files set it, `platform rerankers show` documents it, and every run records it.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        populate_by_name=True,
        allow_inf_nan=False,  # JSON holds neither
    )

    @staticmethod
    def spelled(settings: Mapping[str, object]) -> str:
        """Return settings for a message, as who reads it writes them.

        >>> Options.spelled({"delta.filters": 64})
        "settings={'delta.filters': 64}"
        """
        return option("settings", settings)


def read_value(literal: str, *, text: bool = False) -> object:
    """Read a value of `settings` or `over` as TOML, or as text.

    For an option that takes `text`, numbers, switches and dates stay text.
    """
    try:
        value: object = parse_toml(f"value = {literal}")["value"]
    except TOMLError:
        return literal
    return value if not text or isinstance(value, str | list | dict) else literal


def setting_names(options: type[Options], prefix: str = "") -> Iterator[str]:
    """Yield names of options, "loop.epochs" for a part of one."""
    for name, field in options.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Options):
            yield from setting_names(kind, f"{prefix}{name}.")
        else:
            yield prefix + name


class HasOptions(Protocol):
    """A system with a name and options."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def system(self) -> Any: ...  # noqa: D102
    def option_names(self) -> list[str]: ...  # noqa: D102
    def options(self, settings: Mapping[str, object]) -> Options: ...  # noqa: D102


def option_values(
    registration: HasOptions,
    settings: Mapping[str, object],
    of_name: Container[str] = (),
    beneath: Mapping[str, object] | None = None,
) -> tuple[set[str], dict[str, object]]:
    """Return the keys of settings that a system takes, and the nested values.

    Other systems of this name take the options in `of_name`. Settings change the values `beneath`.
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


def _path_of(key: str, registration: HasOptions, of_name: Container[str]) -> list[str]:
    """The place of a setting in a system's options, such as ["loop", "epochs"], or []."""
    names = registration.option_names()
    path = path_within(key, registration.name, names)
    by_name = key.startswith(f"{registration.name}.")
    return path if path and (path[0] in names or (by_name and path[0] not in of_name)) else []


def path_within(key: str, system: str, names: Container[str]) -> list[str]:
    """Return a setting's name, such as "delta.loop.epochs", without the system's name.

    `names` are the system's options. The system's name may contain dots.
    """
    if key.partition(".")[0] in names:
        return key.split(".")
    if key == system:
        return []
    return key.removeprefix(f"{system}.").split(".")


def _takes_none(options: Any, path: Sequence[str]) -> bool:
    """Whether an option may be unset and has no value "none"."""
    for part in path:
        field = getattr(options, "model_fields", {}).get(part)
        if field is None:
            return False
        options = field.annotation
    return type(None) in get_args(options) and not any(
        "none" in get_args(member) for member in get_args(options)
    )


def _base(registration: HasOptions, option: str) -> dict[str, Any]:
    """The present values of an option that has parts, without the defaults of its class."""
    if option not in registration.system.Options.model_fields:
        return {}
    value = getattr(registration.options({}), option)
    return dict(value.model_dump(exclude_unset=True)) if hasattr(value, "model_dump") else {}


def first_problem(options: type[BaseModel], error: ValidationError) -> tuple[str, str]:
    """Return the option whose value is refused first, and what is wrong."""
    problem = error.errors()[0]
    path, declared = _declared(options, problem["loc"])
    place, kind = ".".join(path), problem["type"]
    if declared is not None:
        annotation: Any = declared.annotation
        length = kind in ("too_short", "too_long") or (
            kind == "missing" and isinstance(problem["loc"][-1], int)
        )
        # pydantic reports every type that it tried, and adds it to the place
        if length or (is_choice(annotation) and len(problem["loc"]) > len(path)):
            return place, f"it takes: {type_in_words(annotation, declared.metadata)}"
        if kind == "model_type" and len(problem["loc"]) == len(path):
            return place, f"it is a table; set its parts, such as {place}{_first(annotation)}"
    return ".".join(map(str, problem["loc"])), _in_words(kind, problem["msg"], problem["input"])


def _in_words(kind: str, message: str, value: object) -> str:
    if kind in ("tuple_type", "list_type"):
        example = as_list(value)
        return f"write a list, as {example} (in a shell: '{example}')"
    expected, _, problem = kind.partition("_")
    if expected in _SHOULD_BE and problem in ("type", "parsing", "from_float"):
        return f"it should be {_SHOULD_BE[expected]}"
    return (
        unstopped(message).removeprefix("Value error, ").replace("Input should be", "it should be")
    )


def as_list(value: object) -> str:
    """Return a text as a list in TOML: `a,b` is `["a", "b"]`."""
    items = [item.strip(" \"'[]") for item in str(value).split(",")]
    items = [item for item in items if item] or ["NAME"]
    numbers = all(map(_NUMBER.fullmatch, items))
    return f"[{', '.join(i if numbers else json.dumps(i, ensure_ascii=False) for i in items)}]"


def _declared(
    options: type[BaseModel], loc: Sequence[str | int]
) -> tuple[list[str], FieldInfo | None]:
    """The option at a place, and its declaration."""
    path: list[str] = []
    declared: FieldInfo | None = None
    inner: Any = options
    for key in loc:
        fields = getattr(inner, "model_fields", {})
        if key not in fields:
            break
        declared = fields[key]
        inner = _table(declared.annotation)
        path.append(str(key))
    return path, declared


def _table(annotation: Any) -> Any:
    """The table of a type such as `Table | None`, else the type."""
    tables = [member for member in get_args(annotation) if hasattr(member, "model_fields")]
    return tables[0] if is_choice(annotation) and len(tables) == 1 else annotation


def _first(options: Any) -> str:
    """The first option within a table, as ".epochs" or ".gene.weight"."""
    for name, declared in getattr(options, "model_fields", {}).items():
        return f".{name}{_first(declared.annotation)}"
    return ""


def type_in_words(annotation: Any, limits: Iterable[Any] = ()) -> str:
    """Return a type with its limits, such as "number above 0, or 'mean-length'"."""
    annotation, limits = _bare(annotation, limits)
    arguments = get_args(annotation)
    if is_choice(annotation):
        return ", or ".join(type_in_words(argument, limits) for argument in arguments)
    if get_origin(annotation) is Literal:
        *others, last = (f"'{argument}'" for argument in arguments)
        return f"{', '.join(others)} or {last}" if others else last
    if get_origin(annotation) in (tuple, list):
        return _list_in_words(arguments)
    if get_origin(annotation) is dict:
        return _table_in_words(arguments[1])
    if annotation in _WORDS:
        return _WORDS[annotation] + (_limits_in_words(limits) if annotation in _NUMBERS else "")
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return "table" if hasattr(annotation, "model_fields") else name


def is_choice(annotation: Any) -> bool:
    """Return whether values of several types fit."""
    return get_origin(annotation) in (Union, UnionType)


def _bare(annotation: Any, limits: Iterable[Any]) -> tuple[Any, list[Any]]:
    """A type without `Annotated`, and its limits."""
    declared = list(limits)
    if get_origin(annotation) is Annotated:
        annotation, *further = get_args(annotation)
        for limit in further:
            declared += getattr(limit, "metadata", [limit])  # a `Field(…)` holds several
    return annotation, declared


def _list_in_words(arguments: Sequence[Any]) -> str:
    items = [type_in_words(argument) for argument in arguments if argument is not Ellipsis]
    fixed = len(arguments) > 1 and arguments[-1] is not Ellipsis
    if len({*items}) > 1:
        return f"list of {len(items)}: {', '.join(items)}"
    plural = {"text", "whole number", "number", "file", "table"}
    several = f"{items[0]}s" if items[0] in plural else items[0]
    return f"list of {len(arguments)} {several}" if fixed else f"list of {several}"


def _table_in_words(value: Any) -> str:
    if value is Any or get_origin(value) is dict:
        return "table of settings"
    return f"text to {type_in_words(value)}"


def _limits_in_words(limits: Iterable[Any]) -> str:
    """The limits of numbers: " above 0", " from 0 to 1", " (0 or more)"."""
    bounds: dict[str, Any] = {}
    for limit in limits:
        for name in ("ge", "gt", "le", "lt"):
            if (bound := getattr(limit, name, None)) is not None:
                bounds[name] = bound
    if bounds.keys() == {"ge", "le"}:
        return f" from {bounds['ge']} to {bounds['le']}"
    if bounds.keys() == {"ge"}:
        return f" ({bounds['ge']} or more)"
    if bounds.keys() == {"le"}:
        return f" ({bounds['le']} or less)"
    words = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    phrases = [f"{word} {bounds[name]}" for name, word in words.items() if name in bounds]
    return f" {' and '.join(phrases)}" if phrases else ""
