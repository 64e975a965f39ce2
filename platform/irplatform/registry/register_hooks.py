"""Calls the `register_*` hooks of a plugin, and checks and collects what they register."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import PluginError, quoted
from irplatform.files.code_digests import module_of
from irplatform.registry.plugin_calls import plugin_call
from irplatform.registry.registration import Registration

if TYPE_CHECKING:
    from collections.abc import Callable

    import pluggy

    from irplatform.data import Collection
    from irplatform.knowledge import Format
    from irplatform.plugin.features import FeatureGroup
    from irplatform.plugin.judges import Judge
    from irplatform.plugin.rerankers import Reranker
    from irplatform.plugin.retrievers import Retriever
    from irplatform.registry.registration import Plugin, System
    from irplatform.runs import Run

    Measure = Callable[[Mapping[str, Mapping[str, float]], Run], Mapping[str, float]]


_KINDS = {
    "rerankers": "reranker",
    "retrievers": "retriever",
    "features": "feature group",
    "judges": "judge",
    "collections": "collection",
    "measures": "measure",
    "knowledge": "knowledge format",
}
"""Table → the kind of thing that its names name."""
_TABLES = {kind: table for table, kind in _KINDS.items()}


@dataclass
class Tables:
    """Everything that was registered, by kind and name.

    Attributes:
        collection_titles: what each collection is, in a few words.
        results: files of published results, and the plugin of each.
        tasks: files of shared tasks, likewise.
        owners: the plugin of each name: "reranker delta".
    """

    rerankers: dict[str, Registration[Reranker]] = field(default_factory=dict)
    retrievers: dict[str, Registration[Retriever]] = field(default_factory=dict)
    features: dict[str, Registration[FeatureGroup]] = field(default_factory=dict)
    judges: dict[str, Registration[Judge]] = field(default_factory=dict)
    collections: dict[str, Callable[[], Collection]] = field(default_factory=dict)
    collection_titles: dict[str, str] = field(default_factory=dict)
    measures: dict[str, Callable[..., Mapping[str, float]]] = field(default_factory=dict)
    knowledge: dict[str, Callable[[], Format]] = field(default_factory=dict)
    results: dict[Path, Plugin] = field(default_factory=dict)
    tasks: dict[Path, Plugin] = field(default_factory=dict)
    owners: dict[str, Plugin] = field(default_factory=dict)

    def add(self, others: Tables) -> None:
        """Add other tables; PluginError, and nothing is added, if a name is taken."""
        for table, kind in _KINDS.items():
            entries = getattr(self, table)
            for name in getattr(others, table):
                if name in entries:
                    owner = self.owners[f"{kind} {name}"]
                    raise PluginError(f"{kind} '{name}' is registered by {owner} already")
        for table in (attribute.name for attribute in fields(Tables)):
            getattr(self, table).update(getattr(others, table))

    def drop(self, provided: str) -> None:
        """Remove a thing by its kind and name, as in "reranker delta"."""
        del self.owners[provided]
        for table, kind in _KINDS.items():
            if provided.startswith(f"{kind} "):
                name = provided.removeprefix(f"{kind} ")
                getattr(self, table).pop(name, None)
                if table == "collections":
                    self.collection_titles.pop(name, None)


_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
"""The place of a class: "package.module:Class"."""
_OF_RUNS = re.compile(r"fused|.*-alone|.*-seed\d+")
"""Names of runs, as in `irplatform.runs.names`, which is not imported for every command."""
_RANKING = ("reranker", "retriever")
"""Kinds of systems whose names are those of runs."""


class Contribution:
    """The things that one plugin registers.

    Attributes:
        tables: what it registered.
        provides: the same in words: "reranker delta".
    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self.tables = Tables()
        self.provides: list[str] = []

    @property
    def hooks(self) -> dict[str, Callable[..., None]]:
        """The `register_*` hooks, each with the function that it is given."""
        return {
            "register_rerankers": self._adds("reranker"),
            "register_retrievers": self._adds("retriever"),
            "register_features": self._adds("feature group"),
            "register_judges": self._adds("judge"),
            "register_collections": self._add_collection,
            "register_measures": self._add_measure,
            "register_knowledge": self._add_knowledge,
            "register_results": self._add_results,
            "register_tasks": self._add_tasks,
        }

    def collect(self, manager: pluggy.PluginManager) -> None:
        """Call the plugin's `register_*` hooks; PluginError for a wrong name or class."""
        for hook, register in self.hooks.items():
            for implementation in getattr(manager.hook, hook).get_hookimpls():
                if implementation.plugin_name == str(self._plugin):
                    implementation.function(register)

    def _adds(self, kind: str) -> Callable[..., None]:
        def register(name: str, system: type[System] | str, /, **defaults: object) -> None:
            self.add_system(kind, name, system, defaults)

        return register

    def add_system(
        self,
        kind: str,
        name: str,
        system: type[System] | str,
        defaults: Mapping[str, object],
        instance: System | None = None,
    ) -> None:
        """Add a reranker, retriever, feature group or judge; PluginError if it is wrong.

        With an `instance`, copies of it are used.
        """
        table: dict[str, Registration[Any]] = getattr(self.tables, _TABLES[kind])
        self._check(name, kind, table)
        registration = Registration(name, kind, system, defaults, self._plugin, instance)
        if not isinstance(system, str):
            from irplatform.registry.class_checks import check_system

            check_system(registration)
        elif not _PLACE.fullmatch(system):
            raise PluginError(
                f"{kind} '{name}' is registered as '{system}'; write a class, or its place as "
                "'package.module:Class'"
            )
        table[name] = registration

    def _add_collection(self, name: str, load: Callable[[], Collection], /, *, title: str) -> None:
        self._check(name, "collection", self.tables.collections)
        _refuse_uncallable(load, f"collection '{name}'")
        if not isinstance(title, str):
            raise PluginError(f"the title of collection '{name}' is {title!r}, not text")
        self.tables.collections[name] = guarded_collection(name, load, self._plugin)
        self.tables.collection_titles[name] = title

    def _add_measure(self, name: str, compute: Callable[..., Mapping[str, float]], /) -> None:
        is_text = isinstance(name, str) and name and name.isprintable()
        if not is_text or name != name.strip():
            raise PluginError(
                f"{name!r} cannot name a measure: a name is one line of text, without outer spaces"
            )
        _refuse_uncallable(compute, f"measure '{name}'")
        if name in self.tables.measures:
            raise PluginError(f"measure '{name}' is registered twice")
        if _is_standard(name):
            raise PluginError(
                f"measure '{name}' is, or begins as, a standard one; give yours another name"
            )
        self._registered("measure", name)
        self.tables.measures[name] = guarded_measure(name, compute, self._plugin)

    def _add_knowledge(self, name: str, load: Callable[[], Format], /) -> None:
        self._check(name, "knowledge format", self.tables.knowledge)
        _refuse_uncallable(load, f"knowledge format '{name}'")
        self.tables.knowledge[name] = guarded_format(name, load, self._plugin)

    def _add_results(self, file: Path, /) -> None:
        self._add_file(Path(file), "results", self.tables.results)

    def _add_tasks(self, file: Path, /) -> None:
        self._add_file(Path(file), "tasks", self.tables.tasks)

    def _add_file(self, file: Path, kind: str, table: dict[Path, Plugin]) -> None:
        if not file.is_file():
            raise PluginError(
                f"the file of {kind} '{file}' does not exist; is it in "
                "[tool.setuptools.package-data] of pyproject.toml?"
            )
        self._registered(kind, file.name)
        table[file] = self._plugin

    def _check(self, name: str, kind: str, table: Mapping[str, object]) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise PluginError(
                f"'{name}' cannot name a {kind}: use lower-case letters, digits, '-', '_' and '.'"
            )
        if name in table:
            raise PluginError(f"{kind} '{name}' is registered twice")
        if kind in _RANKING and _OF_RUNS.fullmatch(name):
            raise PluginError(
                f"'{name}' cannot name a {kind}: 'fused' and names that end in '-alone' or "
                "'-seed' and a number are those of other runs"
            )
        self._registered(kind, name)

    def _registered(self, kind: str, name: str) -> None:
        self.provides.append(f"{kind} {name}")
        self.tables.owners[f"{kind} {name}"] = self._plugin


