"""What one plugin registers, checked, and held back until all of its hooks have succeeded."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

from pydantic_core import PydanticSerializationError

from irplatform.errors import InputError, PluginError
from irplatform.plugin import (
    FeatureGroup,
    Options,
    Reranker,
    Retriever,
    TrainableFeatureGroup,
    TrainableReranker,
)
from irplatform.registry.guarded import guarded_collection, guarded_measure
from irplatform.registry.registration import Registration
from irplatform.registry.settings import flat, settings_of
from irplatform.registry.tables import Tables
from irplatform.runs.names import FUSED, system_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pluggy

    from irplatform.collections import Collection
    from irplatform.registry.registration import Plugin, System

Register = TypeVar("Register", bound="Callable[..., None]")

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_RANKING = ("reranker", "retriever")
"""Kinds of systems whose names are those of runs."""
_NEEDED: Mapping[type, Sequence[Sequence[str]]] = {
    Reranker: [("score", "score_batch")],
    TrainableReranker: [("fit",), ("save",), ("load",)],
    FeatureGroup: [("names",), ("compute", "compute_batch")],
    TrainableFeatureGroup: [("fit",), ("save",), ("load",)],
    Retriever: [("retrieve",)],
}
"""What a subclass must define; of several methods, one."""


def _called_register(function: Register) -> Register:
    """Call it what authors know it by, for what Python says of wrong arguments."""
    function.__qualname__ = "register"
    return function


class Contribution:
    """What one plugin registers.

    Attributes:
        tables: what it registered.
        provides: the same in words, in the order of registering: "reranker delta".
    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self.tables = Tables()
        self.provides: list[str] = []

    def collect(self, manager: pluggy.PluginManager) -> None:
        """Call the plugin's hooks that register something.

        Raises:
            PluginError: a name or a class that cannot be registered. Hooks raise anything else.
        """
        tables = self.tables
        for hook, register in (
            ("register_rerankers", self._adds("reranker", Reranker, tables.rerankers)),
            ("register_retrievers", self._adds("retriever", Retriever, tables.retrievers)),
            ("register_features", self._adds("feature group", FeatureGroup, tables.features)),
            ("register_collections", self._add_collection),
            ("register_measures", self._add_measure),
            ("register_results", self._add_results),
        ):
            for implementation in getattr(manager.hook, hook).get_hookimpls():
                if implementation.plugin_name == str(self._plugin):
                    if implementation.hookwrapper or implementation.wrapper:
                        raise PluginError(f"{hook} is a wrapper of hooks, which registers nothing")
                    if (answer := implementation.function(register)) is not None:
                        if inspect.iscoroutine(answer):
                            answer.close()  # else Python warns that nobody awaited it
                        raise PluginError(
                            f"{hook} returns {type(answer).__name__}: it must call `register`, and "
                            "be no generator and not async"
                        )

    def _adds(
        self, kind: str, base: type[System], table: dict[str, Registration[System]]
    ) -> Callable[..., None]:
        """What a hook registers classes with that are derived from `base`."""

        @_called_register
        def add(name: str, system: type[System], /, **defaults: object) -> None:
            self._check(name, kind, table)
            if not (isinstance(system, type) and issubclass(system, base)):
                raise PluginError(
                    f"{kind} '{name}' is {system!r}, not a subclass of {base.__name__}"
                )
            _check_attributes(f"{kind} '{name}'", system)
            options: object = system.Options
            if not (isinstance(options, type) and issubclass(options, Options)):
                raise PluginError(
                    f"the Options of {kind} '{name}' are {options!r}, not a subclass of "
                    "irplatform.plugin.Options"
                )
            table[name] = registration = Registration(name, kind, system, defaults, self._plugin)
            _refuse_required(f"{kind} '{name}'", options, defaults)
            # The defaults are checked now, not when it is used
            default_options = registration.options({})
            try:
                default_options.model_dump(mode="json")
            except PydanticSerializationError as error:
                raise PluginError(
                    f"the options of {kind} '{name}' cannot be recorded as JSON: {error}"
                ) from error
            _refuse_sets(f"{kind} '{name}'", options)
            _check_presets(registration)
            _check_methods(f"{kind} '{name}'", system)
            _check_arguments(f"{kind} '{name}'", system)
            _check_making(f"{kind} '{name}'", system)

        return add

    @_called_register
    def _add_collection(self, name: str, load: Callable[[], Collection], /, *, title: str) -> None:
        self._check(name, "collection", self.tables.collections)
        _refuse_uncallable(load, f"collection '{name}'")
        if not isinstance(title, str):
            raise PluginError(f"the title of collection '{name}' is {title!r}, not text")
        self.tables.collections[name] = guarded_collection(name, load, self._plugin)
        self.tables.collection_titles[name] = title

    @_called_register
    def _add_measure(self, name: str, compute: Callable[..., Mapping[str, float]], /) -> None:
        if not isinstance(name, str) or not name.strip():
            raise PluginError(f"{name!r} cannot name a measure: a measure has a name")
        _refuse_uncallable(compute, f"measure '{name}'")
        if name in self.tables.measures:
            raise PluginError(f"measure '{name}' is registered twice")
        if _is_standard(name):
            raise PluginError(f"measure '{name}' is a standard one; give yours another name")
        self._registered("measure", name)
        self.tables.measures[name] = guarded_measure(name, compute, self._plugin)

    @_called_register
    def _add_results(self, file: Path, /) -> None:
        if not Path(file).is_file():
            raise PluginError(f"there is no file of results '{file}'")
        self._registered("results", Path(file).name)
        self.tables.results[Path(file)] = self._plugin

    def _check(self, name: str, kind: str, table: Mapping[str, object]) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise PluginError(
                f"'{name}' cannot name a {kind}: use lower-case letters, digits, '-', '_' and '.'"
            )
        if name in table:
            raise PluginError(f"{kind} '{name}' is registered twice")
        if kind in _RANKING and (name == FUSED or system_of(name) != name):
            raise PluginError(
                f"'{name}' cannot name a {kind}: '{FUSED}' and names that end in '-alone' or "
                "'-seed' and a number are those of other runs"
            )
        self._registered(kind, name)

    def _registered(self, kind: str, name: str) -> None:
        self.provides.append(f"{kind} {name}")
        self.tables.owners[f"{kind} {name}"] = self._plugin


