"""`platform fuse`: one run from several."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command
from irplatform.cli.names import list_option
from irplatform.cli.options import PATH, force_option
from irplatform.cli.output import json_option, print_json
from irplatform.errors import counted
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from pathlib import Path


@command("platform fuse first.run second.run --weights 2,1 --by scores --out fused.run")
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--out", required=True, type=PATH, help="The run to write.")
@click.option("--tag", default="fused", show_default=True, help="The run tag: its last column.")
@click.option(
    "--by",
    type=click.Choice(["ranks", "scores"]),
    default="ranks",
    show_default=True,
    help="Reciprocal ranks (Cormack, Clarke and Büttcher, SIGIR 2009), or the sum of standardized "
    "scores (Montague and Aslam, CIKM 2001).",
)
@click.option(
    "--k",
    type=float,
    default=None,
    help="The k of reciprocal ranks, 1 / (k + rank): the larger, the less first ranks stand out.  "
    "[default: 60]",
)
@list_option(
    "--weights",
    type=float,
    metavar="W,…",
    help="How much each run counts, in their order: 4,1; one of 0 is left out.  "
    "[default: all the same]",
)
@click.option("--depth", default=1000, show_default=True, help="Documents per topic.")
@force_option("a run at --out that was made with other settings")
@json_option
def fuse(
    runs: tuple[Path, ...], out: Path, weights: tuple[float, ...], as_json: bool, **options: Any
) -> None:
    """Fuse TREC runs, by their ranks or by their scores."""
    from irplatform.api import fuse_runs

    command_line = ("platform", *sys.argv[1:])
    facts = fuse_runs(runs, out, weights=weights or None, command=command_line, **options)
    if as_json:
        print_json(facts)
    else:
        say_text(f"{out}: {counted(facts['topics'], 'topic')} from {counted(facts['runs'], 'run')}")
