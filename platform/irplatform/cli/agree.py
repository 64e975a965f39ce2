"""`platform agree`: compare how sources of judgments rank systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command
from irplatform.cli.options import PATH, flag_option, measures_option, number_option, seed_option
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
    help="A folder written by `platform run`; repeat the option for each source.",
)
@measures_option(
    "One measure for all sources, or one per --runs-dir in the same order; default: the "
    "first of each source."
)
@flag_option("--alone", text="Use the rerankers' own scores, without the first stage's.")
@number_option("--samples", default=10000, least=100, text="Bootstrap samples of the topics.")
@seed_option("Random seed of the samples.")
@json_option
def agree(folders: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Compare how several sources of judgments rank the same systems.

    Prints the scores and ranks of the systems that all sources share, and Kendall's tau-b for each
    pair of sources with its 95 % interval over topics.
    """
    from irplatform import agree_sources
    from irplatform.reports.agreement import as_json as facts
    from irplatform.reports.agreement import render

    agreement = agree_sources(folders, **options)
    if as_json:
        print_json(facts(agreement))
    else:
        say(render(agreement))
