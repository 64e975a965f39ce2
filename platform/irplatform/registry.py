"""Finds plugins and resolves names to what they registered.

Plugins are loaded one by one and guarded: one that cannot be imported, has a wrong hook signature
or fails while registering is remembered as broken, with its distribution, version and error, and
the others go on. `IRPLATFORM_PLUGINS` selects plugins by the name of their entry point
(`delta,lucene`) or switches some off (`-delta`).
"""

from __future__ import annotations

import functools
import os
import re
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import pluggy
from pydantic import ValidationError

from irplatform.console import notice
from irplatform.errors import InputError, PluginError, plugin_at_work, unknown
from irplatform.option_problems import first_problem
from irplatform.plugin import FeatureGroup, Hooks, Options, Reranker, Retriever, RunEvent
from irplatform.storage import file_digest, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    import click

    from irplatform.collections import Collection

GROUP = "irplatform"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_OURS = "irplatform"
"""The distribution of the platform and of the plugins that come with it."""

System = TypeVar("System", bound="Reranker | Retriever | FeatureGroup")


@dataclass(frozen=True)
class Plugin:
    """An entry point of the group, loaded or broken.

    Attributes:
        name: the entry point's name.
        distribution: the installed package that brought it.
        version: that package's version.
        error: why it could not be used, or "".
        provides: what it registered, as "reranker delta".
    """

    name: str
    distribution: str
    version: str
    error: str = ""
    provides: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"plugin '{self.name}' ({self.distribution} {self.version})"


@dataclass(frozen=True)
class Registration(Generic[System]):
    """A reranker, retriever or group of features under a name.

    Attributes:
        name: what the command line calls it.
        kind: "reranker", "retriever" or "feature group".
        system: its class.
        defaults: options that differ from the class's own defaults.
        plugin: who registered it.
    """

    name: str
    kind: str
    system: type[System]
    defaults: Mapping[str, object]
    plugin: Plugin

    @property
    def presets(self) -> Mapping[str, Mapping[str, object]]:
        """Its presets: name to settings; only rerankers have some."""
        return getattr(self.system, "presets", {})

    def option_names(self) -> list[str]:
        """Names of the options that it takes."""
        return list(self.system.Options.model_fields)

    def setting_names(self) -> list[str]:
        """What `--set` takes: names of options, and "loop.epochs" where an option has parts."""
        return list(_setting_names(self.system.Options))

    def options(self, settings: Mapping[str, object]) -> Options:
        """Its options, with `settings` in place of defaults.

        Raises:
            InputError: an option that it does not have, or a value that does not fit.
        """
        for name in settings:
            if name not in self.system.Options.model_fields:
                raise unknown(f"option of {self.kind} '{self.name}'", name, self.option_names())
        try:
            return self.system.Options(**{**self.defaults, **settings})
        except ValidationError as error:
            problem = error.errors()[0]
            if problem["type"] == "extra_forbidden":
                option = ".".join(map(str, problem["loc"]))
                kind = f"option of {self.kind} '{self.name}'"
                raise unknown(kind, option, self.setting_names()) from error
            option, wrong = first_problem(self.system.Options, error)
            raise InputError(
                f"option '{option}' of {self.kind} '{self.name}' cannot be {problem['input']!r}: "
                f"{wrong}."
            ) from error

    @functools.cached_property
    def made_by(self) -> dict[str, str]:
        """The distribution and version that its results depend on, as descriptions say it.

        Of a stranger's plugin the digest of its source, too: authors change code long before they
        change a version, and must not meet the scores of the old one.
        """
        ours = self.plugin.distribution == _OURS
        return {
            "distribution": self.plugin.distribution,
            "version": self.plugin.version,
            **({} if ours else {"source": _source_digest(self.system.__module__)}),
        }

    def create(self, settings: Mapping[str, object]) -> System:
        """An instance with `settings` in place of default options."""
        return self.system(self.options(settings))

    def at_work(self, doing: str) -> AbstractContextManager[None]:
        """Within it, what goes wrong in the system's code names the plugin and the place."""
        who = f"{self.kind} '{self.name}' of {self.plugin}"
        return plugin_at_work(who, doing, self.system.__module__)


