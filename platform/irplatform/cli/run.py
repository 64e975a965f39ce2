"""`platform run`: from a collection to scored, reranked runs."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import COLLECTION, RERANKER, TOPICS, list_option
from irplatform.cli.options import (
    LEARNING,
    OUTPUT,
    PATH,
    WHAT,
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

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.experiment.settings import RunSettings
    from irplatform.reports.matrix import MatrixReport


@command(
    "platform run --collection demo --reranker delta",
    "platform run --collection folder --first-stage bm25,bm25+rm3 --reranker delta",
    "platform run experiment.toml --topics first:10",
)
@with_options(
    list_option(
        "--collection",
        type=COLLECTION,
        help="A name, a path or an ir_datasets id. Several stand in one table.",
    ),
    list_option(
        "--topics",
        type=TOPICS,
        metavar="ID,…|first:N",
        help="Some topics, for a quick look. Such runs are marked, and have their own folder.",
    ),
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
        "--html",
        type=PATH,
        help="Also write the comparison to one HTML file, as `platform report` does.",
    ),
    click.option(
        "--run-dir",
        type=PATH,
        help="Folder for the run files; default: runs/COLLECTION, for several collections or first "
        "stages runs/matrix.",
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
@click.argument("experiment", required=False, type=PATH)
def run(
    experiment: Path | None,
    rerankers: tuple[str, ...],
    compare: bool,
    effects: bool,
    html: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Search a collection, rerank the results and score them.

    Builds what is missing (index, word vectors, trained models) and prints a table of scores.
    Without --reranker it stops after the first stage. EXPERIMENT is a TOML file of such options;
    those of the command line take precedence.
    """
    from irplatform import run as run_collection
    from irplatform.reports.comparison import Parts, print_comparison
    from irplatform.reports.matrix import MatrixReport

    own, shown = _read(experiment) if experiment else (None, {})
    compare = compare or effects or shown.get("compare", False)
    html = html or shown.get("html")
    command = ("platform", *sys.argv[1:])
    settings = run_settings(options, rerankers=rerankers, command=command, experiment=own)
    settings = replace(settings, experiment=experiment)
    if not settings.collection:
        missing = "names no collection" if experiment else "--collection COLLECTION,… is missing"
        raise InputError(f"{missing}. `platform run --help` explains it.", path=experiment)
    several = settings.rerankers or any(len(each.retrievers) > 1 for each in settings.stages)
    if compare and not several:
        raise InputError(
            "--compare has no effect without --reranker NAME or a second retriever, as in "
            "--first-stage bm25+rm3: there is nothing to compare."
        )
    if html is not None:
        _check_html(settings)
    report = run_collection(settings)
    if isinstance(report, MatrixReport):
        show_matrix(report, compare=compare, as_json=as_json)
        return
    comparison = report.compare(alone=True) if compare and report.comparing else None
    if html is not None and report.scored:
        from irplatform import write_report

        paths = [system.path for system in report.systems]
        write_report(
            paths,
            html,
            collection=settings.collection,
            measures=settings.measures,
            names=[system.name for system in report.systems],
            baseline=report.baseline,
            command=command,
        )
        notice(f"report: {html}")
    if as_json:
        whole = {"comparison": comparison.as_json()} if comparison else {}
        print_json({**report.as_json(), **whole})
    else:
        report.print_table()
        if comparison:
            say()
            print_comparison(comparison, parts=Parts(means=False))
            say()
        folder = report.systems[0].path.parent
        if report.scored:
            notice(f"runs and scores: {folder}")
        else:
            checked = [str(report.systems[-1].path), "--collection", settings.collection]
            notice(f"runs: {folder}; to check one:\n  platform submit check {shlex.join(checked)}")


def _check_html(settings: RunSettings) -> None:
    """Refuse --html where it cannot be written, before hours of work."""
    from irplatform.reports.html.page import PAGES
    from irplatform.system.packages import require

    require("--html", *PAGES)
    if settings.is_matrix or settings.topics:
        raise InputError(
            "--html is for one collection, one first stage and all topics; `platform report` takes "
            "any runs."
        )
    if not settings.rerankers and len(settings.retrievers) < 2:
        raise InputError(
            "--html has no effect without --reranker NAME or a second retriever, as in "
            "--first-stage bm25+rm3: there is nothing to compare."
        )


def _read(experiment: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings in a file, and what it says of the output."""
    from irplatform import read_experiment
    from irplatform.experiment.experiment_file import SHOWN, read_file

    if experiment.suffix != ".toml":
        raise InputError("an experiment is a .toml file. Options have names.", path=experiment)
    settings, every = read_experiment(experiment), read_file(experiment)
    return settings, {key: every[key] for key in SHOWN if key in every}


def show_matrix(report: MatrixReport, *, compare: bool, as_json: bool) -> None:
    """Print the tables of a matrix, and a comparison for each cell if asked for."""
    from irplatform.reports.comparison import Parts, print_comparison

    comparisons = [
        cell.report.compare(alone=True) if compare and cell.report.comparing else None
        for cell in report.cells
    ]
    if as_json:
        content = report.as_json()
        for number, comparison in enumerate(comparisons):
            if comparison:
                content["cells"][number]["comparison"] = comparison.as_json()
        print_json(content)
        return
    report.print_table()
    for cell, comparison in zip(report.cells, comparisons, strict=True):
        if comparison:
            say(f"\n{cell.collection}, {cell.first_stage}")
            print_comparison(comparison, parts=Parts(means=False))
    if any(comparisons):
        say()
    notice(f"runs and scores: {report.folder}")
