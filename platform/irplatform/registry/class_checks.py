"""Checks of a system when it is registered: its class, its options and its presets.

A missing method would otherwise be missed when it is called, perhaps after hours of training, and
options that cannot be recorded would give results that cannot be reproduced.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Set
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from irplatform.errors import InputError, PluginError
from irplatform.options import HasOptions, Options, flat, settings_of
from irplatform.plugin.declarations import Declared
from irplatform.plugin.features import FeatureGroup, TrainableFeatureGroup
from irplatform.plugin.rerankers import Reranker, TrainableReranker
from irplatform.plugin.retrievers import Retriever

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NEEDED: Mapping[type, Sequence[Sequence[str]]] = {
    Declared: [],
    Reranker: [("score", "score_batch")],
    TrainableReranker: [("fit",), ("save",), ("load",)],
    FeatureGroup: [("names",), ("compute", "compute_batch")],
    TrainableFeatureGroup: [("fit",), ("save",), ("load",)],
    Retriever: [("retrieve",)],
}
"""The methods that a subclass must define; of several, one."""
_BASES = {"reranker": Reranker, "retriever": Retriever, "feature group": FeatureGroup}

_TRAITS = {
    "needs": "packages",
    "wants_expansion": "expanded_queries",
    "holds_first_stage": "weighs_first_stage",
    "learns_on_device": "learns_on_device",
    "pretrained_on": "pretraining",
    "pretrained_as": "shares_pretraining",
    "options_of_pretraining": "pretraining_options",
    "on_device": "on_device",
    "seeded": "seeded",
    "limits_dates": "limits_dates",
    "remark": "remark",
    "remembers_documents": "remembers_documents",
}
_READS = {
    "depends_on": "more",
    "checkpoints": "checkpoints",
    "pairs_learned": "pairs",
    "check_training": "check",
}
OLD_NAMES: Mapping[str, str] = {
    **{old: f"traits(), which returns Traits({new}=…)" for old, new in _TRAITS.items()},
    **{old: f"reads(), which returns Reads({new}=…)" for old, new in _READS.items()},
    "expanding": "an option of the type KnowledgeBases",
    "reads_knowledge": "an option of the type KnowledgeBases",
    "among_candidates": "rescore()",
}
"""Names of the contract of irplatform 0.1, and what to write instead."""


class Registered(HasOptions, Protocol):
    """A registration, as far as it is checked."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def defaults(self) -> Mapping[str, object]: ...  # noqa: D102
    @property
    def presets(self) -> Mapping[str, Mapping[str, object]]: ...  # noqa: D102


def check_system(registration: Registered) -> None:
    """Refuse a system that would fail, or could not be recorded, when it is used.

    Raises:
        PluginError: an attribute, method, option or preset is wrong.
        InputError: a default is no option, or not of its type.
    """
    who, system, base = registration.title, registration.system, _BASES[registration.kind]
    if not (isinstance(system, type) and issubclass(system, base)):
        raise PluginError(f"{who} is {system!r}, not a subclass of {base.__name__}")
    _check_contract(who, system)
    _check_attributes(f"{who}: {system.__name__}", system)
    _check_options(registration)
    _check_presets(registration)
    _check_methods(who, system)


def _check_contract(who: str, system: type) -> None:
    """Refuse a class of the contract of irplatform 0.1, which would silently do less."""
    for base in system.__mro__:
        for name in vars(base) if base not in _NEEDED else ():
            if name in OLD_NAMES:
                raise PluginError(
                    f"{who}: {base.__name__}.{name} is of irplatform 0.1; write "
                    f"{OLD_NAMES[name]} instead (docs/from-0.1-to-0.2.md)"
                )


def _declared(system: type) -> Iterator[tuple[type, str, object]]:
    """Attributes and methods of the contract, with the class that declares them."""
    for base in _NEEDED:
        if issubclass(system, base):
            for name, value in vars(base).items():
                if not name.startswith("_"):
                    yield base, name, value


