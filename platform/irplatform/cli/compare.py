"""`platform compare`: which system is better, where, by how much, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.evaluate import judgment_options, name_option, topic_filter_of, topic_options
from irplatform.cli.options import MEASURES_OF_RUNS, PATH, measures_option
from irplatform.cli.output import json_option, print_json
from irplatform.errors import InputError
from irplatform.system.console import notice

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.reports.comparison import Form


group_by_option = click.option(
    "--group-by",
    metavar="FIELD",
    help="Also compare groups of topics by a field, such as disease, or by query-length.",
)

comparison_options = with_options(
    click.option("--baseline", metavar="NAME", help="The run to compare with; default: the first."),
    click.option("--all-pairs", is_flag=True, help="Compare every two runs."),
    click.option(
        "--test",
        type=click.Choice(["t-test", "randomization", "wilcoxon", "bootstrap"]),
        default="t-test",
        show_default=True,
        help="The paired test over topics.",
    ),
    click.option(
        "--correction",
        type=click.Choice(["holm", "bonferroni", "benjamini-hochberg", "none"]),
        default="holm",
        show_default=True,
        help="The correction for the number of pairs, measure by measure.",
    ),
    click.option(
        "--seed",
        default=0,
        show_default=True,
        type=click.IntRange(0, 2**32 - 1),
        help="Seed of randomization, bootstrap and rank intervals.",
    ),
    click.option(
        "--different-documents",
        is_flag=True,
        help="Compare runs whose metadata record different documents, too.",
    ),
    group="Comparison",
    example="--baseline bm25 --test randomization",
)


@command(
    "platform compare runs/demo",
    "platform compare --qrels qrels.txt a.run b.run --test randomization --bounds",
)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@with_options(*judgment_options, measures_option(MEASURES_OF_RUNS), group="Judgments and measures")
@comparison_options
@topic_options
@with_options(
    group_by_option,
    click.option("--every-measure", is_flag=True, help="Show differences by every measure."),
    click.option(
        "--bounds/--no-bounds",
        default=None,
        help="Show condensed lists, and bounds for unjudged and tied documents; or leave them out, "
        "which is quicker. By default sentences use them, for up to two million results.",
    ),
    click.option("--per-topic", is_flag=True, help="Also show the values of every topic."),
    group="What to show",
    example="--group-by disease --bounds",
)
@with_options(
    name_option,
    click.option(
        "--table",
        "form",
        type=click.Choice(["text", "markdown", "latex", "csv"]),
        default="text",
        show_default=True,
        help="Format of the tables; csv writes one table, unrounded.",
    ),
    json_option,
    group="Output",
    example="--table latex",
)
def compare(
    runs: tuple[Path, ...],
    among: str | None,
    relevant: str | None,
    every_measure: bool,
    bounds: bool | None,
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
    if options["all_pairs"] and options["baseline"]:
        raise InputError("--all-pairs and --baseline exclude each other: leave out one of them.")
    if form == "csv" and per_topic and options["group_by"]:
        raise InputError(
            "--table csv writes one table: leave out --per-topic or --group-by, and call twice."
        )
    comparison = compare_runs(
        runs, bounds=bounds, topics=topic_filter_of(among, relevant), **options
    )
    for note in comparison.notes:
        notice(note)
    if as_json:
        print_json(comparison.as_json())
        return
    parts = Parts(every_measure=every_measure, bounds=bool(bounds), per_topic=per_topic)
    print_comparison(comparison, form, parts)