def _refuse_uncallable(value: object, title: str) -> None:
    if not callable(value):
        raise PluginError(f"{title} is {value!r}, not a function")


def _is_standard(name: str) -> bool:
    """Whether a name is, or begins like, a measure of ir-measures."""
    base = name.strip().partition("@")[0].partition("(")[0]
    if "-" in base:  # no standard measure has one, and ir_measures is slow to import
        return False
    import ir_measures

    if base in ("infNDCG", *ir_measures.measures.registry):
        return True
    try:
        return bool(ir_measures.parse_trec_measure(name))
    except (ValueError, NameError):
        return False


def guarded_collection(
    name: str, load: Callable[[], Collection], plugin: Plugin
) -> Callable[[], Collection]:
    """Return a function that loads a collection; its errors name the plugin."""
    title = f"collection '{name}' of {plugin}"
    module = module_of(load)

    @functools.wraps(load)
    def loaded() -> Collection:
        from irplatform.registry.guards import Guard

        with plugin_call(title, "being loaded", module, as_told=plugin.is_builtin):
            collection = load()
        return Guard(title, module, plugin.is_builtin).collection(collection)

    loaded.__module__ = module
    return loaded


def guarded_measure(name: str, compute: Measure, plugin: Plugin) -> Measure:
    """Return a function that computes a measure; its errors name the plugin."""
    title = f"measure '{name}' of {plugin}"
    module = module_of(compute)

    @functools.wraps(compute)
    def computed(qrels: Mapping[str, Mapping[str, float]], run: Run) -> Mapping[str, float]:
        judged_topics = list(qrels)
        with plugin_call(title, f"scoring {run.name}", module, as_told=plugin.is_builtin):
            values = compute(qrels, run)
        if not isinstance(values, Mapping):
            raise PluginError(
                f"{title} returned {type(values).__name__}; a mapping of topic to number is needed."
            )
        return {topic: _number(title, topic, values.get(topic)) for topic in judged_topics}

    computed.__module__ = module  # cached values depend on its source
    return computed


def guarded_format(name: str, load: Callable[[], Format], plugin: Plugin) -> Callable[[], Format]:
    """Return a function that returns a format of knowledge bases; its errors name the plugin."""
    title = f"knowledge format '{name}' of {plugin}"
    module = module_of(load)

    def loaded() -> Format:
        from irplatform.knowledge import Format

        with plugin_call(title, "being loaded", module, as_told=plugin.is_builtin):
            knowledge_format = load()
        if not isinstance(knowledge_format, Format) or knowledge_format.name != name:
            raise PluginError(
                f"{title} is {quoted(knowledge_format)}; a Format of this name is needed."
            )
        return knowledge_format

    return loaded


def _number(title: str, topic: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except Exception:
        number = math.nan
    if not math.isfinite(number):
        raise PluginError(
            f"{title} gave {quoted(value)} for topic {topic}; a finite number for every judged "
            "topic is needed."
        )
    return number
