"""The declared types and bounds of systems' options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from irplatform.options import path_within

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from irplatform.registry.dependencies import ChosenSystem


@dataclass(frozen=True)
class Declared:
    """An option of a system: its value, declared types and literal values, and bounds.

    `above` and `below` say that the bounds `low` and `high` are excluded.
    """

    system: str
    value: object
    kinds: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    above: bool = False
    below: bool = False

    @property
    def is_integral(self) -> bool:
        """Whether it takes whole numbers only."""
        if self.kinds:
            return int in self.kinds and float not in self.kinds
        return isinstance(self.value, int)

    @property
    def number(self) -> bool:
        """Whether it takes numbers, and is not a switch."""
        if self.kinds:
            return bool({int, float}.intersection(self.kinds)) and bool not in self.kinds
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)

    @property
    def text(self) -> bool:
        """Whether it takes text, words of a choice or file names, and no numbers."""
        texts = [kind for kind in self.kinds if kind in (str, Path) or isinstance(kind, str)]
        others = [kind for kind in self.kinds if kind not in texts and kind is not NoneType]
        return bool(texts) and all(get_origin(kind) for kind in others)

    @property
    def literals(self) -> tuple[object, ...]:
        """All values that it takes, if they can be listed."""
        if any(kind in (int, float, str) or get_origin(kind) for kind in self.kinds):
            return ()
        switches = (False, True) if bool in self.kinds else ()
        return (*switches, *(k for k in self.kinds if isinstance(k, str)))


def declarations(systems: Sequence[ChosenSystem[Any]], name: str) -> Iterator[Declared]:
    """Yield the options of a setting's name, one per system that has it."""
    for system in systems:
        if path := _path(system, name):
            yield _walk(system, path)


def takes_text(systems: Sequence[ChosenSystem[Any]], name: str) -> bool:
    """Return whether a setting is text in every system that has it."""
    options = list(declarations(systems, name))
    return bool(options) and all(option.text for option in options)


def in_common(systems: Sequence[ChosenSystem[Any]], name: str, other: str) -> str:
    """Return the option that two settings share, such as "k1 of bm25", or ""."""
    for system in systems:
        path = _path(system, name)
        if path and path == _path(system, other):
            return f"{'.'.join(path)} of {system.name}"
    return ""


def _path(system: ChosenSystem[Any], name: str) -> list[str]:
    """The path of a setting in a system's options, or []."""
    options = type(system.options).model_fields
    path = path_within(name, system.name, options)
    return path if path and path[0] in options else []


def _walk(system: ChosenSystem[Any], path: Sequence[str]) -> Declared:
    value: Any = system.options
    field: FieldInfo | None = None
    kinds: tuple[Any, ...] = ()
    for part in path:
        if isinstance(value, BaseModel):
            field = type(value).model_fields.get(part)
            kinds = _kinds(field.annotation) if field else ()
            value = getattr(value, part, None)
        else:
            inner = [get_args(kind)[1] for kind in kinds if get_origin(kind) in (dict, Mapping)]
            kinds = _kinds(inner[0]) if inner else ()
            field = None
            value = value.get(part) if isinstance(value, Mapping) else None
    return Declared(system.name, value, kinds, *_bounds(field))


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The types and literal values of an annotation."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return tuple(kind for member in get_args(annotation) for kind in _kinds(member))
    if origin is Literal:
        return get_args(annotation)
    if hasattr(annotation, "__metadata__"):  # Annotated
        return _kinds(get_args(annotation)[0])
    return (annotation,)


def _bounds(field: FieldInfo | None) -> tuple[float | None, float | None, bool, bool]:
    low = high = None
    above = below = False
    for constraint in field.metadata if field else ():
        for side in ("ge", "gt"):
            if (bound := getattr(constraint, side, None)) is not None:
                low, above = bound, side == "gt"
        for side in ("le", "lt"):
            if (bound := getattr(constraint, side, None)) is not None:
                high, below = bound, side == "lt"
    return low, high, above, below
