"""`platform fuse`: one run made of several."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from irplatform.analysis.fuse_settings import METHOD, FuseSettings
from irplatform.cli.commands import command, with_options
from irplatform.cli.options import PATH, options_of
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import counted
from irplatform.settings import LEARNING, OUTPUT
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from pathlib import Path


@command(
    "platform fuse first.run second.run --weights 2,1 --by combsum --out fused.run",
    "platform fuse a.run b.run --out c.run --train-on past.toml --train-runs c,d",
)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@with_options(
    click.option("--out", required=True, type=PATH, help="The run file to write."),
    group=OUTPUT,
    example="--out fused.run --tag mygroup1",
)
@options_of(
    "fuse",
    settings=FuseSettings,
    examples={
        METHOD: "--by combsum --norm min-max --weights 2,1",
        LEARNING: "--train-on qrels.txt",
    },
)
@with_options(json_option, group=OUTPUT)
def fuse(runs: tuple[Path, ...], out: Path, as_json: bool, **options: Any) -> None:
    """Fuse TREC runs.

    By ranks or scores, with weights of yours, or as training topics choose.
    """
    from irplatform import fuse_runs

    command_line = ("platform", *sys.argv[1:])
    options["weights"] = options["weights"] or None
    facts = fuse_runs(runs, out, command=command_line, **options)
    if as_json:
        print_json(facts)
        return
    say_text(f"{out}: {counted(facts['topics'], 'topic')} from {counted(facts['runs'], 'run')}")
    if "learned" in facts:
        _print_lesson(facts, runs)


def _print_lesson(facts: dict[str, Any], runs: tuple[Path, ...]) -> None:
    method, learned = facts["method"], facts["learned"]
    words = f"--by {method['by']}"
    words += f" --norm {method['norm']}" if "norm" in method else ""
    words += f" --k {method['k']:g}" if "k" in method else ""
    words += f" --weights {','.join(f'{weight:g}' for weight in method['weights'])}"
    inputs = [run for run, weight in zip(runs, method["weights"], strict=True) if weight]
    if len(inputs) == 1:
        words = f"{inputs[0]} alone; no fusion is clearly better"
    say_text(f"Chosen on {counted(learned['topics'], 'topic')}: {words}")
    held_out, measure = learned["held_out"], learned["measure"]
    say_text(f"Held out, in {learned['folds']} folds:")
    best = held_out["over_best_run"]
    rows = [
        ("chosen method", held_out["chosen"], None),
        ("equal reciprocal ranks", held_out["plain"], held_out["over_equal_ranks"]),
        (f"{PurePath(best['run']).name} alone", held_out["alone"], best),
    ]
    cells = [("", measure, "gain", "95 % interval")]
    for name, value, gain in rows:
        interval = gain and gain["interval_95"]
        cells.append(
            (
                name,
                f"{value:.4f}",
                f"{gain['difference']:+.4f}" if gain else "",
                f"{interval[0]:+.4f} to {interval[1]:+.4f}" if interval else "",
            )
        )
    print_rows(cells)
