"""`platform kb`: add, list, show and remove knowledge bases."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from irplatform.cli.commands import Group
from irplatform.cli.names import KNOWLEDGE, list_option
from irplatform.cli.options import PATH, knowledge_option, number_option
from irplatform.cli.output import cut, json_option, print_json, print_rows
from irplatform.errors import InputError, counted, unknown
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.knowledge.installation import Manifest
    from irplatform.knowledge.model import ConceptKind

_LINE = 100
"""Characters of a line of names, and of evidence."""
_INDENT = 12


def _kinds(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, ConceptKind]:
    """Prefix → kind; "" is for all other terms."""
    from irplatform.knowledge.model import ConceptKind

    kinds: dict[str, ConceptKind] = {}
    for value in values:
        prefix, _, kind = value.rpartition("=")
        if kind.lower() not in get_args(ConceptKind):
            raise unknown("kind", kind, get_args(ConceptKind))
        kinds[prefix.strip().rstrip(":").upper()] = cast("ConceptKind", kind.lower())
    return kinds


@click.group(cls=Group)
def kb() -> None:
    """Add, list, show and remove knowledge bases."""


@kb.command("add", examples=["platform kb add mesh desc2024.xml.gz supp2024.xml.gz"])
@click.argument("name")
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option(
    "--format", "format_name", metavar="FORMAT", help="Format of the files; detected by default."
)
@list_option(
    "--kind",
    "kinds",
    metavar="[PREFIX=]KIND,…",
    callback=_kinds,
    help="Kind of terms, or of those with a prefix (NCIT=disease): disease, gene, drug, variant "
    "or other; detected by default.",
)
@json_option
def add(
    name: str,
    files: tuple[Path, ...],
    format_name: str | None,
    kinds: dict[str, ConceptKind],
    as_json: bool,
) -> None:
    """Add a knowledge base from one or more files under a name, or replace it.

    A name that `kb list` shows (mesh, hgnc, …) expects the files of that source. Any other name
    takes files of every known format.
    """
    from irplatform.knowledge import add as add_files
    from irplatform.registry.loading import registry

    more_formats = [load() for load in registry().knowledge.values()]
    manifest = add_files(name, files, format_name, kinds, more_formats)
    if as_json:
        print_json(_facts(name, manifest))
        return
    formats = ", ".join(dict.fromkeys(source["format"] for source in manifest.sources))
    counts = ", ".join(
        counted(manifest.total(f"{kind}s"), kind) for kind in ("concept", "name", "relation")
    )
    say_text(f"{name}: {counts} ({formats})")


@kb.command("list")
@json_option
def list_kbs(as_json: bool) -> None:
    """List the installed knowledge bases, and where to get the others."""
    from irplatform.knowledge import installed
    from irplatform.knowledge.catalogue import SOURCES

    manifests = installed()
    missing = {name: source for name, source in SOURCES.items() if name not in manifests}
    if as_json:
        print_json(
            {
                "installed": [_facts(name, manifest) for name, manifest in manifests.items()],
                "available": [
                    {"name": name, "title": source.title, "published": source.published}
                    for name, source in missing.items()
                ],
            }
        )
        return
    print_rows(
        [
            (
                name,
                *(counted(manifest.total(f"{kind}s"), kind) for kind in ("concept", "relation")),
                ", ".join(source["file"] for source in manifest.sources),
            )
            for name, manifest in manifests.items()
        ]
    )
    if missing:
        if manifests:
            say_text()
        say_text("Not added yet (platform kb add NAME FILE):")
        print_rows([(name, source.title, source.published) for name, source in missing.items()])


@kb.command("show", examples=["platform kb show melanoma --kb mesh,doid"])
@click.argument("term")
@knowledge_option("--kb", "names", help="Look only in these knowledge bases.")
@number_option("--relations", "limit", default=5, least=0, text="Relations of each kind to show.")
@json_option
@click.pass_context
def show(
    context: click.Context, term: str, names: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """Show what is known about a disease, gene, drug or id.

    The exit code is 1 if nothing is known.
    """
    from irplatform.knowledge import all_installed, open_knowledge
    from irplatform.knowledge.union import describe

    kb_names = names or all_installed()
    if not kb_names:
        raise InputError(
            "no knowledge base is installed. `platform kb list` shows where to get them, "
            "and `platform kb add NAME FILE` adds one."
        )
    facts = describe(open_knowledge(kb_names), term)
    if as_json:
        print_json(facts)
    else:
        for number, concept in enumerate(facts["concepts"]):
            if number:
                say_text()
            for line in _lines(concept, limit):
                say_text(line)
        if not facts["concepts"]:
            near = ", ".join(
                f"{neighbour['name']} ({neighbour['id']})" for neighbour in facts["nearest"]
            )
            say_text(f"'{term}' is not known.{f' Near it: {near}' if near else ''}")
    context.exit(0 if facts["concepts"] else 1)


@kb.command("remove", examples=["platform kb remove mesh"])
@click.argument("name", type=KNOWLEDGE)
def remove(name: str) -> None:
    """Remove a knowledge base."""
    from irplatform.knowledge import remove as remove_kb

    remove_kb(name)
    say_text(f"{name} was removed.")


def _facts(name: str, manifest: Manifest) -> dict[str, Any]:
    return {
        "name": name,
        "fingerprint": manifest.fingerprint,
        "counts": manifest.counts,
        "sources": manifest.sources,
    }


def _lines(concept: dict[str, Any], limit: int) -> Iterator[str]:
    yield f"{concept['id']}  {concept['name']}  ({concept['kind']}, {concept['kb']})"
    for kind, names in _by_kind(concept["names"]):
        if kind != "preferred":
            yield _row(kind, names)
    for relation in ("parents", "children", "same_as"):
        if entries := concept[relation]:
            names = [entry["name"] for entry in entries]
            if relation == "same_as":
                names = [f"{entry['id']} {entry['name']}" for entry in entries]
            yield _row(relation.replace("_", " "), names)
    if concept["relations_at"] != concept["id"]:
        yield _row("relations", [f"see {concept['relations_at']}"])
    for kind, group in groupby(concept["relations"], key=lambda fact: fact["kind"]):
        relations = list(group)
        yield f"  {kind} ({len(relations):,})"
        for target in relations[:limit]:
            evidence = "; ".join(
                ": ".join(filter(None, piece.values())) for piece in target["evidence"]
            )
            yield f"    {target['name']}  {target['id']}  {cut(evidence, _LINE)}"
        if len(relations) > limit > 0:
            yield "    …"


def _by_kind(names: list[dict[str, str]]) -> list[tuple[str, list[str]]]:
    """Names by kind, without those that differ from an earlier one only in case."""
    kinds: dict[str, list[str]] = {}
    spellings: set[str] = set()
    for name in names:
        if (folded := name["text"].casefold()) not in spellings:
            spellings.add(folded)
            kinds.setdefault(name["kind"], []).append(name["text"])
    return [*kinds.items()]


def _row(label: str, values: list[str]) -> str:
    return f"  {label.ljust(_INDENT)}  {cut('; '.join(values), _LINE)}"
