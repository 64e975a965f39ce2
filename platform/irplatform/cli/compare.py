"""`platform compare`: which system is better, where, by how much, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.analysis.settings import SHOWN, AnalysisSettings
from irplatform.cli.commands import command, with_options
from irplatform.cli.options import PATH, options_of
from irplatform.cli.output import json_option, print_json
from irplatform.errors import InputError
from irplatform.settings import OUTPUT
from irplatform.system.console import notice

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.reports.comparison import Form


@command(
    "platform compare runs/demo",
    "platform compare --qrels qrels.txt a.run b.run --test randomization --bounds",
)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@options_of("compare", settings=AnalysisSettings, without=("topics",))
@with_options(
    click.option("--every-measure", is_flag=True, help="Show differences by every measure."),
    click.option("--per-topic", is_flag=True, help="Also show the values of every topic."),
    group=SHOWN,
)
@with_options(
    click.option(
        "--table",
        "form",
        type=click.Choice(["text", "markdown", "latex", "csv"]),
        default="text",
        show_default=True,
        help="Format of the tables; csv writes one table, unrounded.",
    ),
    json_option,
    group=OUTPUT,
    example="--table latex",
)
def compare(
    runs: tuple[Path, ...],
    every_measure: bool,
    per_topic: bool,
    form: Form,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare run files: which is better, by how much, where, and how sure that is.

    A folder stands for the runs that `platform run` left there.

    The table has means, the share of judged documents, differences with 95 % intervals, and topics
    won, tied and lost by the first measure. Sentences say what the data support.
    """
    from irplatform import compare as compare_runs
    from irplatform.reports.comparison import Parts, print_comparison

    if as_json and form != "text":
        raise InputError(f"--table {form} and --json exclude each other: leave out one of them.")
    if form == "csv" and per_topic and options["group_by"]:
        raise InputError(
            "--table csv writes one table: leave out --per-topic or --group-by, and call twice."
        )
    comparison = compare_runs(runs, **options)
    for note in comparison.notes:
        notice(note)
    if as_json:
        print_json(comparison.as_json())
        return
    parts = Parts(every_measure=every_measure, bounds=bool(options["bounds"]), per_topic=per_topic)
    print_comparison(comparison, form, parts)
