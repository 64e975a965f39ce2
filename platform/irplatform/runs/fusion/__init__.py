"""Methods of fusion, one a file: name, formula, paper, parameters, and what of them is learned."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from irplatform.errors import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.runs.fusion.method import FusionMethod


@cache
def fusion_methods() -> Mapping[str, type[FusionMethod]]:
    """Return the methods of all files by name, those that go before others first."""
    methods: list[type[FusionMethod]] = []
    for module in iter_modules(__path__, f"{__name__}."):
        if register := getattr(import_module(module.name), "register_fusion", None):
            register(methods.append)
    return {method.name: method for method in sorted(methods, key=lambda method: method.place)}


def fusion_method(name: str, **parameters: Any) -> FusionMethod:
    """Make a method of its name and parameters.

    A parameter that is None, or that the method does not have, is left out.

    Raises:
        InputError: there is no such method.
    """
    if name not in fusion_methods():
        raise unknown("fusion", name, fusion_methods())
    method = fusion_methods()[name]
    values = {n: value for n, value in parameters.items() if value is not None}
    return method(**{n: value for n, value in values.items() if hasattr(method, n)})


def with_parameter(name: str) -> list[str]:
    """Return the names of the methods that have a parameter."""
    return [method.name for method in fusion_methods().values() if hasattr(method, name)]
