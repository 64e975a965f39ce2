"""`platform collections`: list, show, check, name and build collections."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.collections_build import build
from irplatform.cli.commands import Group
from irplatform.cli.names import COLLECTION, Names
from irplatform.cli.options import flag_option
from irplatform.cli.output import json_option, one_line, print_json, print_rows
from irplatform.registry.loading import registry
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from irplatform.collections.document_checks import Finding

_SHOWN = 200
"""Characters of an example document's or topic's field that are shown."""


def _given_names(_incomplete: str) -> Iterable[str]:
    from irplatform.collections.names import aliases

    return aliases()


@click.group(cls=Group)
def collections() -> None:
    """List, show, check, name and build collections."""


collections.add_command(build)


@collections.command("list")
@json_option
def list_collections(as_json: bool) -> None:
    """List the collections that have a name, and those that can be built."""
    from irplatform.collections.names import BUILDERS, SHORT_NAMES, aliases

    titles = registry().collection_titles
    user_names = aliases()
    rows = [
        *((name, "plugin", titles[name]) for name in sorted(titles)),
        *((name, "user", target) for name, target in sorted(user_names.items())),
        *((name, "built-in", target) for name, target in sorted(SHORT_NAMES.items())),
        *((name, "to build", makes) for name, makes in BUILDERS.items() if name not in user_names),
    ]
    if as_json:
        entries = [
            {"from": origin, "name": name, "what": description}
            for name, origin, description in rows
        ]
        print_json({"collections": entries})
        return
    print_rows(rows)
    say_text(
        "\nAlso: any ir_datasets id (beir/nfcorpus/test), a folder in BEIR layout (FOLDER\n"
        "or FOLDER:split), and a .toml file that describes a collection. Build those that\n"
        "are still to build with `platform collections build NAME`."
    )


@collections.command("show", examples=["platform collections show demo"])
@click.argument("name", type=COLLECTION)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show counts, fields, examples and judgments of a collection.

    Nothing is downloaded; the output lists the downloads that a run would need.
    """
    from irplatform.collections.inspection import describe

    facts = describe(registry().collection(name))
    if as_json:
        print_json(facts)
        return
    print_rows(list(_rows(facts)))


@collections.command("download", examples=["platform collections download beir/nfcorpus/test"])
@click.argument("name", type=COLLECTION)
@click.option("--scoreddocs", is_flag=True, help="Also candidates that it brings (scoreddocs).")
def download(name: str, scoreddocs: bool) -> None:
    """Download all files of an ir_datasets collection and of its training partner.

    Runs download small files on their own, after a notice; only this command downloads large ones.
    Complete files are kept: after an interruption, run the same command again to continue.
    """
    from irplatform.collections.irds import exists, with_training
    from irplatform.collections.irds_downloads import PARTS, SCORED, fetch
    from irplatform.collections.names import SHORT_NAMES
    from irplatform.errors import InputError, counted

    dataset_id = SHORT_NAMES.get(name, name)
    if not exists(dataset_id):
        dataset_id = registry().collection(name).metadata.get("ir_datasets id", "")
    if not dataset_id:
        raise InputError(f"'{name}' is not a collection of ir_datasets: it has no downloads.")
    fetched = fetch(with_training(dataset_id))
    if scoreddocs:
        fetched += fetch([dataset_id], [*PARTS, SCORED])
    outcome = f"{counted(fetched, 'file')} downloaded" if fetched else "nothing is missing"
    say_text(f"{name}: {outcome}.")


@collections.command("check", examples=["platform collections check my-folder"])
@click.argument("name", type=COLLECTION)
@json_option
@click.pass_context
def check(context: click.Context, name: str, as_json: bool) -> None:
    """Read a whole collection and report what is wrong with it.

    The exit code is 1 if a problem makes scores unreliable.
    """
    from irplatform.collections.inspection import check as check_collection

    findings = check_collection(registry().collection(name), registry().measures)
    serious = any(finding.serious for finding in findings)
    if as_json:
        print_json(
            {
                "collection": name,
                "sound": not serious,
                "findings": [asdict(finding) for finding in findings],
            }
        )
    else:
        for finding in findings:
            say_text(
                f"{'ERROR' if finding.serious else 'note'}: {finding.message}{_examples(finding)}"
            )
        if not findings:
            say_text(f"{name}: nothing is wrong.")
    context.exit(1 if serious else 0)


@collections.command("add", examples=["platform collections add mine path/to/folder"])
@click.argument("name")
@click.argument("path", type=COLLECTION)
@flag_option("--force", text="Replace the collection that has this name.")
def add(name: str, path: str, force: bool) -> None:
    """Give a name to the collection at a path, or to an ir_datasets id."""
    from irplatform.collections.names import add_alias

    target = add_alias(name, path, registered=registry().collections, replace=force)
    say_text(f"{name}: {target}")


@collections.command("remove", examples=["platform collections remove mine"])
@click.argument("name", type=Names("name", _given_names))
def remove(name: str) -> None:
    """Remove a name given by `add`; the collection itself stays."""
    from irplatform.collections.names import remove_alias

    remove_alias(name)
    say_text(f"{name} is no longer a name.")


def _examples(finding: Finding) -> str:
    more = ["…"] if finding.count > len(finding.examples) else []
    return f" ({', '.join([*finding.examples, *more])})" if finding.examples else ""


def _rows(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Facts as rows of name and value, without unknown and empty ones."""
    from irplatform.collections.irds_downloads import size_text

    for key, value in facts.items():
        name = f"{prefix}{key.replace('_', ' ')}"
        if isinstance(value, dict):
            yield from _rows(value, f"{name} ")
        elif key == "downloads":
            for missing in value:
                size = f" ({size_text(missing['bytes'])})" if missing["bytes"] else ""
                yield "would download", f"{missing['source']}{size}"
        elif key == "training" and value is None:
            yield name, "no partner: rerankers that learn are cross-validated, or need --train-on"
        elif value not in (None, "", []):
            yield name, _text(value)


def _text(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    text = one_line("; ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
