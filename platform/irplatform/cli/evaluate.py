"""`platform evaluate`: score run files against judgments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from irplatform.analysis.settings import AnalysisSettings
from irplatform.cli.commands import command, with_options
from irplatform.cli.options import PATH, options_of
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import InputError
from irplatform.experiment.settings import DeclaredSettings
from irplatform.settings import declared
from irplatform.system.console import notice, say, say_text, terminal_width

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from irplatform.evaluation.scoring import Evaluation
    from irplatform.reports.evaluations import Evaluations


@command(
    "platform evaluate runs/demo",
    "platform evaluate --qrels qrels.txt my.run --measure nDCG@20,AP",
)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@options_of(
    "evaluate",
    settings=AnalysisSettings,
    without=("topics",),
    helps={"measures": declared(DeclaredSettings)["measures"].help},
)
@with_options(
    click.option("--per-topic", is_flag=True, help="Also print the values of every topic."),
    click.option(
        "--table",
        "form",
        type=click.Choice(["text", "markdown", "latex"]),
        default="text",
        show_default=True,
        help="Format of the table; latex writes a tabular.",
    ),
    json_option,
    group="Output",
    example="--table latex",
)
def evaluate(
    runs: tuple[Path, ...],
    per_topic: bool,
    form: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Score TREC run files against a collection's judgments or a qrels file.

    A folder stands for the runs that `platform run` left there. `platform compare` says which of
    several runs is better.
    """
    from irplatform import evaluate as evaluate_runs
    from irplatform.evaluation.topics import cut_short, notices

    if form != "text" and (as_json or per_topic):
        other = "--json" if as_json else "--per-topic"
        raise InputError(f"--table {form} and {other} exclude each other: leave out one of them.")
    evaluations = evaluate_runs(runs, **options)
    if options["among"] or options["relevant"]:
        number = len(next(iter(next(iter(evaluations.values())).per_topic.values()), ()))
        notice("1 topic counts" if number == 1 else f"{number:,} topics count")
    for message in notices(evaluations):
        notice(message)
    notes = cut_short(evaluations)
    if as_json or form != "text":
        for note in notes:
            notice(note)
    if as_json:
        entries = [
            _entry(str(evaluations.paths[n]), n, e, per_topic) for n, e in evaluations.items()
        ]
        print_json({"runs": entries})
        return
    if per_topic:
        _print_topics(evaluations)
    _print_means(form, evaluations)
    if form == "text":
        for note in notes:
            say_text(note)


def _print_means(form: str, evaluations: Evaluations) -> None:
    from irplatform.reports.columns import as_latex, as_markdown, as_text, print_text

    table = evaluations.table()
    if form == "text":
        print_text(as_text(table, terminal_width(sys.stdout)))
    elif form == "latex":
        say(as_latex(table))
    else:
        encoding = sys.stdout.encoding or "ascii"  # Markdown has names for what it lacks
        say(as_markdown(table).encode(encoding, "xmlcharrefreplace").decode(encoding))


def _print_topics(evaluations: Mapping[str, Evaluation]) -> None:
    from irplatform.reports.table import figure

    for name, evaluation in evaluations.items():
        for measure, values in evaluation.per_topic.items():
            print_rows([(name, measure, topic, figure(measure, v)) for topic, v in values.items()])


def _entry(path: str, name: str, evaluation: Evaluation, per_topic: bool) -> dict[str, object]:
    measures = dict(evaluation.aggregate)
    entry: dict[str, object] = {"path": path, "name": name, "measures": measures}
    if evaluation.missing:
        entry["missing"] = list(evaluation.missing)
    if per_topic:
        entry["per_topic"] = {m: dict(v) for m, v in evaluation.per_topic.items()}
    return entry
