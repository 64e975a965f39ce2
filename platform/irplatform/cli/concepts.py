"""`platform concepts`: the document–concept graph of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click

from irplatform.cli.commands import Group, with_options
from irplatform.cli.names import list_option
from irplatform.cli.options import (
    PATH,
    collection_option,
    knowledge_option,
    number_option,
    workers_option,
)
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import InputError, counted
from irplatform.knowledge import ConceptKind
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.graph import ConceptGraph
    from irplatform.data import Corpus
    from irplatform.workers.distribution import Count


@click.group(cls=Group)
def concepts() -> None:
    """Build, show, check and export the document–concept graph."""


_options = with_options(
    collection_option,
    knowledge_option(
        "--kb", "knowledge", help="Knowledge bases in order of precedence; default: all installed."
    ),
    list_option(
        "--kind",
        "kinds",
        type=click.Choice(get_args(ConceptKind)),
        help="Link only concepts of these kinds; default: all.",
    ),
    click.option(
        "--model", help="The spaCy model that finds mentions, or 'none' to match names only."
    ),
    click.option(
        "--linker",
        type=click.Choice(["names", "scispacy"]),
        help="Link by exact names, or also with scispaCy's linker (slower).",
    ),
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1, min_open=True),
        help="Minimum similarity for scispaCy's linker.",
    ),
    group="What the graph is made of",
    example="--kb mesh,doid --kind disease,gene",
)
"""The options that define a graph."""
_graph_option = click.option(
    "--graph", "folder", type=PATH, help="The folder of a graph, instead of the one in the cache."
)
_OPTIONS = {"knowledge": "--kb", "kinds": "--kind"}
"""Setting → its option, if the names differ."""


def _concept_options(settings: dict[str, Any]) -> ConceptOptions:
    from irplatform.concepts import ConceptOptions

    if settings["threshold"] and settings["linker"] != "scispacy":
        raise InputError(
            "--threshold is an option of scispaCy's linker: add `--linker scispacy`, or leave out "
            "--threshold."
        )
    return ConceptOptions(**{name: value for name, value in settings.items() if value})


def _corpus(collection: str) -> Corpus:
    from irplatform.registry.loading import registry

    return registry().documents_of(collection).corpus


def _graph(corpus: Corpus, folder: Path | None, settings: dict[str, Any]) -> ConceptGraph:
    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.build import open_graph
    from irplatform.concepts.graph import ConceptGraph
    from irplatform.concepts.pipeline import versions
    from irplatform.files.cache import damaged_file

    if folder is None:
        return open_graph(corpus, _concept_options(settings))
    flags = [_OPTIONS.get(name, f"--{name}") for name, value in settings.items() if value]
    if flags:
        raise InputError(
            f"{' and '.join(flags)} would change how the graph is built, but --graph names an "
            "existing one. Leave out one of them."
        )
    if (damaged := damaged_file(folder)) is not None:
        raise InputError(
            f"this file of a concept graph is damaged or missing. Delete {folder} and run "
            "`platform concepts build` again.",
            path=damaged,
        )
    graph = ConceptGraph(folder)
    options = ConceptOptions(**graph.facts["options"])
    return graph.require(corpus=corpus.fingerprint, pipeline=versions(options))


@concepts.command(
    "build",
    examples=["platform concepts build --collection demo --kb mesh,doid --kind disease,gene"],
)
@_options
@with_options(
    workers_option("Processes, or 'ray' for those of a Ray cluster; default: one per core."),
    json_option,
    group="Output",
)
def build(collection: str, workers: Count, as_json: bool, **settings: Any) -> None:
    """Build the document–concept graph of a collection, or describe the existing one."""
    from irplatform.concepts.build import build_facts
    from irplatform.workers.distribution import use_workers

    with use_workers(workers):
        facts = build_facts(_corpus(collection), _concept_options(settings), name=collection)
    if as_json:
        print_json(facts)
        return
    edges = facts.pop("edges")
    thousand = facts.pop("per_1000_documents")
    for name, value in facts.items():
        text = f"{value:,}" if isinstance(value, (int, float)) else value
        say_text(f"{name.replace('_', ' ')}: {text}")
    rates = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in thousand.items())
    say_text(f"per 1,000 documents: {rates}")
    say_text("edges:")
    print_rows([(f"  {edge['relation']}", edge["kb"], f"{edge['edges']:,}") for edge in edges])


@concepts.command("show", examples=["platform concepts show melanoma --collection demo"])
@click.argument("what")
@_options
@with_options(
    _graph_option,
    number_option(
        "--limit", default=10, least=1, text="Maximum number of neighbours of each kind."
    ),
    json_option,
    group="Output",
)
@click.pass_context
def show(
    context: click.Context,
    /,
    what: str,
    collection: str,
    folder: Path | None,
    limit: int,
    as_json: bool,
    **settings: Any,
) -> None:
    """Show the neighbours of a document or concept, with names, sources and counts.

    WHAT is a document id, or a concept id or name. The exit code is 1 if there is no match. A graph
    that is not in the cache is built first.
    """
    from irplatform.concepts.export import describe, not_there
    from irplatform.reports.explanation import concept_lines, document_lines

    facts = describe(_graph(_corpus(collection), folder, settings), what, limit)
    if as_json:
        print_json(facts)
    elif "document" in facts:
        for line in document_lines(facts["document"]):
            say_text(line)
    elif "concept" in facts:
        for line in concept_lines(facts["concept"], facts["others"]):
            say_text(line)
    else:
        say_text(not_there(what, facts["nearest"]))
    context.exit(1 if "nearest" in facts else 0)


@concepts.command("check", examples=["platform concepts check --collection demo"])
@_options
@with_options(
    _graph_option,
    click.option(
        "--field", default="mesh", show_default=True, help="The document field with MeSH headings."
    ),
    number_option("--examples", default=20, least=0, text="Misses and false links to show."),
    json_option,
    group="Output",
)
def check(
    collection: str, folder: Path | None, field: str, examples: int, as_json: bool, **settings: Any
) -> None:
    """Compare the links with the articles' own MeSH headings.

    A graph that is not in the cache is built first.
    """
    from irplatform.concepts.check import check as check_links
    from irplatform.concepts.check import require_mesh

    corpus = _corpus(collection)
    if folder is None:
        require_mesh(_concept_options(settings).bases())  # before a graph is built
    facts = check_links(_graph(corpus, folder, settings), corpus, field, examples)
    if as_json:
        print_json(facts)
        return
    say_text(f"{counted(facts['documents'], 'document')} with headings")
    columns = ("headings", "links", "precision", "recall", "precision_near", "recall_near")
    rows = [("", *(name.replace("_", " ") for name in columns))]
    for name, figures in facts.items():
        if isinstance(figures, dict) and figures["headings"]:
            counts = (f"{figures[column]:,}" for column in columns[:2])
            values = [figures[column] for column in columns[2:]]
            shares = ("-" if value is None else f"{value:.3f}" for value in values)
            rows.append((name.replace("_", " "), *counts, *shares))
    print_rows(rows)
    say_text("near: the heading itself, or one is-a away\n\nheadings that were missed:")
    print_rows([(f"  {m['heading']}", m["document"], m["title"]) for m in facts["misses"]])
    say_text("\nlinks that are not a heading:")
    print_rows([(f"  {f['linked']}", f["document"], f["text"]) for f in facts["false_links"]])


@concepts.command(
    "export",
    examples=["platform concepts export graph.graphml --collection demo --around melanoma"],
)
@click.argument("path", type=PATH)
@_options
@with_options(
    _graph_option,
    click.option(
        "--around", help="Write only the surroundings of a document id, or a concept id or name."
    ),
    click.option(
        "--hops", type=click.IntRange(1), help="With --around: steps from it.  [default: 1]"
    ),
    number_option("--limit", default=500000, least=1, text="Maximum number of edges."),
    json_option,
    group="Output",
)
def export(
    path: Path,
    collection: str,
    folder: Path | None,
    around: str | None,
    hops: int | None,
    limit: int,
    as_json: bool,
    **settings: Any,
) -> None:
    """Write the graph, or a part of it, as GraphML.

    Concepts that no document mentions are left out, except with --around. A graph that is not in
    the cache is built first.
    """
    from irplatform.concepts.export import mentioned, neighbourhood, to_networkx, write_graphml
    from irplatform.files.writing import writable_file

    if hops is not None and around is None:
        raise InputError("--hops has no effect without --around.")
    if writable_file(path).exists():
        raise InputError("this file already exists; choose another name.", path=path)
    graph = _graph(_corpus(collection), folder, settings)
    rows, found_concepts = (
        (None, None) if around is None else neighbourhood(graph, around, hops or 1)
    )
    exported = to_networkx(graph, rows, found_concepts, limit=limit)
    write_graphml(exported, path)
    nodes, edges = exported.number_of_nodes(), exported.number_of_edges()
    left_out = graph.concept_count - len(mentioned(graph)) if around is None else 0
    if as_json:
        facts = {"nodes": nodes, "edges": edges, "unmentioned_left_out": left_out}
        print_json({"path": str(path), **facts})
        return
    note = f" (without {counted(left_out, 'concept')} that no document mentions)"
    say_text(
        f"{path}: {counted(nodes, 'node')}{note if left_out else ''}, {counted(edges, 'edge')}"
    )
