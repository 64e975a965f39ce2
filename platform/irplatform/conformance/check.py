"""Checks a plugin: tries its systems one after the other on a small collection."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from irplatform.collection_resources import CollectionResources
from irplatform.conformance.data import Finding, Watch, check_data_of
from irplatform.conformance.systems import (
    problems_of_features,
    problems_of_reranker,
    problems_of_retriever,
)
from irplatform.errors import InputError, PlatformError, PluginError, unknown
from irplatform.experiment.systems import choose_systems, refuse_silent_downloads
from irplatform.registry.entry_points import not_installed
from irplatform.registry.loading import registry
from irplatform.system.arithmetic import choose_device
from irplatform.system.console import parts, stage, steps
from irplatform.system.workers import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.conformance.data import CheckData
    from irplatform.registry.lookup import Registry
    from irplatform.registry.registration import Plugin, Registration

    Problems = Callable[[CheckData], Iterator[str]]


def check_plugin(
    name: str,
    collection_name: str = "demo-train",
    only: Sequence[str] = (),
    settings: Mapping[str, object] | None = None,
    device: str = "auto",
) -> list[Finding]:
    """Check systems that a plugin registered, `only` some or all, on a collection's judged topics.

    Raises:
        InputError: a wrong name, option or device.
        PluginError: the plugin is broken.
    """
    plugins = registry()
    plugin = _usable(name, plugins)
    registered = _registered(plugin, only, plugins)
    checks = _checks(registered, settings or {}, plugins)
    collection = plugins.collection(collection_name)
    refuse_silent_downloads(collection, collection_name)
    device = choose_device(device, 1)
    resources = CollectionResources(collection.corpus, device, seed=42, threads=available_cores())
    findings: list[Finding] = []
    with parts(len(checks) + 1):
        with stage(""):
            data = check_data_of(collection, plugins, resources)
        with stage("", len(checks)), steps("system", len(checks)) as advance:
            for (kind, system), problems in checks.items():
                finding = _finding(kind, system, problems, data)
                remarks = _undescribed(registered[kind, system])
                findings.append(replace(finding, remarks=remarks))
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
    except PlatformError as error:  # other systems may still work
        lines.append(str(error))
    return Finding(kind, name, [*lines, *data.watch.changes], unchecked)


def _undescribed(registration: Registration[Any]) -> list[str]:
    """A remark on options without a description."""
    if registration.broken:
        return []
    fields = registration.system.Options.model_fields
    options = ", ".join(option for option, field in fields.items() if not field.description)
    remark = f"no description: {options}; give Field(…, description=…) a line for users"
    return [remark] if options else []


def _usable(name: str, plugins: Registry) -> Plugin:
    by_name = {plugin.name: plugin for plugin in plugins.plugins}
    plugin = by_name.get(name)
    if plugin is None:
        if written := not_installed(name, by_name, others=False):
            raise unknown("plugin", name, (), hint=written)
        raise unknown("plugin", name, by_name, hint="`platform plugins list` shows all.")
    if plugin.error:
        raise PluginError(f"{plugin} is not used: {plugin.error}")
    return plugin


def _registered(
    plugin: Plugin, only: Sequence[str], plugins: Registry
) -> dict[tuple[str, str], Registration[Any]]:
    """The systems to check, by kind and name."""
    tables: dict[str, Mapping[str, Registration[Any]]] = {
        "reranker": plugins.rerankers,
        "retriever": plugins.retrievers,
        "feature group": plugins.features,
    }
    registered = {
        (kind, name): registration
        for kind, table in tables.items()
        for name, registration in table.items()
        if registration.plugin.name == plugin.name
    }
    if not registered:
        raise InputError(f"{plugin} registers no reranker, retriever or group of features.")
    names = [name for _, name in registered]
    for name in only:
        if name not in names:
            raise unknown("system", name, names, of=f"plugin '{plugin.name}'")
    return {key: each for key, each in registered.items() if not only or key[1] in only}


def _checks(
    registered: Mapping[tuple[str, str], Registration[Any]],
    settings: Mapping[str, object],
    plugins: Registry,
) -> dict[tuple[str, str], Problems]:
    sound: dict[str, list[str]] = {"reranker": [], "retriever": [], "feature group": []}
    checks: dict[tuple[str, str], Problems] = {}
    for (kind, name), registration in registered.items():
        if registration.broken:
            checks[kind, name] = partial(_broken, registration.broken)
        else:
            sound[kind].append(name)
    retrievers, rerankers = choose_systems(
        plugins, sound["retriever"], sound["reranker"], settings, members=1
    )
    checks |= {("reranker", r.name): partial(problems_of_reranker, r) for r in rerankers}
    checks |= {("retriever", r.name): partial(problems_of_retriever, r) for r in retrievers}
    return checks | {
        ("feature group", name): partial(problems_of_features, name)
        for name in sound["feature group"]
    }


def _broken(reason: str, _data: CheckData) -> Iterator[str]:
    yield reason
