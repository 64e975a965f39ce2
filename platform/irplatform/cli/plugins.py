"""`platform plugins`: list, create and check plugins."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import Group
from irplatform.cli.names import COLLECTION, Names, list_option
from irplatform.cli.options import PATH, device_option, setting_option
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.cli.settings import read_settings
from irplatform.files.code_digests import GROUP
from irplatform.registry.loading import registry
from irplatform.system.console import say_text
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Collection

KINDS = (
    *("reranker", "trainable", "neural", "retriever", "collection", "measure", "features"),
    *("knowledge", "task", "judge"),
)


@click.group(cls=Group)
def plugins() -> None:
    """List, create and check plugins."""


@plugins.command("list")
@json_option
def list_plugins(as_json: bool) -> None:
    """List installed plugins and what they provide, with the errors of broken ones."""
    installed = registry().plugins
    if as_json:
        errors = [{"error": p.error or None, "failed": p.failed or None} for p in installed]
        entries = [asdict(p) | e for p, e in zip(installed, errors, strict=True)]
        print_json({"plugins": entries})
        return
    if not installed:
        say_text(f"No plugin is installed (entry-point group '{GROUP}').")
    rows = []
    for plugin in installed:
        kinds: dict[str, list[str]] = {}
        for provided in plugin.provides:  # "feature group lexical"
            kind, _, name = provided.rpartition(" ")
            kinds.setdefault(kind, []).append(name)
        facts = [f"BROKEN: {plugin.error}"] if plugin.error else []
        facts += [f"{kind} {', '.join(names)}" for kind, names in kinds.items()]
        facts += filter(None, [plugin.wrong, plugin.failed])
        facts += (
            [] if plugin.is_builtin else [f"for irplatform {plugin.contract or '(any version)'}"]
        )
        for row, fact in enumerate(facts or [""]):
            source = "" if row else f"{plugin.distribution} {plugin.version}"
            rows.append(("" if row else plugin.name, source, fact))
    print_rows(rows)


@plugins.command(
    "new",
    examples=["platform plugins new my-ranker", "platform plugins new my-measure --kind measure"],
)
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default=KINDS[0],
    show_default=True,
    help="What the plugin adds.",
)
@click.option(
    "--in",
    "parent",
    default=Path(),
    type=PATH,
    help="The parent folder of the package; default: the current folder.",
)
def new(name: str, kind: str, parent: Path) -> None:
    """Create the package of a new plugin, for you to change.

    Writes a folder `irplatform-NAME` with the module, its tests and the entry point. The package
    can be installed, and passes its tests, as it is.
    """
    from irplatform.conformance.template import new_plugin

    installed = registry()
    names: dict[str, Collection[str]] = {
        "plugin": [plugin.name for plugin in installed.plugins],
        "reranker": installed.rerankers,
        "retriever": installed.retrievers,
        "collection": installed.collections,
        "measure": installed.measures,
        "feature group": installed.features,
        "judge": installed.judges,
    }
    package = new_plugin(name, parent, kind, names)
    folder = shlex.quote(str(package.folder))
    say_text(f"{package.folder}: {package.title} '{name}'. To install, test and use it:")
    say_text(f"  pip install -e {folder}")
    say_text(f"  pytest {folder}")
    say_text(f"  {package.command}")


@plugins.command("check", examples=["platform plugins check delta --only delta,delta-32"])
@click.argument("name", type=Names("plugin", lambda _: [p.name for p in registry().plugins]))
@list_option("--only", "systems", metavar="NAME,…", help="Check only these names of the plugin.")
@click.option(
    "--collection",
    type=COLLECTION,
    default="demo-train",
    show_default=True,
    help="The collection whose judged topics to use.",
)
@setting_option("a reranker, retriever or judge", "rerankers show")
@device_option()
@json_option
@click.pass_context
def check(
    context: click.Context,
    name: str,
    systems: tuple[str, ...],
    collection: str,
    settings: tuple[str, ...],
    device: str,
    as_json: bool,
) -> None:
    """Check that a plugin keeps the contract of `irplatform.plugin`.

    Rerankers, retrievers and feature groups score a few topics in several ways that must give the
    same answers. Those that learn are trained on a few other topics, saved, loaded and trained
    again. Judges judge them. All are also asked about documents and topics with gaps. Measures are
    computed for small rankings, collections are read twice, and tasks, results, formats and
    commands are looked at. State of the whole process must stay unchanged. Slow imports, options
    without a description and files that are read but not declared are remarks.
    The exit code is 1 if something breaks the contract, and 2 if nothing breaks it but something
    could not be checked.
    """
    from irplatform.conformance.check import check_plugin

    options = read_settings(
        settings,
        None,
        sorted(registry().retrievers),
        sorted(registry().rerankers),
        sorted(registry().judges),
    )
    with isolated():  # threads of a plugin may print later
        findings = check_plugin(name, collection, systems, options, device)
    if as_json:
        print_json({"plugin": name, "systems": [finding.as_json() for finding in findings]})
    else:
        for finding in findings:
            unchecked = [f"not checked: {finding.unchecked}"] if finding.unchecked else []
            remarks = [f"remark: {remark}" for remark in finding.remarks]
            sound = ["keeps the contract"] if finding.checks else []
            lines = [*finding.problems, *unchecked] or sound
            for line in [*lines, *remarks]:
                say_text(f"{finding.kind} {finding.name}: {line}")
    if any(finding.problems for finding in findings):
        context.exit(1)
    context.exit(2 if any(finding.unchecked for finding in findings) else 0)
