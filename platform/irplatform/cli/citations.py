"""`platform qrels from-citations`: judgments made of the sentences that cite articles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import Command, with_options
from irplatform.cli.names import COLLECTION
from irplatform.cli.options import seed_option
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.cli.paths import PATH
from irplatform.console import say_text

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "from-citations",
    cls=Command,
    examples=["platform qrels from-citations articles/ --collection my-folder --out citations"],
)
@click.argument("files", nargs=-1, required=True, type=PATH)
@with_options(
    click.option("--out", required=True, type=PATH, help="The folder to make."),
    click.option(
        "--split",
        default="80/10/10",
        show_default=True,
        help="Percent of the citing articles for train, dev and test.",
    ),
    seed_option(),
    json_option,
    group="Input and output",
    example="--split 60/20/20",
)
@with_options(
    click.option(
        "--collection", type=COLLECTION, help="Whose documents can be cited: name, path or id."
    ),
    click.option(
        "--ids",
        type=PATH,
        help="A table with columns PMID, PMCID, DOI, such as PubMed Central's PMC-ids.csv.gz.",
    ),
    click.option("--titles", is_flag=True, help="Find cited articles by their titles, too."),
    click.option(
        "--min-cited-words",
        default=50,
        type=click.IntRange(min=0),
        show_default=True,
        help="Leave out cited articles with fewer words of title and abstract.",
    ),
    group="Which articles are cited",
    example="--collection my-folder --titles",
)
@with_options(
    click.option(
        "--min-words",
        default=5,
        type=click.IntRange(min=0),
        show_default=True,
        help="Leave out shorter sentences (no stop words).",
    ),
    click.option(
        "--max-words",
        default=50,
        type=click.IntRange(min=0),
        show_default=True,
        help="Leave out longer sentences (no stop words).",
    ),
    group="Which sentences count",
    example="--min-words 3",
)
@with_options(
    click.option(
        "--skip-unreadable",
        is_flag=True,
        help="Leave out files that cannot be read, and count them.",
    ),
    click.option("--workers", type=click.IntRange(1), help="Processes; default: one per core."),
    group="Machine",
)
def from_citations(
    files: tuple[Path, ...],
    out: Path,
    collection: str | None,
    ids: Path | None,
    titles: bool,
    min_words: int,
    max_words: int,
    min_cited_words: int,
    split: str,
    seed: int,
    skip_unreadable: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Make judgments of the citing sentences of articles in JATS XML.

    FILES are .xml and .nxml (also .gz), folders of them, and .tar or .tar.gz archives as PubMed
    Central distributes them.
    """
    from irplatform.judgments.citations.build import from_citations as make
    from irplatform.judgments.citations.settings import CitationSettings
    from irplatform.judgments.splits import Shares

    settings = CitationSettings(
        min_words, max_words, min_cited_words, titles, skip_unreadable, Shares.parse(split), seed
    )
    report = make(files, out, settings, collection=collection, ids=ids, workers=workers)
    if as_json:
        print_json(report.as_json())
        return
    for table in report.tables():
        print_rows(table)
        say_text()
    for note in report.notes:
        say_text(f"Note: {note}.")
    say_text(f"{out}")
