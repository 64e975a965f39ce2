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
    parts = get_args(annotation)
    if is_choice(annotation):
        return ", or ".join(type_in_words(part, limits) for part in parts)
    if get_origin(annotation) is Literal:
        return _either([f"'{part}'" for part in parts])
    if get_origin(annotation) in (tuple, list):
        return _list_in_words(parts)
    if get_origin(annotation) is dict:
        return _table_in_words(parts[1])
    if annotation in _WORDS:
        return _WORDS[annotation] + (_limits_in_words(limits) if annotation in _NUMBERS else "")
    return "table" if hasattr(annotation, "model_fields") else _name(annotation)


def is_choice(annotation: Any) -> bool:
    """Whether values of several types fit."""
    return get_origin(annotation) in (Union, UnionType)


def is_number(annotation: Any) -> bool:
    """Whether values are numbers, or numbers among others, and not true or false."""
    annotation, _ = _bare(annotation, ())
    parts = get_args(annotation) if is_choice(annotation) else [annotation]
    bare = [_bare(part, ())[0] for part in parts]
    return any(part in _NUMBERS for part in bare) and not {bool, Any} & set(bare)


def _bare(annotation: Any, limits: Iterable[Any]) -> tuple[Any, list[Any]]:
    """A type without `Annotated`, and all that is declared of it."""
    found = list(limits)
    if get_origin(annotation) is Annotated:
        annotation, *further = get_args(annotation)
        for limit in further:
            found += getattr(limit, "metadata", [limit])  # a `Field(…)` holds several
    return annotation, found


def _list_in_words(parts: Sequence[Any]) -> str:
    item = type_in_words(parts[0])
    plural = {"text", "whole number", "number", "file", "table"}
    items = f"{item}s" if item in plural else item
    fixed = len(parts) > 1 and parts[-1] is not Ellipsis
    return f"list of {len(parts)} {items}" if fixed else f"list of {items}"


def _table_in_words(value: Any) -> str:
    """A table whose values are anything is one of settings; others say what they hold."""
    if value is Any or get_origin(value) is dict:
        return "table of settings"
    return f"text to {type_in_words(value)}"


def _limits_in_words(limits: Iterable[Any]) -> str:
    """What numbers are allowed: " above 0", " from 0 to 1", " (0 or more)"."""
    held: dict[str, Any] = {}
    for limit in limits:
        for name in ("ge", "gt", "le", "lt"):
            if (bound := getattr(limit, name, None)) is not None:
                held[name] = bound
    if held.keys() == {"ge", "le"}:
        return f" from {held['ge']} to {held['le']}"
    if held.keys() == {"ge"}:
        return f" ({held['ge']} or more)"
    if held.keys() == {"le"}:
        return f" ({held['le']} or less)"
    words = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    told = [f"{word} {held[name]}" for name, word in words.items() if name in held]
    return f" {' and '.join(told)}" if told else ""


def _either(words: Sequence[str]) -> str:
    return " or ".join([*([", ".join(words[:-1])] if words[:-1] else []), words[-1]])


def _name(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