@dataclass
class Registry:
    """Everything that the installed plugins registered, by kind and name."""

    plugins: list[Plugin] = field(default_factory=list)
    rerankers: dict[str, Registration[Reranker]] = field(default_factory=dict)
    retrievers: dict[str, Registration[Retriever]] = field(default_factory=dict)
    features: dict[str, Registration[FeatureGroup]] = field(default_factory=dict)
    collections: dict[str, Callable[[], Collection]] = field(default_factory=dict)
    collection_titles: dict[str, str] = field(default_factory=dict)
    measures: dict[str, Callable[..., Mapping[str, float]]] = field(default_factory=dict)
    results: dict[Path, Plugin] = field(default_factory=dict)
    manager: pluggy.PluginManager = field(default_factory=lambda: pluggy.PluginManager(GROUP))

    @property
    def broken(self) -> list[Plugin]:
        """The plugins that could not be used."""
        return [plugin for plugin in self.plugins if plugin.error]

    def reranker(self, name: str) -> Registration[Reranker]:
        """The reranker of that name; InputError with the nearest one if there is none."""
        return self._find("reranker", self.rerankers, name)

    def retriever(self, name: str) -> Registration[Retriever]:
        """The retriever of that name; InputError with the nearest one if there is none."""
        return self._find("retriever", self.retrievers, name)

    def feature_group(self, name: str) -> Registration[FeatureGroup]:
        """The group of features of that name; InputError with the nearest one if there is none."""
        return self._find("feature group", self.features, name)

    def collection(self, name: str) -> Collection:
        """The collection that a name, path or ir_datasets id stands for."""
        from irplatform.collections.resolve import resolve

        return resolve(name, self.collections)

    def _find(
        self, kind: str, table: Mapping[str, Registration[System]], name: str
    ) -> Registration[System]:
        if name in table:
            return table[name]
        failed = "; ".join(
            f"{plugin} could not be loaded: {plugin.error}" for plugin in self.broken
        )
        raise unknown(kind, name, table, hint=failed)

    def announce(self, event: str, details: RunEvent) -> None:
        """Call a life-cycle hook of every plugin; one that fails is named and the rest go on."""
        for implementation in getattr(self.manager.hook, event).get_hookimpls():
            try:
                implementation.function(*[details][: len(implementation.argnames)])
            except Exception as error:
                notice(f"{implementation.plugin_name}: {event} failed: {_reason(error)}")

    def add_commands(self, cli: click.Group) -> None:
        """Let plugins extend the command line."""
        for implementation in self.manager.hook.register_commands.get_hookimpls():
            try:
                implementation.function(cli)
            except Exception as error:
                notice(f"{implementation.plugin_name}: register_commands failed: {_reason(error)}")


@functools.cache
def registry() -> Registry:
    """The registry of this process; plugins are loaded at the first call."""
    return load(metadata.entry_points(group=GROUP), os.environ.get("IRPLATFORM_PLUGINS", ""))


def load(entry_points: Iterable[metadata.EntryPoint], selection: str = "") -> Registry:
    """Load plugins.

    Args:
        entry_points: where they are.
        selection: names to load, or names to leave out with a "-" before each, separated by
            commas; empty loads all.

    Raises:
        InputError: a plugin that is to be loaded is not installed.
    """
    found = Registry()
    found.manager.add_hookspecs(Hooks)
    # Ours first: no stranger takes the name of what everybody knows.
    entry_points = sorted(entry_points, key=lambda e: (not _is_ours(e), e.name))
    names = [entry_point.name for entry_point in entry_points]
    for name in _parts(selection):
        if not name.startswith("-") and name not in (*names, "none"):
            raise unknown("plugin", name, names, hint="IRPLATFORM_PLUGINS names it.")
    for entry_point in entry_points:
        if _selected(entry_point.name, selection):
            found.plugins.append(_load_one(found, entry_point))
    return found


def _source_digest(module: str) -> str:
    """16 hexadecimal digits of the Python files of a module's package."""
    package = sys.modules[module.partition(".")[0]]
    roots = [Path(place) for place in getattr(package, "__path__", ())]
    files = [path for root in roots for path in sorted(root.rglob("*.py"))]
    if not files and package.__file__:
        files = [Path(package.__file__)]
    return fingerprint({str(number): file_digest(path) for number, path in enumerate(files)})


def _is_ours(entry_point: metadata.EntryPoint) -> bool:
    return entry_point.dist is not None and entry_point.dist.name == _OURS


def _setting_names(options: type[Options], prefix: str = "") -> Iterator[str]:
    for name, declared in options.model_fields.items():
        kind = declared.annotation
        if isinstance(kind, type) and issubclass(kind, Options):
            yield from _setting_names(kind, f"{prefix}{name}.")
        else:
            yield prefix + name


def _parts(selection: str) -> list[str]:
    return [part.strip() for part in selection.split(",") if part.strip()]


def _selected(name: str, selection: str) -> bool:
    chosen = _parts(selection)
    wanted = {part for part in chosen if not part.startswith("-")}
    return f"-{name}" not in chosen and (not wanted or name in wanted)


