"""The check of a plugin: its systems are tried one after the other on a small collection."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from irplatform.collection_resources import CollectionResources
from irplatform.conformance.data import Finding, Watch, check_data_of, slow_imports
from irplatform.conformance.systems import (
    problems_of_features,
    problems_of_reranker,
    problems_of_retriever,
)
from irplatform.errors import InputError, PlatformError, PluginError, unknown
from irplatform.experiment.systems import choose_systems, refuse_silent_downloads
from irplatform.registry.entry_points import not_installed, without_entry_point
from irplatform.registry.loading import registry
from irplatform.system.arithmetic import choose_device
from irplatform.system.console import LAST, parts, progress, stage, steps
from irplatform.system.workers import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.conformance.data import CheckData
    from irplatform.registry.lookup import Registry
    from irplatform.registry.registration import Plugin, Registration

    Problems = Callable[[CheckData], Iterator[str]]


@dataclass(frozen=True)
class CheckSettings:
    """The settings of `check_plugin`.

    Attributes:
        plugin: its name, as `platform plugins list` shows it.
        collection: the collection whose judged topics are used.
        systems: names of systems to check; none checks all.
        settings: options of rerankers and retrievers, see `choose_systems`.
        device: "auto", "cpu", "cuda" or "mps".
    """

    plugin: str
    collection: str = "demo-train"
    systems: Sequence[str] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    device: str = "auto"


def check_plugin(settings: CheckSettings) -> list[Finding]:
    """Check the rerankers, retrievers and feature groups that a plugin registered.

    Raises:
        InputError: a wrong name, option or device.
        PluginError: the plugin is broken, so that nothing of it is used.
    """
    plugins = registry()
    plugin = _usable(settings.plugin, plugins)
    systems = _systems(settings, plugin, plugins)
    collection = plugins.collection(settings.collection)
    refuse_silent_downloads(collection, settings.collection)
    device = choose_device(settings.device, 1)
    resources = CollectionResources(collection.corpus, device, seed=42, threads=available_cores())
    findings: list[Finding] = []
    with parts(len(systems) + 1):
        with stage(""):
            data = check_data_of(collection, plugins, resources)
            with progress(f"importing {plugin.name} in a process of its own", part=LAST):
                if remarks := slow_imports(plugin):
                    findings.append(Finding("plugin", plugin.name, remarks=remarks))
        with stage("", len(systems)), steps("system", len(systems)) as advance:
            for (kind, name), problems in systems.items():
                finding = _finding(kind, name, problems, data)
                findings.append(replace(finding, remarks=_undescribed(kind, name, plugins)))
                advance(1)
    return findings


def _finding(kind: str, name: str, problems: Problems, data: CheckData) -> Finding:
    lines: list[str] = []
    unchecked = ""
    data = replace(data, watch=Watch(name))
    try:
        lines.extend(problems(data))
    except InputError as error:
        unchecked = str(error)
    except PlatformError as error:  # of the plugin, or for want of memory: others may need less
        lines.append(str(error))
    return Finding(kind, name, [*lines, *data.watch.changes], unchecked)


def _tables(plugins: Registry) -> dict[str, Mapping[str, Registration[Any]]]:
    return {
        "reranker": plugins.rerankers,
        "retriever": plugins.retrievers,
        "feature group": plugins.features,
    }


def _undescribed(kind: str, name: str, plugins: Registry) -> list[str]:
    """A remark on options without a description."""
    registration = _tables(plugins)[kind][name]
    if registration.broken:
        return []
    fields = registration.system.Options.model_fields
    options = [option for option, field in fields.items() if not field.description]
    if not options:
        return []
    return [f"no description: {', '.join(options)}; give Field(…, description=…) a line for users"]


def _usable(name: str, plugins: Registry) -> Plugin:
    by_name = {plugin.name: plugin for plugin in plugins.plugins}
    plugin = by_name.get(name)
    if plugin is None:
        if written := not_installed(name, by_name, others=False):
            raise unknown("plugin", name, (), hint=written)
        hint = without_entry_point(name) or "`platform plugins list` shows all."
        raise unknown("plugin", name, by_name, hint=hint)
    if plugin.error:
        raise PluginError(f"{plugin} is not used: {plugin.error}")
    return plugin


def _names_by_kind(plugin: Plugin, only: Sequence[str], plugins: Registry) -> dict[str, list[str]]:
    names = {
        kind: [r.name for r in table.values() if r.plugin.name == plugin.name]
        for kind, table in _tables(plugins).items()
    }
    registered_names = [name for names_of_kind in names.values() for name in names_of_kind]
    if not registered_names:
        raise InputError(f"{plugin} registers no reranker, retriever or group of features.")
    for name in only:
        if name not in registered_names:
            raise unknown("system", name, registered_names, of=f"plugin '{plugin.name}'")
    return {
        kind: [n for n in names_of_kind if not only or n in only]
        for kind, names_of_kind in names.items()
    }


def _systems(
    settings: CheckSettings, plugin: Plugin, plugins: Registry
) -> dict[tuple[str, str], Problems]:
    names = _names_by_kind(plugin, settings.systems, plugins)
    broken: dict[tuple[str, str], Problems] = {}
    for kind, table in _tables(plugins).items():
        for name in names[kind]:
            if table[name].broken:
                broken[kind, name] = _with(_broken, table[name].broken)
        names[kind] = [name for name in names[kind] if (kind, name) not in broken]
    retrievers, rerankers = choose_systems(
        plugins, names["retriever"], names["reranker"], settings.settings, members=1
    )
    return {
        **broken,
        **{("reranker", r.name): _with(problems_of_reranker, r) for r in rerankers},
        **{("retriever", r.name): _with(problems_of_retriever, r) for r in retrievers},
        **{("feature group", n): _with(problems_of_features, n) for n in names["feature group"]},
    }


def _broken(reason: str, _data: CheckData) -> Iterator[str]:
    yield reason


def _with(problems: Callable[[Any, CheckData], Iterator[str]], system: Any) -> Problems:
    return lambda data: problems(system, data)
