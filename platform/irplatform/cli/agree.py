"""`platform agree`: compare how sources of judgments rank systems, and how well judges agree."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import command, with_options
from irplatform.cli.names import list_option
from irplatform.cli.options import PATH, flag_option, measures_option, number_option, seed_option
from irplatform.cli.output import json_option, print_json
from irplatform.cli.qrels_write import by_option
from irplatform.errors import InputError
from irplatform.system.console import notice, say, terminal_width

if TYPE_CHECKING:
    from pathlib import Path

_SOURCES, _JUDGES, _BOTH = "Sources of judgments", "Judges", "Measure, samples and output"
_OF_SOURCES = ("folders", "alone")
_OF_JUDGES = ("runs", "judge", "against", "by", "fitted_on", "width")


@command(
    "platform agree --runs-dir runs/judged --runs-dir runs/clicks",
    "platform agree pool --runs runs/demo --judge llm",
    "platform agree ann.jsonl bob.jsonl",
)
@click.argument("judged", nargs=-1, type=PATH)
@with_options(
    click.option(
        "--runs-dir",
        "folders",
        multiple=True,
        type=PATH,
        help="A folder written by `platform run`; repeat the option for each source.",
    ),
    flag_option("--alone", text="Use the rerankers' own scores, without the first stage's."),
    group=_SOURCES,
)
@with_options(
    click.option(
        "--runs",
        multiple=True,
        type=PATH,
        help="A run, or a folder of `platform run`, whose order both judges give; repeat for "
        "several.",
    ),
    click.option(
        "--judge",
        metavar="WHO",
        help="The source to measure; default: the only machine, or the second of two people.",
    ),
    click.option(
        "--against",
        metavar="WHO",
        help="The sources to measure it by: people, machines, or names; default: people.",
    ),
    by_option,
    list_option(
        "--fitted-on",
        metavar="TOPIC,…",
        help="Topics that the judge was fitted on, which are left out, as are those that its "
        "version names.",
    ),
    click.option(
        "--width",
        type=click.FloatRange(0, min_open=True),
        help="Say how many more judgments would make the interval of linear kappa this wide; "
        "default: half as wide as it is.",
    ),
    group=_JUDGES,
    example="--runs a.run --runs b.run --runs c.run",
)
@with_options(
    measures_option(
        "One measure for all sources, or one per --runs-dir in the same order; default: the "
        "first of each source. Of judges: one, nDCG@20 by default."
    ),
    number_option("--samples", default=10000, least=100, text="Bootstrap samples of the topics."),
    seed_option("Random seed of the samples."),
    json_option,
    group=_BOTH,
)
def agree(judged: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Compare sources of judgments by systems, and judges by grades.

    With --runs-dir, prints the scores and ranks of the systems that all sources share, and
    Kendall's tau-b for each pair of sources with its 95 % interval over topics.

    With JUDGED, pools or files of judgments, measures a machine against people, or a person against
    another: kappa and alpha, grades by grades, the order of systems and each one's error, and the
    documents to adjudicate first.
    """
    for name in _OF_SOURCES if judged else _OF_JUDGES:
        if options[name]:
            option = {"folders": "runs-dir"}.get(name, name).replace("_", "-")
            needs = "compares sources by their runs" if judged else "needs judgments to compare"
            raise InputError(f"--{option} {needs}: see `platform agree --help`.")
    if judged:
        _agree_judges(judged, options, as_json=as_json)
        return
    if not options["folders"]:
        raise InputError("name sources with --runs-dir, or pools or files of judgments.")
    from irplatform import agree_sources
    from irplatform.reports.agreement import as_json as facts
    from irplatform.reports.agreement import render

    arguments = {name: options[name] for name in ("measures", "alone", "samples", "seed")}
    agreement = agree_sources(options["folders"], **arguments)
    if as_json:
        print_json(facts(agreement))
    else:
        say(render(agreement))


def _agree_judges(judged: tuple[Path, ...], options: dict[str, Any], *, as_json: bool) -> None:
    from irplatform import agree_judges
    from irplatform.judging.agreement.tables import render

    if len(options["measures"]) > 1:
        raise InputError("name one measure for the order of systems.")
    arguments = {name: options[name] for name in (*_OF_JUDGES, "samples", "seed")}
    agreed = agree_judges(judged, measure=next(iter(options["measures"]), ""), **arguments)
    for note in agreed.notes:
        notice(note)
    if as_json:
        print_json(asdict(agreed))
    else:
        say(render(agreed, terminal_width(sys.stdout)))
