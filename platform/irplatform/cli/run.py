"""`platform run`: from a collection to scored, reranked runs."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import RERANKER, list_option
from irplatform.cli.options import (
    LEARNING,
    OUTPUT,
    PATH,
    WHAT,
    collection_option,
    force_option,
    machine_options,
    measures_option,
    preset_option,
    ranking_options,
    system_settings,
)
from irplatform.cli.output import json_option, print_json
from irplatform.cli.settings import run_settings
from irplatform.errors import InputError
from irplatform.system.console import notice, say


@command(
    "platform run --collection demo --reranker delta",
    "platform run --collection my-folder --retriever bm25,rm3 --reranker delta,drmm",
)
@with_options(
    collection_option,
    list_option(
        "--reranker",
        "rerankers",
        type=RERANKER,
        help="Rerankers to apply; several are compared. LABEL=NAME gives one a label, so that it "
        "can come twice (--set LABEL.option=…). Without any, the first stage is the result.",
    ),
    system_settings,
    preset_option,
    group=WHAT,
    example="--reranker delta,drmm --set delta.filters=64",
)
@ranking_options
@with_options(
    click.option(
        "--seeds",
        default=1,
        show_default=True,
        type=click.IntRange(1),
        help="Number of training runs with different seeds; report mean and spread.",
    ),
    group=LEARNING,
)
@with_options(
    measures_option(),
    click.option(
        "--compare",
        is_flag=True,
        help="Also compare with the first stage (without rerankers: with the first retriever), as "
        "`platform compare` does.",
    ),
    click.option("--effects", is_flag=True, hidden=True, help="An older name of --compare."),
    click.option(
        "--run-dir", type=PATH, help="Folder for the run files; default: runs/COLLECTION."
    ),
    click.option(
        "--tag", help="Run tag, the last column of run files; default: the system's name."
    ),
    click.option("--resume/--no-resume", default=True, help="Resume an interrupted run (default)."),
    force_option("existing runs of the same name that were made with other settings or code"),
    json_option,
    group=OUTPUT,
    example="--measure nDCG@20,AP --run-dir runs/first",
)
@machine_options
def run(
    rerankers: tuple[str, ...], compare: bool, effects: bool, as_json: bool, **options: Any
) -> None:
    """Search a collection, rerank the results and score them.

    Builds what is missing (index, word vectors, trained models) and prints a table of scores.
    Without --reranker it stops after the first stage.
    """
    from irplatform.api import run as run_collection
    from irplatform.reports.comparison import Parts, print_comparison

    compare = compare or effects
    if compare and not rerankers and len(options["retrievers"]) < 2:
        raise InputError(
            "--compare has no effect without --reranker NAME or a second --retriever NAME: there "
            "is nothing to compare."
        )
    command = ("platform", *sys.argv[1:])
    report = run_collection(run_settings(options, rerankers=rerankers, command=command))
    comparison = report.compare() if compare and report.compare else None
    if as_json:
        whole = {"comparison": comparison.as_json()} if comparison else {}
        print_json({**report.as_json(), **whole})
    else:
        report.print_table()
        if comparison:
            say()
            print_comparison(comparison, parts=Parts(means=False))
        folder = report.systems[0].path.parent
        if report.scored:
            notice(f"runs and scores: {folder}")
        else:
            checked = [str(report.systems[-1].path), "--collection", options["collection"]]
            notice(f"runs: {folder}; to check one:\n  platform submit check {shlex.join(checked)}")
