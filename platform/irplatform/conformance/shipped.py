"""Checks of what a plugin ships beside its systems: files, formats of knowledge bases, commands."""

from __future__ import annotations

import ast
import json
from contextlib import suppress
from importlib import metadata
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse
from urllib.request import url2pathname

from irplatform.errors import InputError, PlatformError
from irplatform.evaluation.measure_names import parse_measures
from irplatform.files.code_digests import distributions_of_packages, package_files
from irplatform.files.formats import read_toml
from irplatform.knowledge import Head
from irplatform.registry.loading import registry
from irplatform.reproduction.differences import shipped_claims
from irplatform.reproduction.rows import read_rows, shipped_rows
from irplatform.retrieval.first_stage import FirstStage
from irplatform.system.packages import package_of
from irplatform.tasks.catalogue.names import known_tasks, tasks_of_plugin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.conformance.behaviour import Results
    from irplatform.conformance.data import CheckData
    from irplatform.registry.registration import Plugin, Registration


_ODD_HEADS = ("", "\n", "\x00\x01", "<?xml version='1.0'?>", "{", "id\tname\n1\tβ")
"""Beginnings of files that a format may be shown."""
_PROMISED = ("kit", "plugin", "testing")
"""Modules that plugins import."""
_BLANK = "\n\x00\x01"


def results_of_tasks(name: str, _data: CheckData) -> Results:
    """Check the tasks of a file: keys, values, names, measures and the package."""
    for path in _files(registry().tasks, name):
        tasks, faults = tasks_of_plugin(path, known_tasks())
        for task in tasks.values():
            try:
                parse_measures(task.rules.measures or (), registry().measures, sampled=True)
            except InputError as error:
                faults.append(f"{path}: task '{task.name}': {error}")
        yield from (("tasks", fault) for fault in faults or [""])
        yield "package data", unpackaged(path, registry().tasks[path])


def results_of_results(name: str, _data: CheckData) -> Results:
    """Check the rows of a file: keys, values, names of systems and measures, and the package."""
    plugins = registry()
    rows, refused = shipped_rows(plugins.results)
    _, without_claims = shipped_claims(plugins.results, rows, refused)
    for path in _files(plugins.results, name):
        refusals = [*refused, *without_claims]
        faults = [refusal.reason for refusal in refusals if refusal.file == path]
        for row in [] if faults else read_rows(path):
            try:
                parse_measures([m for m, _, _ in row.figures()], plugins.measures, sampled=True)
                for retriever in FirstStage.parse("+".join(row.retrievers)).retrievers:
                    plugins.retriever(retriever)
                if row.reranker:
                    plugins.reranker(row.reranker)
            except InputError as error:
                faults.append(f"{path}: result '{row.id}': {error}")
        yield from (("rows", fault) for fault in faults or [""])
        yield "package data", unpackaged(path, plugins.results[path])


def _files(table: Iterable[Path], name: str) -> list[Path]:
    return [path for path in table if path.name == name]


def results_of_format(name: str, data: CheckData) -> Results:
    """Check that a format of knowledge bases is made, and that it refuses files of others."""
    with data.watch.during("loading it"):
        knowledge_format = registry().knowledge[name]()
    yield "loading", ""
    for text in _ODD_HEADS:
        fault = ""
        try:
            with data.watch.during("looking at a file"):
                if knowledge_format.recognizes(Head(text)) and not text.strip(_BLANK):
                    fault = f"it takes a file that begins with {text!r} for its own"
        except Exception as error:
            fault = f"{error!r} for a file that begins with {text!r}: return False there"
        yield "odd files", fault


def results_of_hooks(name: str, data: CheckData) -> Results:
    """Check that commands are added, and that each has help."""
    import click

    cli = click.Group("platform")
    (plugin,) = (entry for entry in registry().plugins if entry.name == name)
    for implementation in registry().implementations("register_commands", plugin):
        with data.watch.during("register_commands()"):
            implementation.function(cli)
    yield "commands", plugin.failed
    for command in cli.commands.values():
        context = click.Context(command, info_name=command.name)
        help_text = command.get_short_help_str() and command.get_help(context)
        yield (
            "commands",
            "" if help_text else f"command {command.name} has no help: write a docstring",
        )


def _distribution(plugin: Plugin) -> metadata.Distribution | None:
    """The installed distribution of a third-party plugin, if there is one."""
    with suppress(metadata.PackageNotFoundError):
        if plugin.installed and not plugin.is_builtin:
            return metadata.distribution(plugin.distribution)
    return None


def unpackaged(path: Path, plugin: Plugin) -> str:
    """Say why a wheel of a plugin may lack a file; "" where it does not, or that is unknown."""
    if (distribution := _distribution(plugin)) is None:
        return ""
    files = distribution.files or []
    edited = json.loads(distribution.read_text("direct_url.json") or "{}")
    if edited.get("dir_info", {}).get("editable"):
        reason = _left_out(path, Path(url2pathname(urlparse(edited["url"]).path)))
        return f"a wheel will lack {path.name}: {reason}, in pyproject.toml" if reason else ""
    if not files or any(Path(str(distribution.locate_file(file))) == path for file in files):
        return ""
    return f"{path} is no file of {plugin.distribution}: ship it in a package"


def _left_out(path: Path, source: Path) -> str:
    """Why setuptools leaves a file out of a wheel; other tools take all files of a package."""
    project = read_toml(source / "pyproject.toml")
    builds = project.get("build-system", {}).get("build-backend", "setuptools")
    manifest = source / "MANIFEST.in"
    if "setuptools" not in builds or (manifest.exists() and path.suffix in manifest.read_text()):
        return ""
    if not (path.parent / "__init__.py").exists():
        return "py-modules carry no data, so make the module a package"
    pattern_lists = project.get("tool", {}).get("setuptools", {}).get("package-data", {}).values()
    if any(PurePath(path).match(pattern) for patterns in pattern_lists for pattern in patterns):
        return ""
    return "list it in [tool.setuptools.package-data]"


def remarks_on_imports(plugin: Plugin) -> list[str]:
    """Return remarks on modules of the platform that a plugin imports and that may change."""
    packages = distributions_of_packages() if _distribution(plugin) else {}
    tops = [package for package, names in packages.items() if plugin.distribution in names]
    files = [path for top in tops for path in package_files(top) if path.suffix == ".py"]
    imports = [node for path in files for node in ast.walk(ast.parse(path.read_bytes()))]
    modules = {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    return [
        f"imports {module}, which may change: take names from irplatform.plugin and irplatform.kit"
        for module in sorted(modules)
        if module.startswith("irplatform.") and module.split(".")[1] not in _PROMISED
    ]


def remarks_on_requirements(plugin: Plugin, systems: Iterable[Registration[Any]]) -> list[str]:
    """Return remarks on what a plugin's distribution requires."""
    if (distribution := _distribution(plugin)) is None:
        return []
    required = [requirement.lower() for requirement in distribution.requires or ()]
    bound = plugin.contract or not required
    remarks = [] if bound else ["require the irplatform that you tried: >=0.2,<0.3"]
    brings_extras = any(requirement.startswith("irplatform[") for requirement in required)
    packages = distributions_of_packages()
    for system in systems:
        with suppress(PlatformError):  # its check tells
            for module in system.traits(system.options({})).packages:
                names = {name.lower() for name in (*packages.get(module, ()), package_of(module))}
                if not brings_extras and not any(r.startswith(n) for r in required for n in names):
                    remarks.append(f"traits() names {module}, which nothing requires: require it")
    return [*dict.fromkeys(remarks)]