def _refuse_required(system: str, options: type[Options], defaults: Mapping[str, object]) -> None:
    """Refuse options that somebody would have to set."""
    for name, field in options.model_fields.items():
        if field.is_required() and name not in defaults:
            raise PluginError(f"option '{name}' of {system} needs a default")


def _refuse_sets(system: str, options: type[Options]) -> None:
    """Refuse options without an order, which would be another fingerprint in every process."""
    for name, field in options.model_fields.items():
        if _is_set(field.annotation):
            raise PluginError(
                f"option '{name}' of {system} is a set, which has no order to be recorded in; "
                "declare a tuple"
            )
        if isinstance(field.annotation, type) and issubclass(field.annotation, Options):
            _refuse_sets(system, field.annotation)


def _is_set(annotation: Any) -> bool:
    base_type = get_origin(annotation) or annotation
    return (isinstance(base_type, type) and issubclass(base_type, Set)) or any(
        map(_is_set, get_args(annotation))
    )


def _refuse_uncallable(value: object, who: str) -> None:
    if not callable(value):
        raise PluginError(f"{who} is {value!r}, not a function")


def _is_standard(name: str) -> bool:
    """Whether everybody knows a measure by this name."""
    base = name.strip().partition("@")[0].partition("(")[0]
    if "-" in base:  # no standard measure has one, and what knows them takes a while to import
        return False
    import ir_measures

    if base in ("infNDCG", *ir_measures.measures.registry):
        return True
    try:
        return bool(ir_measures.parse_trec_measure(name))
    except (ValueError, NameError):
        return False


def _check_attributes(who: str, system: type) -> None:
    """See that what a class says of itself is of the type that the contract has for it."""
    for base in _NEEDED:
        for name, default in vars(base).items() if issubclass(system, base) else ():
            attribute = getattr(system, name)
            if name.startswith("_"):
                continue
            if isinstance(default, str | bool) and not isinstance(attribute, type(default)):
                expected = "true or false" if isinstance(default, bool) else "text"
                raise PluginError(
                    f"{who}: {system.__name__}.{name} is {attribute!r}, not {expected}"
                )
            if inspect.isroutine(default) and not callable(attribute):
                raise PluginError(f"{who}: {system.__name__}.{name} is {attribute!r}, not a method")


def _check_methods(who: str, system: type) -> None:
    """See that a class defines what will be called, perhaps after hours of training."""
    for base, required in _NEEDED.items():
        for methods in required if issubclass(system, base) else ():
            if all(getattr(system, method) is getattr(base, method) for method in methods):
                names = " or ".join(f"{method}()" for method in methods)
                raise PluginError(f"{who}: {system.__name__} does not define {names}")


def _check_arguments(who: str, system: type) -> None:
    """See that methods take what they will be called with: `score(topic, documents)`."""
    for base in (base for base in _NEEDED if issubclass(system, base)):
        for name, declared in vars(base).items():
            is_called = not name.startswith("_") and isinstance(
                declared, FunctionType | classmethod
            )
            if is_called and inspect.getattr_static(system, name) is not declared:
                _check_method(f"{who}: {name}() of {system.__name__}", name, base, system)


def _check_method(method: str, name: str, base: type, system: type) -> None:
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


def _check_presets(registration: Registration[System]) -> None:
    """See that a system takes its presets.

    Raises:
        PluginError: a preset is no table of settings, or names an option or a value that it does
            not take.
    """
    presets: object = registration.presets
    if not isinstance(presets, Mapping):
        raise PluginError(
            f"the presets of {registration.kind} '{registration.name}' are {presets!r}, not "
            "settings by name"
        )
    for name, settings in presets.items():
        if not isinstance(settings, Mapping):
            raise PluginError(
                f"preset '{name}' of {registration.kind} '{registration.name}' is {settings!r}, "
                "not a table of settings"
            )
        try:
            _, values = settings_of(
                registration,
                {f"{registration.name}.{key}": value for key, value in flat(settings).items()},
            )
            registration.options(values)
        except InputError as error:
            raise PluginError(f"preset '{name}': {error}") from error
