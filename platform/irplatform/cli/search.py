"""`platform search`, `index` and `explain`: what a retriever finds, and the scores of rerankers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import RERANKER, RETRIEVER, list_option
from irplatform.cli.options import (
    collection_option,
    flag_option,
    option_of,
    options_of,
    setting_option,
    workers_option,
)
from irplatform.cli.output import cut, json_option, one_line, print_json, print_rows
from irplatform.cli.settings import read_settings, run_settings
from irplatform.errors import InputError
from irplatform.settings import OUTPUT, WHAT
from irplatform.system.console import notice, say_text, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.workers.distribution import Count


_LEAST = 30
"""Characters of a text in a narrow terminal."""
_TITLE = 300
"""Characters of a title that are shown."""


@command(
    "platform search --collection demo --query 'lung cancer'",
    "platform search --collection demo --topic 1 --expand mesh --explain",
)
@with_options(
    collection_option,
    click.option("--query", help="Words to search for."),
    click.option("--topic", help="The id of a topic to search for, instead of --query."),
    option_of("ignore_identical_ids"),
    group="What to search for",
)
@with_options(
    click.option(
        "--retriever",
        default="bm25",
        show_default=True,
        type=RETRIEVER,
        help="The retriever to use.",
    ),
    setting_option("the retriever", "retrievers show"),
    option_of("config"),
    option_of("expand"),
    option_of("query_plan"),
    group="How to search",
    example="--retriever rm3 --set fb_docs=5",
)
@with_options(
    click.option("--depth", default=10, show_default=True, help="Documents to show."),
    flag_option("--explain", text="Also show the query that was built."),
    flag_option(
        "--every-name",
        text="With --explain: show all names in an expanded query, with their sources.",
    ),
    json_option,
    group=OUTPUT,
)
def search(
    collection: str,
    retriever: str,
    settings: tuple[str, ...],
    config: Path | None,
    every_name: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what a retriever finds for a query or a topic, with judgments if there are any."""
    from irplatform import search as search_collection

    explain = options["explain"]
    if every_name and not explain:
        raise InputError("--every-name has no effect without --explain.")
    result = search_collection(
        collection,
        retriever=retriever,
        settings=read_settings(settings, config, (retriever,)),
        **options,
    )
    if not result["hits"]:
        notice(f"{collection}: {retriever} finds nothing")
    if as_json:
        print_json(result)
        return
    say_text(f"{result['topic']}: {one_line(result['query'])}")
    if explain:
        from irplatform.expansion.expression import as_outline, as_text
        from irplatform.reports.explanation import lines_of

        explanation = result["explanation"]
        if "kind" not in explanation:
            say_text("\n".join(lines_of(explanation)))
        else:
            say_text(as_text(explanation) if every_name else as_outline(explanation))
    width = shutil.get_terminal_size().columns
    for hit in result["hits"]:
        grade = "" if hit["grade"] is None else f" [{hit['grade']}]"
        place = f"{hit['rank']:>4}  {hit['score']:9.4f}  {hit['id']}{grade}"
        room = max(width - len(place) - len("   …"), _LEAST)
        text = one_line(hit["title"]) or cut(one_line(hit["abstract"]), room)
        print_rows([(place, text or "(no text)")])


@command(
    "platform index --collection demo",
    "platform index --collection demo --retriever sparse-encoder --export demo.ciff",
)
@with_options(
    collection_option,
    click.option("--threads", type=click.IntRange(1), help="Indexing threads; default: all cores."),
    workers_option(
        "Processes that read PubMed's files, or 'ray' for a Ray cluster's; default: one per core."
    ),
    group="What to index",
)
@with_options(
    click.option("--retriever", type=RETRIEVER, help="The retriever whose own index is exported."),
    setting_option("the retriever", "retrievers show"),
    option_of("config"),
    click.option(
        "--export",
        type=click.Path(path_type=Path),
        help="The file to write that index to: .jsonl, .jsonl.gz, .ciff or .ciff.gz.",
    ),
    group="To search it with another program",
)
@with_options(json_option, group=OUTPUT)
def index(
    collection: str,
    threads: int | None,
    workers: Count,
    retriever: str | None,
    settings: tuple[str, ...],
    config: Path | None,
    export: Path | None,
    as_json: bool,
) -> None:
    """Build a collection's Lucene index or describe it, or export a retriever's own index."""
    from irplatform import index as index_collection

    facts = index_collection(
        collection,
        threads=threads,
        workers=workers,
        retriever=retriever,
        settings=read_settings(settings, config, (retriever,) if retriever else ()),
        export=export,
    )
    if as_json:
        print_json(facts)
        return
    print_rows([(name.replace("_", " "), _value_text(value)) for name, value in facts.items()])


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


@command("platform explain --collection demo --reranker delta --topic 1 --doc 25121597")
@with_options(
    collection_option,
    click.option("--reranker", required=True, type=RERANKER, help="The reranker to explain."),
    click.option("--topic", required=True, help="The id of a topic of the collection."),
    list_option(
        "--doc",
        "documents",
        required=True,
        metavar="ID,…",
        help="Document ids. Quote an id that contains a comma.",
    ),
    click.option(
        "--member",
        type=click.IntRange(1),
        help="The trained model to explain; default: the one nearest to their mean.",
    ),
    group="What to explain",
)
@options_of("explain", headings={WHAT: "What to explain"})
@with_options(json_option, group=OUTPUT)
def explain(
    reranker: str,
    topic: str,
    documents: tuple[str, ...],
    member: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain why a reranker ranks documents of a topic where it does.

    The options for training are those of `run`; a model that a run has trained is taken from the
    cache.
    """
    from irplatform import explain as explain_documents

    settings = run_settings(options, rerankers=(reranker,))
    facts = explain_documents(settings, topic, documents, member=member)
    if as_json:
        print_json(facts)
        return
    for line in _lines(facts):
        say_text(line)


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    from irplatform.reports.explanation import lines_of

    room = terminal_width(sys.stdout)
    yield f"topic {facts['topic']['id']}: {one_line(facts['topic']['query'])}"
    training_note = f", trained on {facts['trained_on']}" if facts["trained_on"] else ""
    share = f"the first stage's share is {facts['interpolation']:.2f}"
    yield f"{facts['reranker']}{training_note}; {share}"
    if facts["members"] > 1:
        yield f"member {facts['explained_member']} of {facts['members']} is explained"
    for document in facts["documents"]:
        yield ""
        title = cut(one_line(document["title"]), _TITLE)
        yield f"document {document['id']}{f': {title}' if title else ''}"
        grade = "not judged" if document["grade"] is None else f"grade {document['grade']}"
        yield f"  {grade}; {_places(document, facts)}"
        for line in lines_of(document["explanation"], room and room - len("  ")):
            yield f"  {line}".rstrip()


def _places(document: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    first, second = document["first_stage"], document["reranker"]
    if second["rank"] is None:
        place = "not found" if first["rank"] is None else f"{first['rank']} (not reranked)"
        return f"first stage: {place}; {facts['reranker']} would give it {second['score']:.4f}"
    score = f"{second['among_candidates']:.4f}"
    if second["among_candidates"] != second["score"]:
        score += f"; {second['score']:.4f} by itself"
    return (
        f"first stage: {first['rank']} ({first['score']:.4f}); {facts['reranker']}: "
        f"{second['rank']} of {facts['candidates']} ({score}); "
        f"mixed: {document['final']['rank']}"
    )
