"""`platform index`: build a collection's Lucene index ahead of its first run."""

from __future__ import annotations

import click

from irplatform.cli.commands import command
from irplatform.cli.options import collection_option
from irplatform.cli.output import json_option, print_json, print_rows


@command("platform index --collection demo")
@collection_option
@click.option("--threads", type=click.IntRange(1), help="Threads that index; default: all cores.")
@json_option
def index(collection: str, threads: int | None, as_json: bool) -> None:
    """Build a collection's Lucene index, or say what is in the one that is there."""
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
