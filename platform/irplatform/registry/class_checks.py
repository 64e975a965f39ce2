"""Whether a system's class keeps the contract, seen when it is registered.

Otherwise a method that is missing would be missed when it is called, perhaps after hours of
training.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING

from irplatform.errors import PluginError
from irplatform.plugin import (
    FeatureGroup,
    Reranker,
    Retriever,
    TrainableFeatureGroup,
    TrainableReranker,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NEEDED: Mapping[type, Sequence[Sequence[str]]] = {
    Reranker: [("score", "score_batch")],
    TrainableReranker: [("fit",), ("save",), ("load",)],
    FeatureGroup: [("names",), ("compute", "compute_batch")],
    TrainableFeatureGroup: [("fit",), ("save",), ("load",)],
    Retriever: [("retrieve",)],
}
"""What a subclass must define; of several methods, one."""
_PRETRAINED_ON = ("mesh", "")


def check_attributes(who: str, system: type) -> None:
    """See that what a class says of itself is of the type that the contract has for it.

    Args:
        who: what is registered, for messages.
        system: its class.

    Raises:
        PluginError: something is not.
    """
    for _, name, default in _declared(system):
        attribute = getattr(system, name)
        if isinstance(default, str | bool) and not isinstance(attribute, type(default)):
            expected = "true or false" if isinstance(default, bool) else "text"
            raise PluginError(f"{who}: {system.__name__}.{name} is {attribute!r}, not {expected}")
        if name == "pretrained_on" and attribute not in _PRETRAINED_ON:
            raise PluginError(
                f"{who}: {system.__name__}.{name} is {attribute!r}; only 'mesh' can be named"
            )
        if inspect.isroutine(default) and not callable(attribute):
            raise PluginError(f"{who}: {system.__name__}.{name} is {attribute!r}, not a method")


def check_methods(who: str, system: type) -> None:
    """See that a class defines what will be called, in a way in which it can be called.

    Args:
        who: what is registered, for messages.
        system: its class.

    Raises:
        PluginError: a method is missing, is async, or does not take its arguments; or an instance
            cannot be made of options.
    """
    for base in _bases(system):
        for methods in _NEEDED[base]:
            if all(getattr(system, method) is getattr(base, method) for method in methods):
                names = " or ".join(f"{method}()" for method in methods)
                raise PluginError(f"{who}: {system.__name__} does not define {names}")
    for base, name, declared in _declared(system):
        is_called = isinstance(declared, FunctionType)
        if is_called and inspect.getattr_static(system, name) is not declared:
            _check_call(f"{who}: {name}() of {system.__name__}", name, base, system)
    _check_making(who, system)


def _bases(system: type) -> list[type]:
    """The classes of the contract that a class is derived from."""
    return [base for base in _NEEDED if issubclass(system, base)]


def _declared(system: type) -> Iterator[tuple[type, str, object]]:
    """The attributes and methods that the contract has for a class, with where it has them."""
    for base in _bases(system):
        for name, value in vars(base).items():
            if not name.startswith("_"):
                yield base, name, value


def _check_call(method: str, name: str, base: type, system: type) -> None:
    """See that a method takes what it will be called with: `score(topic, documents)`."""
    own = getattr(system, name)
    if inspect.iscoroutinefunction(own):
        raise PluginError(f"{method} is async, and nobody awaits it")
    declared = [*inspect.signature(getattr(base, name)).parameters]
    arguments = [argument for argument in declared if argument != "self"]
    of_the_class = isinstance(inspect.getattr_static(system, name), staticmethod | classmethod)
    try:
        inspect.signature(own).bind(*(arguments if of_the_class else declared))
    except TypeError as error:
        raise PluginError(f"{method} must take ({', '.join(arguments)})") from error
    except ValueError:  # written in C, some functions do not say what they take
        return


def _check_making(who: str, system: type) -> None:
    """See that an instance can be made of options, and of nothing else."""
    if inspect.isabstract(system):
        missing = ", ".join(sorted(getattr(system, "__abstractmethods__", ())))
        raise PluginError(f"{who}: {system.__name__} does not define {missing}, and is abstract")
    try:
        inspect.signature(system).bind(None)
    except TypeError as error:
        raise PluginError(
            f"{who}: {system.__name__}() cannot be made ({error}): its __init__ is given the "
            "options, and nothing else"
        ) from error
