"""The type of an option in words of a user, who knows neither Python nor pydantic."""

from __future__ import annotations

from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def type_in_words(annotation: Any, limits: Iterable[Any] = ()) -> str:
    """A type, such as "number above 0, or 'mean-length'".

    Args:
        annotation: of the option.
        limits: what else was declared of it, as pydantic's `FieldInfo.metadata` holds it.
    """
    annotation, limits = _bare(annotation, limits)
    arguments = get_args(annotation)
    if is_choice(annotation):
        return ", or ".join(type_in_words(argument, limits) for argument in arguments)
    if get_origin(annotation) is Literal:
        return _either([f"'{argument}'" for argument in arguments])
    if get_origin(annotation) in (tuple, list):
        return _list_in_words(arguments)
    if get_origin(annotation) is dict:
        return _table_in_words(arguments[1])
    if annotation in _WORDS:
        return _WORDS[annotation] + (_limits_in_words(limits) if annotation in _NUMBERS else "")
    return "table" if hasattr(annotation, "model_fields") else _name(annotation)


def is_choice(annotation: Any) -> bool:
    """Whether values of several types fit."""
    return get_origin(annotation) in (Union, UnionType)


def is_number(annotation: Any) -> bool:
    """Whether values are numbers, or numbers among others, and not true or false."""
    annotation, _ = _bare(annotation, ())
    members = get_args(annotation) if is_choice(annotation) else [annotation]
    types = [_bare(member, ())[0] for member in members]
    return any(kind in _NUMBERS for kind in types) and not {bool, Any} & set(types)


def _bare(annotation: Any, limits: Iterable[Any]) -> tuple[Any, list[Any]]:
    """A type without `Annotated`, and all that is declared of it."""
    declared = list(limits)
    if get_origin(annotation) is Annotated:
        annotation, *further = get_args(annotation)
        for limit in further:
            declared += getattr(limit, "metadata", [limit])  # a `Field(…)` holds several
    return annotation, declared


def _list_in_words(arguments: Sequence[Any]) -> str:
    items = [type_in_words(each) for each in arguments if each is not Ellipsis]
    fixed = len(arguments) > 1 and arguments[-1] is not Ellipsis
    if len({*items}) > 1:
        return f"list of {len(items)}: {', '.join(items)}"
    plural = {"text", "whole number", "number", "file", "table"}
    several = f"{items[0]}s" if items[0] in plural else items[0]
    return f"list of {len(arguments)} {several}" if fixed else f"list of {several}"


def _table_in_words(value: Any) -> str:
    """A table whose values are anything is one of settings; others say what they hold."""
    if value is Any or get_origin(value) is dict:
        return "table of settings"
    return f"text to {type_in_words(value)}"


def _limits_in_words(limits: Iterable[Any]) -> str:
    """What numbers are allowed: " above 0", " from 0 to 1", " (0 or more)"."""
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


def _either(words: Sequence[str]) -> str:
    return " or ".join([*([", ".join(words[:-1])] if words[:-1] else []), words[-1]])


def _name(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
