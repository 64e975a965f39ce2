"""`platform submit`: what shared-task participants do with a finished run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import Group
from irplatform.cli.names import COLLECTION
from irplatform.cli.options import force_option
from irplatform.cli.output import json_option, print_json
from irplatform.cli.paths import PATH
from irplatform.errors import counted

if TYPE_CHECKING:
    from pathlib import Path

_SHOWN = 25
"""Problems of a run that are printed, errors first; TREC's scripts give up after as many."""


@click.group(cls=Group)
def submit() -> None:
    """Check TREC run files before they are submitted, or write what else is submitted."""


@submit.command("check", examples=["platform submit check my.run --collection demo --documents"])
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--collection", type=COLLECTION, help="Whose topics the runs must answer.")
@click.option(
    "--documents",
    is_flag=True,
    help="Look up every document in the collection's index too, which is built if it is not there.",
)
@click.option(
    "--max-per-topic",
    default=1000,
    show_default=True,
    type=click.IntRange(1),
    help="Results that the task accepts per topic.",
)
@click.option(
    "--tag-length",
    default=20,
    show_default=True,
    type=click.IntRange(1),
    help="Characters that the task accepts in a run tag.",
)
@json_option
@click.pass_context
def check(
    context: click.Context,
    runs: tuple[Path, ...],
    collection: str | None,
    documents: bool,
    max_per_topic: int,
    tag_length: int,
    as_json: bool,
) -> None:
    """Check run files as TREC's submission system does.

    Format, scores, documents that come twice, ranks that contradict scores, the run tag, the number
    of results; with --collection also topics that are strange or have no results. The exit code is
    1 where a run would be refused.
    """
    from irplatform.api import check_runs

    problems_by_run = check_runs(
        runs,
        collection=collection,
        documents=documents,
        max_per_topic=max_per_topic,
        tag_length=tag_length,
    )
    refused_paths = [
        path
        for path, problems in problems_by_run.items()
        if any(p.level == "error" for p in problems)
    ]
    if as_json:
        entries = [
            {
                "path": path,
                "accepted": path not in refused_paths,
                "problems": [
                    {"level": p.level, "line": p.line, "message": p.message} for p in problems
                ],
            }
            for path, problems in problems_by_run.items()
        ]
        print_json({"runs": entries})
    else:
        for path, problems in problems_by_run.items():
            for problem in sorted(problems, key=lambda p: p.level != "error")[:_SHOWN]:
                place = path if problem.line is None else f"{path}:{problem.line}"
                click.echo(f"{place}: {problem.level}: {problem.message}")
            if len(problems) > _SHOWN:
                click.echo(f"{path}: {len(problems) - _SHOWN:,} more problems; --json lists all.")
            if not problems:
                click.echo(f"{path}: nothing is wrong.")
    if collection is not None and not documents:
        click.echo("Documents were not looked up in the collection; --documents does.", err=True)
    context.exit(1 if refused_paths else 0)


@submit.command(
    "bioasq", examples=["platform submit bioasq my.run --collection golden.toml --out answers.json"]
)
@click.argument("run", type=PATH)
@click.option(
    "--collection", required=True, type=COLLECTION, help="Whose questions the run answers."
)
@click.option("--out", required=True, type=PATH, help="The file to write.")
@force_option("a file at --out that has other content")
@json_option
def bioasq(run: Path, collection: str, out: Path, force: bool, as_json: bool) -> None:
    """Write a run as BioASQ takes it in phase A of task b.

    The first ten documents of each question, in JSON. Their ids have to be PMIDs, and the
    collection's topics questions of BioASQ.
    """
    from irplatform.api import write_bioasq_answers

    counts = write_bioasq_answers(run, collection, out, force=force)
    if as_json:
        print_json(counts)
    else:
        documents = counted(counts["documents"], "document")
        click.echo(f"{out}: {documents} for {counted(counts['questions'], 'question')}")
