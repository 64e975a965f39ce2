"""Checks a plugin: tries all that it registered, on a small collection."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.conformance import hard_cases
from irplatform.conformance.data import CheckData, Finding, check_data_of, resources_of
from irplatform.conformance.functions import results_of_collection, results_of_measure
from irplatform.conformance.judges import chosen_judges, results_of_judge
from irplatform.conformance.process import AnotherProcess
from irplatform.conformance.shipped import (
    remarks_on_imports,
    remarks_on_requirements,
    results_of_format,
    results_of_hooks,
    results_of_results,
    results_of_tasks,
)
from irplatform.conformance.systems import (
    results_of_features,
    results_of_reranker,
    results_of_retriever,
)
from irplatform.conformance.watch import Watch
from irplatform.errors import InputError, PlatformError, PluginError, unknown
from irplatform.experiment.systems import choose_systems, refuse_large_downloads
from irplatform.plugin.features import TrainableFeatureGroup
from irplatform.plugin.rerankers import TrainableReranker
from irplatform.registry.loading import registry
from irplatform.registry.registration import Registration
from irplatform.spelling import option
from irplatform.system.arithmetic import choose_device
from irplatform.system.console import section, sections, steps
from irplatform.workers.distribution import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.conformance.behaviour import Results
    from irplatform.registry.lookup import Registry
    from irplatform.registry.registration import Plugin

    Check = Callable[[CheckData], Results]


SYSTEMS = ("reranker", "retriever", "feature group", "judge")
"""Kinds that are asked about documents of a collection."""
_LEARNING = ("saved files", "save and load", "another process", "second training")
_CONSISTENCY = ("asked again", "another order", "other documents", "one topic at a time")
_RERANKING = ("score and score_batch", "explain", "rescore")
_CHECKS = {
    "retriever": (
        *("documents", "asked again", "another process", "one topic at a time"),
        *("run and explanation", "odd topics", "ids used again"),
    ),
    "measure": ("numbers", "arguments", "asked again", "another order", "one topic at a time"),
    "collection": (
        *("loading", "loaded again", "another process", "read again", "training partner"),
        "contents",
    ),
    "knowledge format": ("loading", "odd files"),
    "results": ("rows", "package data"),
    "tasks": ("tasks", "package data"),
    "hooks": ("commands",),
}
_OTHER_HOOKS = ("register_commands", "run_started", "run_finished")
_STATE = "process state"
_USABLE = "declarations"
_THREADS = 2
"""Of torch, so that a plugin that sets one thread is noticed."""
FAILED = "failure"
"""Stands for the check that the system's code ended."""


def checks_of(kind: str, registered: Registration[Any] | None) -> tuple[str, ...]:
    """Return the names of the checks of a system, in the order of `Finding.checks`."""
    if registered is None:
        return (*_CHECKS[kind], _STATE)
    if registered.broken:
        return (_USABLE,)
    if kind == "retriever":
        return (_USABLE, *_CHECKS[kind], _STATE)
    learns = issubclass(registered.system, TrainableReranker | TrainableFeatureGroup)
    first = ("another instance", "another process")[kind == "feature group" :]
    if kind == "judge":
        first = (*first, "version and tokens")
    more = (*(_RERANKING if kind == "reranker" else ()), *hard_cases.CHECKS)
    return (_USABLE, *(_LEARNING if learns else first), *_CONSISTENCY, *more, _STATE)


def check_plugin(
    name: str,
    collection_name: str = "demo-train",
    only: Sequence[str] = (),
    settings: Mapping[str, object] | None = None,
    device: str = "auto",
) -> list[Finding]:
    """Check what a plugin registered, `only` some or all; systems on a collection's judged topics.

    Raises:
        InputError: a wrong name, option or device.
        PluginError: the plugin is broken.
    """
    plugins = registry()
    plugin = usable(name, plugins)
    registered = registered_by(plugin, plugins, only)
    checks = _checks(registered, settings or {}, plugins)
    process = AnotherProcess()
    findings: list[Finding] = []
    try:
        if plugin.installed:
            process.start()
        with sections(len(checks) + 1):
            with section():
                data = _data(collection_name, device, registered, process, plugins)
                # Before the process loads the plugin for a question.
                heavy = process.heavy_imports(plugin) if plugin.installed else []
            with section(len(checks)), steps("system", len(checks)) as advance:
                for (kind, system), check in checks.items():
                    finding = _finding(kind, system, check, data)
                    remarks = [*finding.remarks, *_undescribed(registered[kind, system])]
                    findings.append(replace(finding, remarks=remarks))
                    advance(1)
            general = remarks_on_requirements(plugin, filter(None, registered.values()))
            general += remarks_on_imports(plugin)
            if heavy:
                general.append(_slow(heavy))
            if general:
                findings.insert(0, Finding("plugin", name, remarks=general))
    finally:
        process.close()
    return findings


def _data(
    collection_name: str,
    device: str,
    registered: Mapping[tuple[str, str], Registration[Any] | None],
    process: AnotherProcess,
    plugins: Registry,
) -> CheckData:
    """The topics of a collection, none if only measures and collections are checked."""
    systems = [
        registration
        for registration in registered.values()
        if registration and not registration.broken
    ]
    collection = plugins.collection(collection_name)
    refuse_large_downloads(collection, collection_name)
    accelerator = device not in ("auto", "cpu")
    # Torch takes seconds to load.
    loads_torch = accelerator or "torch" in sys.modules or any(map(_wants_torch, systems))
    device = choose_device(device, _THREADS) if loads_torch else "cpu"
    resources = resources_of(collection.corpus, device, available_cores())
    if not systems:
        return CheckData(resources, [], [], [], process=process)
    return replace(check_data_of(collection, plugins, resources), process=process)


