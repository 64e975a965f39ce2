"""`platform fuse`: fuse several runs into one."""

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
@click.option("--out", required=True, type=PATH, help="The run file to write.")
@click.option(
    "--tag", default="fused", show_default=True, help="The run tag, the last column of the file."
)
@click.option(
    "--by",
    type=click.Choice(["ranks", "scores"]),
    default="ranks",
    show_default=True,
    help="Sum reciprocal ranks (Cormack, Clarke and Büttcher, SIGIR 2009) or standardized "
    "scores (Montague and Aslam, CIKM 2001).",
)
@click.option(
    "--k",
    type=float,
    default=None,
    help="The k of reciprocal ranks, 1 / (k + rank). A larger k gives top ranks less weight.  "
    "[default: 60]",
)
@list_option(
    "--weights",
    type=float,
    metavar="W,…",
    help="The weight of each run in the order given, such as 4,1. Runs with weight 0 are left "
    "out.  [default: equal weights]",
)
@click.option("--depth", default=1000, show_default=True, help="Documents per topic.")
@force_option("a run at --out that was made with other settings")
@json_option
def fuse(
    runs: tuple[Path, ...], out: Path, weights: tuple[float, ...], as_json: bool, **options: Any
) -> None:
    """Fuse TREC runs by rank or by score."""
    from irplatform.api import fuse_runs

    command_line = ("platform", *sys.argv[1:])
    facts = fuse_runs(runs, out, weights=weights or None, command=command_line, **options)
    if as_json:
        print_json(facts)
    else:
        say_text(f"{out}: {counted(facts['topics'], 'topic')} from {counted(facts['runs'], 'run')}")