def _check_attributes(who: str, system: type) -> None:
    for _, name, default in _declared(system):
        attribute = getattr(system, name)
        if isinstance(default, str | bool) and not isinstance(attribute, type(default)):
            expected = "true or false" if isinstance(default, bool) else "text"
            raise PluginError(f"{who}.{name} is {attribute!r}, not {expected}")
        if inspect.isroutine(default) and not callable(attribute):
            raise PluginError(f"{who}.{name} is {attribute!r}, not a method")


def _check_methods(who: str, system: type) -> None:
    for base in _NEEDED:
        for methods in _NEEDED[base] if issubclass(system, base) else ():
            if all(getattr(system, method) is getattr(base, method) for method in methods):
                names = " or ".join(f"{method}()" for method in methods)
                raise PluginError(f"{who}: {system.__name__} does not define {names}")
    for _, name, declared in _declared(system):
        own = inspect.getattr_static(system, name)
        if isinstance(declared, FunctionType) and own is not declared:
            bound = isinstance(own, staticmethod | classmethod)
            _check_call(
                f"{who}: {name}() of {system.__name__}", getattr(system, name), declared, bound
            )
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


def _check_call(method: str, own: Any, declared: FunctionType, bound: bool) -> None:
    """Refuse a method that cannot be called as the contract's: `score(topic, documents)`."""
    if inspect.iscoroutinefunction(own):
        raise PluginError(f"{method} is async, and nobody awaits it")
    _, *arguments = parameters = [*inspect.signature(declared).parameters]
    try:
        inspect.signature(own).bind(*(arguments if bound else parameters))
    except TypeError as error:
        raise PluginError(f"{method} must take ({', '.join(arguments)})") from error
    except ValueError:  # written in C, some functions do not say what they take
        return


def _check_options(registration: Registered) -> None:
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
    beginning = registration.name.partition(".")[0]
    if registration.kind != "feature group" and beginning in options.model_fields:
        raise PluginError(
            f"{title} has an option '{beginning}': '{registration.name}.NAME' could be an option "
            "of it or a part of that one"
        )
    try:
        registration.options({}).model_dump(mode="json")
    except PydanticSerializationError as error:
        raise PluginError(f"the options of {title} cannot be recorded as JSON: {error}") from error


def _check_recorded(
    title: str, options: type[BaseModel], seen: frozenset[type[BaseModel]] = frozenset()
) -> None:
    """Refuse options that no record of a run would show, or would show in any order."""
    for name, field in options.model_fields.items():
        if field.exclude or getattr(field, "exclude_if", None):
            raise PluginError(
                f"option '{name}' of {title} is declared with exclude, so that it would not be "
                "recorded, and cached results would not depend on it"
            )
        for part in _types_in(field.annotation):
            if issubclass(part, Set):
                raise PluginError(
                    f"option '{name}' of {title} is a set, which has no order to be recorded in; "
                    "declare a tuple"
                )
            if issubclass(part, BaseModel) and part not in seen:  # a table may hold its own kind
                _check_recorded(title, part, seen | {part})


def _types_in(annotation: Any) -> Iterator[type]:
    kind = get_origin(annotation) or annotation
    if isinstance(kind, type):
        yield kind
    for argument in get_args(annotation):
        yield from _types_in(argument)


def _check_presets(registration: Registered) -> None:
    """Refuse presets that are no tables of settings, or have one that the system does not take."""
    title = registration.title
    presets: object = registration.presets
    if not isinstance(presets, Mapping):
        raise PluginError(f"the presets of {title} are {presets!r}, not settings by name")
    for name, settings in presets.items():
        if not isinstance(settings, Mapping):
            raise PluginError(
                f"preset '{name}' of {title} is {settings!r}, not a table of settings"
            )
        named = {f"{registration.name}.{key}": value for key, value in flat(settings).items()}
        try:
            registration.options(settings_of(registration, named)[1])
        except InputError as error:
            raise PluginError(f"preset '{name}': {error}") from error
