"""A plugin, and a system that it registered under a name."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from irplatform.errors import InputError, PlatformError, PluginError, one_line, unknown
from irplatform.files.code_digests import OURS, source_digest
from irplatform.registry.plugin_calls import plugin_call
from irplatform.system.packages import absent, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from irplatform.options import Options
    from irplatform.plugin.declarations import Declared, Reads, Traits
    from irplatform.plugin.features import TrainableFeatureGroup
    from irplatform.plugin.rerankers import TrainableReranker

System = TypeVar("System", bound="Declared")


@dataclass(frozen=True)
class Plugin:
    """An installed plugin, loaded or broken (`error`).

    `provides` is what it registered, as "reranker delta". Functions in `unmarked` are named like
    hooks but lack `@hookimpl`. `failed` says why it could not add its commands. One that is not
    `installed` is of this Python session, or of a `file`, whose digest is its `source`. `contract`
    has the versions of irplatform that its distribution requires, as ">=0.2,<0.3".
    """

    name: str
    distribution: str
    version: str
    error: str = ""
    provides: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()
    failed: str = ""
    installed: bool = True
    source: str = ""
    file: Path | None = None
    contract: str = ""

    @property
    def wrong(self) -> str:
        """A mistake in a plugin that is used all the same, or ""."""
        names = " and ".join(self.unmarked)
        return f"{names} will not be called without @hookimpl" if names else ""

    @property
    def is_builtin(self) -> bool:
        """Whether it is one of the platform's."""
        return self.distribution == OURS

    def __str__(self) -> str:
        brought_by = f"{self.distribution} {self.version}".strip()
        return f"plugin '{self.name}' ({brought_by})"


