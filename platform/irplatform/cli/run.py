"""`platform run`: from a collection to scored, reranked runs."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.options import PATH, options_of
from irplatform.cli.output import json_option, plan_option, print_json
from irplatform.cli.settings import run_settings
from irplatform.errors import InputError
from irplatform.experiment.settings import ShownSettings
from irplatform.settings import OUTPUT, WHAT, declared
from irplatform.system.console import notice, say

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.experiment.run_settings import RunSettings
    from irplatform.reports.matrix import MatrixReport


@command(
    "platform run --collection demo --reranker delta",
    "platform run --collection folder --first-stage bm25,bm25+rm3 --reranker delta",
    "platform run experiment.toml --topics first:10",
)
@options_of(
    "run",
    examples={
        WHAT: "--reranker delta,drmm --set delta.filters=64",
        OUTPUT: "--measure nDCG@20,AP --run-dir runs/first",
    },
)
@options_of("run", settings=ShownSettings)
@with_options(plan_option, json_option, group=OUTPUT)
@click.argument("experiment", required=False, type=PATH)
def run(
    experiment: Path | None,
    compare: bool,
    html: Path | None,
    only_plan: bool,
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

    file_settings, display = _read(experiment) if experiment else (None, {})
    compare = compare or display.get("compare", False)
    html = html or display.get("html")
    command = ("platform", *sys.argv[1:])
    settings = run_settings(options, command=command, experiment=file_settings)
    settings = replace(settings, experiment=experiment)
    if not settings.collection:
        missing = "names no collection" if experiment else "--collection COLLECTION,… is missing"
        raise InputError(f"{missing}. `platform run --help` explains it.", path=experiment)
    if compare:
        _check_several(settings, "--compare")
    if html is not None:
        _check_html(settings)
    if only_plan:
        from irplatform import plan

        forecast = plan(settings)
        print_json(forecast.as_json()) if as_json else forecast.print_table()
        return
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
        details = {"comparison": comparison.as_json()} if comparison else {}
        print_json({**report.as_json(), **details})
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
    _check_several(settings, "--html")


def _check_several(settings: RunSettings, flag: str) -> None:
    if not settings.rerankers and all(len(stage.retrievers) < 2 for stage in settings.stages):
        raise InputError(
            f"{flag} has no effect without --reranker NAME or a second retriever, as in "
            "--first-stage bm25+rm3: there is nothing to compare."
        )


def _read(experiment: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings in a file, and what it says of the output."""
    from irplatform import read_experiment
    from irplatform.experiment.experiment_file import read_file

    if experiment.suffix != ".toml":
        raise InputError("an experiment is a .toml file. Options have names.", path=experiment)
    settings, every = read_experiment(experiment), read_file(experiment)
    return settings, {key: every[key] for key in declared(ShownSettings) if key in every}


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
