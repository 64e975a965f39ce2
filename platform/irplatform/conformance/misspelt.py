"""What a class defines under nearly a name of the contract, so that nobody would ever ask for it.

`explian`, or `want_expansion = True`: Python says nothing, and the platform goes on by its default.
"""

from __future__ import annotations

from difflib import get_close_matches
from inspect import getattr_static
from types import CodeType
from typing import TYPE_CHECKING

from irplatform.registry import contract_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLOSE = 0.85
"""Of two names, as difflib compares them: `explian` and `explain` have 0.86."""


def problems_of_names(system: type) -> Iterator[str]:
    """Names that look like one of the contract's that the class leaves as it is, each in a line.

    What its code asks for, or that of a class that it is derived from, is a helper.
    """
    contract = contract_of(system)
    left_alone = [n for n, value in contract.items() if getattr_static(system, n) is value]
    used = {name for kind in system.__mro__ for name in _names_used(kind)}
    package = _package(system)
    for kind in system.__mro__:
        for name in vars(kind) if _package(kind) == package else ():
            if name.startswith("_") or name in contract or name in used:
                continue
            if near := get_close_matches(name, left_alone, 1, _CLOSE):
                yield f"{kind.__name__}.{name} is no name of the contract: is '{near[0]}' meant?"


def _package(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _names_used(kind: type) -> Iterator[str]:
    """Attributes that the methods of a class ask for."""
    for value in vars(kind).values():
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if isinstance(code := getattr(function, "__code__", None), CodeType):
            yield from _names_in(code)


def _names_in(code: CodeType) -> Iterator[str]:
    """Attributes that code asks for, functions within it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