@dataclass(frozen=True)
class Registration(Generic[System]):
    """A reranker, retriever, group of features or judge under a name.

    Attributes:
        name: its name on the command line.
        kind: "reranker", "retriever", "feature group" or "judge".
        declared: its class, or its place as "package.module:Class".
        defaults: options that differ from the class's defaults.
        plugin: the plugin that registered it.
        instance: an object that holds more than its options; copies of it are used.
    """

    name: str
    kind: str
    declared: type[System] | str
    defaults: Mapping[str, object]
    plugin: Plugin
    instance: System | None = None

    @functools.cached_property
    def system(self) -> type[System]:
        """Its class; a class declared by its place is imported and checked at first use.

        Raises:
            PluginError: it cannot be imported, or breaks the contract.
            InputError: a package that it needs is not installed.
        """
        if not isinstance(self.declared, str):
            return self.declared
        from irplatform.registry.class_checks import check_system

        module, _, name = self.declared.partition(":")
        with plugin_call(self.full_title, f"importing '{self.declared}'", module):
            system: type[System] | None = getattr(import_module(module), name, None)
        if system is None:
            raise PluginError(
                f"{self.full_title} is registered as '{self.declared}', and '{module}' has no "
                f"'{name}'"
            )
        try:
            check_system(replace(self, declared=system))
        except PlatformError as error:
            raise PluginError(f"{self.plugin} registers '{self.declared}': {error}") from error
        return system

    @property
    def broken(self) -> str:
        """Why its class cannot be used, or ""."""
        try:
            _ = self.system
        except PlatformError as error:
            return str(error)
        return ""

    @property
    def presets(self) -> Mapping[str, Mapping[str, object]]:
        """Its presets: name to settings; only rerankers have them."""
        return getattr(self.system, "presets", {})

    def option_names(self) -> list[str]:
        """Return the names of its options."""
        return list(self.system.Options.model_fields)

    def setting_names(self) -> list[str]:
        """Return the names of settings, "loop.epochs" for a part of an option."""
        from irplatform.options import setting_names

        return list(setting_names(self.system.Options))

    def options(self, settings: Mapping[str, object]) -> Options:
        """Return its options, with `settings` in place of defaults.

        Raises:
            InputError: an unknown option, or a value that does not fit.
        """
        names = self.option_names()
        for name in settings:
            if name not in names:
                raise unknown("option", name, {*names, *self.setting_names()}, of=self.title)
        with self.plugin_call("reading its options", as_told=True):
            return self._read({**self.defaults, **settings})

    def _read(self, values: Mapping[str, object]) -> Options:
        from pydantic import ValidationError

        from irplatform.options import first_problem

        try:
            return self.system.Options(**values)
        except ValidationError as error:
            problem = error.errors()[0]
            if problem["type"] == "extra_forbidden":
                option = ".".join(map(str, problem["loc"]))
                raise unknown("option", option, self.setting_names(), of=self.title) from error
            option, wrong = first_problem(self.system.Options, error)
            if not option:  # the problem is about several options
                raise InputError(f"the options of {self.title} cannot be used: {wrong}.") from error
            raise InputError(
                f"option '{option}' of {self.title} cannot be {problem['input']!r}: {wrong}."
            ) from error

    @property
    def code_facts(self) -> dict[str, str]:
        """The distribution and version that its results depend on.

        For a third-party plugin also a digest of its source and of its base classes'; for an object
        of this session, of its code and of what it holds.
        """
        return self._installed_facts if self.plugin.installed else self._session_facts()

    @functools.cached_property
    def _installed_facts(self) -> dict[str, str]:
        from irplatform.plugin.declarations import Declared

        code_facts = {
            "distribution": self.plugin.distribution,
            "version": self.plugin.version,
        }
        if not self.plugin.is_builtin:
            lineage = [b.__module__ for b in self.system.__mro__ if issubclass(b, Declared)]
            code_facts["source"] = source_digest(*lineage)
        return code_facts

    def _session_facts(self) -> dict[str, str]:
        code_facts = {
            "distribution": self.plugin.distribution,
            "version": self.plugin.version,
        }
        if self.plugin.source:
            return {**code_facts, "source": self.plugin.source}
        from irplatform.registry.live_code import live_digest, this_call
        from irplatform.system.console import notice_once

        call, mark = vars(self).get("_live", (-1, ""))
        if call == this_call():
            return {**code_facts, "source": mark}
        attributes = {} if self.instance is None else vars(self.instance)
        state = {name: value for name, value in attributes.items() if name != "options"}
        mark, unread = live_digest(self.system, state, name=self.system.__name__)
        if unread:
            notice_once(
                f"{self.title}: nothing is kept in the cache, since this has no digest: {unread}. "
                "Open it in prepare(), from an option that names it."
            )
        vars(self)["_live"] = this_call(), mark  # what it reads may be large
        return {**code_facts, "source": mark}

    def describe(self, options: Options) -> dict[str, Any]:
        """Return what results depend on: code, options and the files that options name."""
        return {
            **self.code_facts,
            "options": options.model_dump(mode="json"),
            **_content_of_files(options),
        }

    def code(self, options: Options) -> dict[str, Any]:
        """Return the identity of third-party code and of files, for systems that read its results.

        Our own code has the platform's version, on which all results depend.
        """
        return _content_of_files(options) if self.plugin.is_builtin else self.describe(options)

    def create(self, settings: Mapping[str, object]) -> System:
        """Make an instance with `settings` in place of default options."""
        return self.make(self.options(settings))

    def make(self, options: Options) -> System:
        """Make an instance; InputError if a package that it imports is not installed."""
        with self.plugin_call("being made"):
            instance = self._new(options)
        require(self.title, *self._traits_of(instance).packages)
        return instance

    def missing(self) -> list[str]:
        """Return modules that it needs with default options and that are not installed."""
        return absent(*self.packages())

    def packages(self) -> Sequence[str]:
        """Return modules that it needs with default options, beside those of the platform."""
        return self.traits(self.options({})).packages

    def traits(self, options: Options) -> Traits:
        """Return its traits with these options."""
        with self.plugin_call("being made"):
            instance = self._new(options)
        return self._traits_of(instance)

    def _new(self, options: Options) -> System:
        if self.instance is None:
            return self.system(options)
        learns = hasattr(self.instance, "fit")  # a copy of what it learns, not of a large model
        instance = copy.deepcopy(self.instance) if learns else copy.copy(self.instance)
        instance.options = options
        return instance

    def _traits_of(self, instance: System) -> Traits:
        from irplatform.plugin.declarations import Traits
        from irplatform.registry.plugin_answers import of_type

        with self.plugin_call("returning its traits"):
            answer = instance.traits()
        traits = of_type(
            self.full_title, "traits", answer, Traits, "irplatform.plugin.Traits are needed"
        )
        return replace(traits, remark=one_line(traits.remark))

    def reads(self, options: Options) -> Reads:
        """Return all that it reads besides documents, topics and options.

        Raises:
            InputError: its options refer to something that does not exist.
        """
        from irplatform.plugin.declarations import Reads
        from irplatform.registry.plugin_answers import json_mapping, of_type

        instance = self.make(options)
        with self.plugin_call("returning what it reads"):
            answer = instance.reads()
        reads = of_type(
            self.full_title, "reads", answer, Reads, "irplatform.plugin.Reads are needed"
        )
        return replace(reads, more=json_mapping(self.full_title, "reads", reads.more))

    @property
    def title(self) -> str:
        """The system, for messages."""
        return f"{self.kind} '{self.name}'"

    @property
    def full_title(self) -> str:
        """The system and its plugin, for messages."""
        return f"{self.title} of {self.plugin}"

    def plugin_call(self, doing: str, *, as_told: bool = False) -> AbstractContextManager[None]:
        """Call the system's code; errors name the plugin and the line."""
        as_told = as_told or self.plugin.is_builtin
        return plugin_call(self.full_title, doing, self.system.__module__, as_told=as_told)

    def save(self, learned: TrainableReranker | TrainableFeatureGroup, folder: Path) -> None:
        """Let a system save what it learned in an empty folder."""
        with self.plugin_call("saving"):
            learned.save(folder)
        if not any(folder.iterdir()):
            raise PluginError(
                f"{self.full_title}: save() wrote nothing, so what it learned would be lost."
            )


def _content_of_files(options: Options) -> dict[str, Any]:
    files = dict(_files_of(options))
    return {"files": files} if files else {}


def _files_of(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Digests of the files that options name, and of all files in folders, by option."""
    from pydantic import BaseModel

    from irplatform.files.digests import digest, folder_digests

    inner: Iterable[tuple[object, object]] = ()
    if isinstance(value, BaseModel):
        inner = ((name, getattr(value, name)) for name in type(value).model_fields)
    elif isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        inner = enumerate(value)
    elif isinstance(value, Path) and value.is_dir():
        for path, mark in folder_digests(value).items():
            yield f"{place}.{path}", mark
    elif isinstance(value, Path) and value.is_file():
        yield place, digest(value)
    for name, part in inner:
        yield from _files_of(part, f"{place}.{name}" if place else str(name))