def _load_one(found: Registry, entry_point: metadata.EntryPoint) -> Plugin:
    distribution = entry_point.dist.name if entry_point.dist else "unknown distribution"
    version = entry_point.dist.version if entry_point.dist else "?"
    plugin = Plugin(entry_point.name, distribution, version)
    collected = _Collected(plugin)
    try:
        module = entry_point.load()
        found.manager.register(module, name=str(plugin))
        found.manager.check_pending()
        collected.run_hooks(found.manager)
        collected.merge_into(found)
    except (Exception, SystemExit) as error:  # a stranger's module must not stop the others
        if found.manager.has_plugin(str(plugin)):
            found.manager.unregister(name=str(plugin))
        return Plugin(plugin.name, distribution, version, error=_reason(error))
    return Plugin(plugin.name, distribution, version, provides=tuple(collected.provides))


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class _Collected:
    """What one plugin registers, held back until all of its hooks have succeeded."""

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self.provides: list[str] = []
        self.rerankers: dict[str, Registration[Reranker]] = {}
        self.retrievers: dict[str, Registration[Retriever]] = {}
        self.features: dict[str, Registration[FeatureGroup]] = {}
        self.collections: dict[str, Callable[[], Collection]] = {}
        self.titles: dict[str, str] = {}
        self.measures: dict[str, Callable[..., Mapping[str, float]]] = {}
        self.results: dict[Path, Plugin] = {}

    def run_hooks(self, manager: pluggy.PluginManager) -> None:
        for hook, register in (
            ("register_rerankers", self.add_reranker),
            ("register_retrievers", self.add_retriever),
            ("register_features", self.add_features),
            ("register_collections", self.add_collection),
            ("register_measures", self.add_measure),
            ("register_results", self.add_results),
        ):
            for implementation in getattr(manager.hook, hook).get_hookimpls():
                if implementation.plugin_name == str(self.plugin):
                    implementation.function(register)

    def merge_into(self, found: Registry) -> None:
        for kind, mine, theirs in (
            ("reranker", self.rerankers, found.rerankers),
            ("retriever", self.retrievers, found.retrievers),
            ("feature group", self.features, found.features),
            ("collection", self.collections, found.collections),
            ("measure", self.measures, found.measures),
        ):
            for name in mine:
                if name in theirs:
                    other = getattr(theirs[name], "plugin", "another plugin")
                    raise PluginError(f"{kind} '{name}' is registered by {other} already")
        found.rerankers.update(self.rerankers)
        found.retrievers.update(self.retrievers)
        found.features.update(self.features)
        found.collections.update(self.collections)
        found.collection_titles.update(self.titles)
        found.measures.update(self.measures)
        found.results.update(self.results)

    def add_reranker(self, name: str, reranker: type[Reranker], /, **defaults: object) -> None:
        self._check(name, "reranker", self.rerankers)
        self._check_class(name, "reranker", reranker, Reranker)
        self.rerankers[name] = Registration(name, "reranker", reranker, defaults, self.plugin)
        self.rerankers[name].options({})

    def add_retriever(self, name: str, retriever: type[Retriever], /, **defaults: object) -> None:
        self._check(name, "retriever", self.retrievers)
        self._check_class(name, "retriever", retriever, Retriever)
        self.retrievers[name] = Registration(name, "retriever", retriever, defaults, self.plugin)
        self.retrievers[name].options({})

    def add_features(self, name: str, group: type[FeatureGroup], /, **defaults: object) -> None:
        self._check(name, "feature group", self.features)
        self._check_class(name, "feature group", group, FeatureGroup)
        self.features[name] = Registration(name, "feature group", group, defaults, self.plugin)
        self.features[name].options({})

    def add_collection(self, name: str, load: Callable[[], Collection], /, *, title: str) -> None:
        self._check(name, "collection", self.collections)
        self.collections[name] = load
        self.titles[name] = title

    def add_measure(self, name: str, compute: Callable[..., Mapping[str, float]], /) -> None:
        if name in self.measures:
            raise PluginError(f"measure '{name}' is registered twice")
        self.provides.append(f"measure {name}")
        self.measures[name] = compute

    def add_results(self, file: Path, /) -> None:
        if not Path(file).is_file():
            raise PluginError(f"there is no file of results '{file}'")
        self.provides.append(f"results {Path(file).name}")
        self.results[Path(file)] = self.plugin

    def _check(self, name: str, kind: str, held: Mapping[str, object]) -> None:
        if not _NAME.fullmatch(name):
            raise PluginError(
                f"'{name}' cannot name a {kind}: use lower-case letters, digits, '-', '_' and '.'"
            )
        if name in held:
            raise PluginError(f"{kind} '{name}' is registered twice")
        self.provides.append(f"{kind} {name}")

    @staticmethod
    def _check_class(name: str, kind: str, given: object, base: type) -> None:
        if not (isinstance(given, type) and issubclass(given, base)):
            raise PluginError(f"{kind} '{name}' is {given!r}, not a subclass of {base.__name__}")
