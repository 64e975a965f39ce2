"""Checks of a system when it is registered: its class, its options and its presets.

Otherwise a missing method fails after hours of training. Options that no record shows give results
that cannot be reproduced.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Set
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from irplatform.errors import InputError, PluginError
from irplatform.options import HasOptions, Options, option_values
from irplatform.plugin.declarations import Declared
from irplatform.plugin.features import FeatureGroup, TrainableFeatureGroup
from irplatform.plugin.judges import Judge
from irplatform.plugin.rerankers import Reranker, TrainableReranker
from irplatform.plugin.retrievers import Retriever
from irplatform.settings import flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NEEDED: Mapping[type, Sequence[Sequence[str]]] = {
    Declared: [],
    Reranker: [("score", "score_batch")],
    TrainableReranker: [("fit",), ("save",), ("load",)],
    FeatureGroup: [("names",), ("compute", "compute_batch")],
    TrainableFeatureGroup: [("fit",), ("save",), ("load",)],
    Retriever: [("retrieve",)],
    Judge: [("judge",)],
}
"""The methods that a subclass must define; of several, one."""
BASES: Mapping[str, type[Declared]] = {
    "reranker": Reranker,
    "retriever": Retriever,
    "feature group": FeatureGroup,
    "judge": Judge,
}


class HasPresets(HasOptions, Protocol):
    """The part of a registration that is checked."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def defaults(self) -> Mapping[str, object]: ...  # noqa: D102
    @property
    def presets(self) -> Mapping[str, Mapping[str, object]]: ...  # noqa: D102


def check_system(registration: HasPresets) -> None:
    """Refuse a system that would fail when it is used, or whose options cannot be recorded.

    Raises:
        PluginError: a method, option or preset is wrong.
        InputError: a default does not fit an option.
    """
    title, system, base = registration.title, registration.system, BASES[registration.kind]
    if not (isinstance(system, type) and issubclass(system, base)):
        raise PluginError(f"{title} is {system!r}, not a subclass of {base.__name__}")
    _check_options(registration)
    _check_presets(registration)
    _check_methods(title, system)


def _check_methods(title: str, system: type) -> None:
    for base in _NEEDED:
        for methods in _NEEDED[base] if issubclass(system, base) else ():
            if all(getattr(system, method) is getattr(base, method) for method in methods):
                names = " or ".join(f"{method}()" for method in methods)
                raise PluginError(f"{title}: {system.__name__} does not define {names}")
        for name, declared in vars(base).items() if issubclass(system, base) else ():
            if name.startswith("_") or not isinstance(declared, FunctionType):
                continue
            if (definition := inspect.getattr_static(system, name)) is not declared:
                bound = isinstance(definition, staticmethod | classmethod)
                method = f"{title}: {name}() of {system.__name__}"
                _check_call(method, getattr(system, name), declared, bound)


def _check_call(method: str, definition: Any, declared: FunctionType, bound: bool) -> None:
    """Refuse a method that cannot be called as the contract's: `score(topic, documents)`."""
    _, *arguments = parameters = [*inspect.signature(declared).parameters]
    try:
        inspect.signature(definition).bind(*(arguments if bound else parameters))
    except TypeError as error:
        raise PluginError(f"{method} must take ({', '.join(arguments)})") from error
    except ValueError:  # written in C, some functions do not say what they take
        return


def _check_options(registration: HasPresets) -> None:
    title = registration.title
    options: object = registration.system.Options
    if not (isinstance(options, type) and issubclass(options, Options)):
        raise PluginError(
            f"the Options of {title} are {options!r}, not a subclass of irplatform.plugin.Options"
        )
    for name, field in options.model_fields.items():
        if field.is_required() and name not in registration.defaults:
            raise PluginError(f"option '{name}' of {title} needs a default")
    _check_recorded(title, options)
    try:
        registration.options({}).model_dump(mode="json")
    except PydanticSerializationError as error:
        raise PluginError(f"the options of {title} cannot be recorded as JSON: {error}") from error


def _check_recorded(
    title: str, options: type[BaseModel], tables: frozenset[type[BaseModel]] = frozenset()
) -> None:
    for name, field in options.model_fields.items():
        if field.exclude or getattr(field, "exclude_if", None):
            raise PluginError(
                f"option '{name}' of {title} is declared with exclude: cached results would not "
                "depend on it"
            )
        for part in _types_in(field.annotation):
            if issubclass(part, Set):
                raise PluginError(
                    f"option '{name}' of {title} is a set, which has no order; declare a tuple"
                )
            if issubclass(part, BaseModel) and part not in tables:  # a table may hold its own kind
                _check_recorded(title, part, tables | {part})


def _types_in(annotation: Any) -> Iterator[type]:
    kind = get_origin(annotation) or annotation
    if isinstance(kind, type):
        yield kind
    for argument in get_args(annotation):
        yield from _types_in(argument)


def _check_presets(registration: HasPresets) -> None:
    for name, settings in registration.presets.items():
        values = {f"{registration.name}.{key}": value for key, value in flat(settings).items()}
        try:
            registration.options(option_values(registration, values)[1])
        except InputError as error:
            raise PluginError(f"preset '{name}': {error}") from error
