"""`platform search`: look at what a retriever finds."""

from __future__ import annotations

import click

from irplatform.cli.output import json_option, print_json
from irplatform.cli.run import read_settings


@click.command()
@click.option("--collection", required=True, help="A name, path or ir_datasets id.")
@click.option("--retriever", default="bm25", show_default=True, help="What searches.")
@click.option("--query", help="Words to search for.")
@click.option("--topic", help="The id of a topic of the collection, instead.")
@click.option("--depth", default=10, show_default=True, help="Documents to show.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the retriever, as `retrievers show` lists them.",
)
@json_option
def search(
    collection: str,
    retriever: str,
    query: str | None,
    topic: str | None,
    depth: int,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show what a retriever finds for a query or a topic, with judgments where there are some."""
    from irplatform.api import search as search_collection

    found = search_collection(
        collection,
        retriever=retriever,
        query=query,
        topic=topic,
        depth=depth,
        settings=read_settings(settings, None),
    )
    if as_json:
        print_json(found)
        return
    click.echo(f"{found['topic']}: {found['query']}")
    for hit in found["hits"]:
        grade = "" if hit["grade"] is None else f" [{hit['grade']}]"
        click.echo(f"{hit['rank']:>4}  {hit['score']:9.4f}  {hit['id']}{grade}  {hit['title']}")
