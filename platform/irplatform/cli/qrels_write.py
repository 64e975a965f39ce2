"""`platform qrels write`: judgments of pools and files as qrels, by the sources that count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Command, with_options
from irplatform.cli.names import COLLECTION
from irplatform.cli.options import PATH, choice_option
from irplatform.settings import OUTPUT
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from pathlib import Path

by_option = click.option(
    "--by",
    metavar="KIND:NAME",
    help="Whose judgments those are that name no source, such as TREC's: person:NAME, machine:NAME "
    "or machine:NAME:VERSION.",
)


@click.command(
    "write",
    cls=Command,
    examples=[
        "platform qrels write pool -o qrels.txt",
        "platform qrels write pool llm.jsonl -o qrels.txt --sources people-first",
        "platform qrels write nist.txt -o nist.jsonl --form json --by person:nist",
    ],
)
@click.argument("judged", nargs=-1, required=True, type=PATH)
@with_options(
    click.option("--out", "-o", required=True, type=PATH, help="The file to write."),
    click.option(
        "--sources",
        metavar="WHO",
        help="Whose judgments count: people, people-first (machines' where no person judged), "
        "machines, or names of sources, the first one first. [default: people]",
    ),
    choice_option(
        "--form",
        choices=["trec", "json", "doccano"],
        text="trec: four columns, of a sample of strata five; json: every judgment with its "
        "source; doccano: examples to import there.",
    ),
    click.option(
        "--collection", type=COLLECTION, help="The collection of the texts, for --form doccano."
    ),
    by_option,
    group=OUTPUT,
)
def write(judged: tuple[Path, ...], out: Path, **options: Any) -> None:
    """Write qrels from judgments with their sources.

    JUDGED are pools, and files of judgments: JSON lines with sources or of doccano, and TREC's,
    BEIR's and other qrels.
    """
    from irplatform import write_qrels

    write_qrels(judged, out, **options)
    say_text(f"{out}")
