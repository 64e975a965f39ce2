"""`platform agree`: do different sources of judgments prefer the same systems?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command
from irplatform.cli.options import PATH, measures_option, seed_option
from irplatform.cli.output import json_option, print_json
from irplatform.system.console import say

if TYPE_CHECKING:
    from pathlib import Path


@command("platform agree --runs-dir runs/judged --runs-dir runs/clicks")
@click.option(
    "--runs-dir",
    "folders",
    multiple=True,
    required=True,
    type=PATH,
    help="A folder that `platform run` left; repeat it for each source.",
)
@measures_option(
    "One for all sources, or one for each --runs-dir in their order; default: each source's first."
)
@click.option(
    "--alone", is_flag=True, help="Take rerankers' own scores, without the first stage's share."
)
@click.option(
    "--samples",
    default=10_000,
    show_default=True,
    type=click.IntRange(100),
    help="Draws of topics for the intervals.",
)
@seed_option("Random seed of the draws.")
@json_option
def agree(folders: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Compare the orders that several sources give the same systems.

    Prints the scores of the systems that all sources have, with their ranks, and Kendall's tau-b of
    each pair of sources with its 95 % interval over topics.
    """
    from irplatform.api import agree_sources
    from irplatform.reports.agreement import as_json as facts
    from irplatform.reports.agreement import render

    agreement = agree_sources(folders, **options)
    if as_json:
        print_json(facts(agreement))
    else:
        say(render(agreement))