def _wants_torch(registration: Registration[Any]) -> bool:
    try:
        return "torch" in registration.traits(registration.options({})).packages
    except PlatformError:  # its check tells
        return False


def _slow(heavy: Sequence[str]) -> str:
    return (
        f"every command waits for its import of {', '.join(heavy)}: import it within the functions "
        "that need it"
    )


def _finding(kind: str, name: str, check: Check, data: CheckData) -> Finding:
    checks: dict[str, list[str]] = {}
    unchecked = ""
    data = replace(data, watch=Watch(name), remarks=[])
    try:
        for part, problem in check(data):
            checks.setdefault(part, []).extend([problem] if problem else [])
    except InputError as error:
        unchecked = str(error)
    except PlatformError as error:  # other systems may still work
        checks[FAILED] = [str(error) + _hint(str(error))]
    if data.watch.changes or not (unchecked or FAILED in checks):
        checks[_STATE] = data.watch.changes
    return Finding(kind, name, checks, unchecked, [*data.remarks, *data.watch.remarks])


def _hint(failure: str) -> str:
    return " (take resources.device)" if "CUDA" in failure else ""


def _undescribed(registration: Registration[Any] | None) -> list[str]:
    """A remark on options without a description."""
    if registration is None or registration.broken:
        return []
    fields = registration.system.Options.model_fields
    options = ", ".join(option for option, field in fields.items() if not field.description)
    remark = f"no description: {options}; give Field(…, description=…) a line for users"
    return [remark] if options else []


def usable(name: str, plugins: Registry) -> Plugin:
    """Return a plugin; InputError if it is unknown, PluginError if it is broken."""
    by_name = {plugin.name: plugin for plugin in plugins.plugins}
    plugin = by_name.get(name)
    if plugin is None:
        file = next((f for f in (Path(name), Path(f"{name}.py")) if f.is_file()), None)
        if file:
            raise unknown("plugin", name, (), hint=f"Load the file with {option('plugin', file)}.")
        raise unknown("plugin", name, by_name, hint="`platform plugins list` shows all.")
    if plugin.error:
        raise PluginError(f"{plugin} is not used: {plugin.error}")
    return plugin


def registered_by(
    plugin: Plugin, plugins: Registry, only: Sequence[str] = ()
) -> dict[tuple[str, str], Registration[Any] | None]:
    """Return what a plugin registered that can be checked, by kind and name.

    Raises:
        InputError: there is nothing, or nothing of a name in `only`.
    """
    tables: dict[str, Mapping[str, object]] = {
        "reranker": plugins.rerankers,
        "retriever": plugins.retrievers,
        "feature group": plugins.features,
        "judge": plugins.judges,
        "measure": plugins.measures,
        "collection": plugins.collections,
        "knowledge format": plugins.knowledge,
    }
    registered = {
        (kind, name): entry if isinstance(entry, Registration) else None
        for kind, table in tables.items()
        for name, entry in table.items()
        if (owner := plugins.owners.get(f"{kind} {name}")) and owner.name == plugin.name
    }
    for kind, files in (("results", plugins.results), ("tasks", plugins.tasks)):
        registered |= {(kind, f.name): None for f, by in files.items() if by.name == plugin.name}
    if any(plugins.implementations(hook, plugin) for hook in _OTHER_HOOKS):
        registered["hooks", plugin.name] = None
    if not registered:
        raise InputError(f"{plugin} registers nothing: write a hook, such as register_rerankers.")
    names = [name for _, name in registered]
    for name in only:
        if name not in names:
            raise unknown("system", name, names, of=f"plugin '{plugin.name}'")
    return {
        key: registration for key, registration in registered.items() if not only or key[1] in only
    }


def _checks(
    registered: Mapping[tuple[str, str], Registration[Any] | None],
    settings: Mapping[str, object],
    plugins: Registry,
) -> dict[tuple[str, str], Check]:
    sound: dict[str, list[str]] = {kind: [] for kind in SYSTEMS}
    checks: dict[tuple[str, str], Check] = {}
    for (kind, name), registration in registered.items():
        if registration is None:
            checks[kind, name] = partial(_OTHERS[kind], name)
        elif registration.broken:
            checks[kind, name] = partial(_broken, registration.broken)
        else:
            sound[kind].append(name)
    others: list[Registration[Any]] = [*map(plugins.retriever, sound["retriever"])]
    others += map(plugins.reranker, sound["reranker"])
    judges, rest = chosen_judges([*map(plugins.judge, sound["judge"])], settings, others)
    retrievers, rerankers = choose_systems(
        plugins, sound["retriever"], sound["reranker"], rest, members=1
    )
    checks |= {("reranker", r.name): partial(results_of_reranker, r) for r in rerankers}
    checks |= {("retriever", r.name): partial(results_of_retriever, r) for r in retrievers}
    checks |= {("judge", j.name): partial(results_of_judge, j) for j in judges}
    return checks | {
        ("feature group", name): partial(results_of_features, name)
        for name in sound["feature group"]
    }


def _broken(reason: str, _data: CheckData) -> Results:
    yield _USABLE, reason


def _measure(name: str, data: CheckData) -> Results:
    return results_of_measure(registry().measures[name], data.watch)


def _collection(name: str, data: CheckData) -> Results:
    return results_of_collection(name, data.watch, data.process)


_OTHERS: Mapping[str, Callable[[str, CheckData], Results]] = {
    "measure": _measure,
    "collection": _collection,
    "knowledge format": results_of_format,
    "results": results_of_results,
    "tasks": results_of_tasks,
    "hooks": results_of_hooks,
}
