"""`platform index`: build a collection's Lucene index ahead of its first run."""

from __future__ import annotations

import click

from irplatform.cli.options import collection_option
from irplatform.cli.output import json_option, print_json


@click.command()
@collection_option
@click.option("--threads", type=click.IntRange(1), help="Default: all cores.")
@json_option
def index(collection: str, threads: int | None, as_json: bool) -> None:
    """Build a collection's Lucene index, or say what is in the one that is there."""
    from irplatform.api import index as index_collection

    facts = index_collection(collection, threads=threads)
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        number = isinstance(value, int) and not isinstance(value, bool)
        click.echo(f"{name}: {value:,}" if number else f"{name}: {value}")
