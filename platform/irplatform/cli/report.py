"""`platform report`: a comparison of runs as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.compare import comparison_options, group_by_option
from irplatform.cli.evaluate import judgment_options, name_option, topic_filter_of, topic_options
from irplatform.cli.options import MEASURES_OF_RUNS, PATH, force_option, measures_option
from irplatform.errors import InputError
from irplatform.system.console import say_text


@command(
    "platform report runs/demo",
    "platform report bm25.run ltr.run --collection 2017.toml --html ltr.html",
)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@with_options(
    *judgment_options,
    measures_option(MEASURES_OF_RUNS),
    group="Judgments and measures",
    example="--collection demo --measure nDCG@20,AP",
)
@comparison_options
@topic_options
@with_options(
    group_by_option,
    click.option(
        "--bounds/--no-bounds",
        default=None,
        help="Compute bounds for unjudged and tied documents, or leave them out, which is quicker.",
    ),
    click.option(
        "--depth",
        type=click.IntRange(1),
        help="Documents to show of each ranking; default: 100, fewer for many topics.",
    ),
    click.option(
        "--explain/--no-explain",
        default=True,
        help="Show rerankers' explanations of their first documents, or not, which is quicker.",
    ),
    group="What to show",
    example="--group-by disease --depth 50",
)
@with_options(
    click.option(
        "--html",
        type=PATH,
        help="The file to write; default: report.html, in the folder if one is given.",
    ),
    click.option("--plots", type=PATH, help="A folder for the plots, as SVG, PDF and PNG."),
    name_option,
    click.option("--title", default="", help="The title; default: the collection's, and systems."),
    force_option("a file of the same name that is no report"),
    group="Output",
    example="--html report.html --plots figures",
)
def report(
    runs: tuple[Path, ...],
    html: Path | None,
    among: str | None,
    relevant: str | None,
    **options: Any,
) -> None:
    """Write a comparison of runs to one HTML file, which works offline and can be mailed.

    RUNS are run files, or a folder of `platform run`. The file has tables and sentences, plots, two
    rankings side by side for any topic, how the runs were made, and BibTeX. Without --collection or
    --qrels, the collection is the one that the runs' metadata name.
    """
    from irplatform import write_report

    if options["all_pairs"] and options["baseline"]:
        raise InputError("--all-pairs and --baseline exclude each other: leave out one of them.")
    if html is None:
        folder = runs[0] if len(runs) == 1 and runs[0].is_dir() else Path()
        html = folder / "report.html"
    written = write_report(
        runs,
        html,
        topics=topic_filter_of(among, relevant),
        command=("platform", *sys.argv[1:]),
        **options,
    )
    say_text(f"{written} ({written.stat().st_size / 1e6:.1f} MB)")
