"""`platform search`: look at what a retriever finds."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import RETRIEVER
from irplatform.cli.options import (
    OUTPUT,
    collection_option,
    config_option,
    expansion_options,
    setting_option,
)
from irplatform.cli.output import cut, json_option, one_line, print_json, print_rows
from irplatform.cli.settings import read_settings
from irplatform.errors import InputError
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from pathlib import Path


_LEAST = 30
"""Characters of a text that are shown, however narrow the terminal is."""


@command(
    "platform search --collection demo --query 'lung cancer'",
    "platform search --collection demo --topic 1 --expand mesh --explain",
)
@with_options(
    collection_option,
    click.option("--query", help="Words to search for."),
    click.option("--topic", help="The id of a topic to search for, instead of --query."),
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
    config_option,
    expansion_options,
    group="How to search",
    example="--retriever rm3 --set fb_docs=5",
)
@with_options(
    click.option("--depth", default=10, show_default=True, help="Documents to show."),
    click.option("--explain", is_flag=True, help="Also show the query that was built."),
    click.option(
        "--every-name",
        is_flag=True,
        help="With --explain: show all names in an expanded query with their sources, not just "
        "the first few.",
    ),
    json_option,
    group=OUTPUT,
)
def search(
    collection: str,
    retriever: str,
    query: str | None,
    topic: str | None,
    depth: int,
    settings: tuple[str, ...],
    config: Path | None,
    expand: tuple[str, ...],
    query_plan: Path | None,
    explain: bool,
    every_name: bool,
    as_json: bool,
) -> None:
    """Show what a retriever finds for a query or a topic, with judgments if there are any."""
    from irplatform.api import search as search_collection

    if every_name and not explain:
        raise InputError("--every-name has no effect without --explain.")
    result = search_collection(
        collection,
        retriever=retriever,
        query=query,
        topic=topic,
        depth=depth,
        settings=read_settings(settings, config, (retriever,)),
        expand=expand,
        query_plan=query_plan,
        explain=explain,
    )
    if not result["hits"]:
        notice(f"{collection}: {retriever} finds nothing")
    if as_json:
        print_json(result)
        return
    say_text(f"{result['topic']}: {one_line(result['query'])}")
    if explain:
        from irplatform.expansion import as_outline, as_text
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


# `platform index`: build a collection's Lucene index ahead of its first run.


@command("platform index --collection demo")
@collection_option
@click.option("--threads", type=click.IntRange(1), help="Indexing threads; default: all cores.")
@json_option
def index(collection: str, threads: int | None, as_json: bool) -> None:
    """Build a collection's Lucene index, or describe the existing one."""
    from irplatform.api import index as index_collection

    facts = index_collection(collection, threads=threads)
    if as_json:
        print_json(facts)
        return
    print_rows([(name.replace("_", " "), _shown(value)) for name, value in facts.items()])


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
