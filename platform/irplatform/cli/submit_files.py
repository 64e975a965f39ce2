"""`platform submit fix` and `prepare`: corrected copies of runs, and folders to upload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Command
from irplatform.cli.options import PATH, force_option, task_options, tasks_options
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import counted, listing
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.tasks.submissions import Fixed

NOT_LOOKED_UP = "Documents were not looked up: --collection C --documents looks up each."
_LINES = 3
"""Numbers of lines that are shown."""


@click.command(
    cls=Command, examples=["platform submit fix my.run --task trec-ct-2021 -o fixed.run"]
)
@click.argument("run", type=PATH)
@click.option("-o", "--out", required=True, type=PATH, help="The corrected copy.")
@task_options
@click.option("--tag", help="The new run tag.  [default: the present one, as the task takes it]")
@click.option(
    "--order",
    type=click.Choice(["scores", "ranks"]),
    help="What decides the order where scores and ranks contradict each other.  [default: such a "
    "run is refused]",
)
@click.option("--diff", type=PATH, help="Write every changed line, and why, to this file.")
@force_option("a file at --out that has other content")
@json_option
@click.pass_context
def fix(context: click.Context, /, run: Path, out: Path, as_json: bool, **options: Any) -> None:
    """Write a corrected copy of a run, or of answers in JSON.

    Columns go by a header, or by their place. Runs in JSON become TREC's lines. Repairs encoding,
    line ends, columns, documents that come twice, order, ranks, the number of results, the tag and
    the spelling of ids, and leaves out what the task does not take. The run
    itself stays as it is. The exit code is 1 if the copy would still be rejected.
    """
    from irplatform import fix_run

    fixed = fix_run(run, out, **options)
    if as_json:
        print_json(_entry(fixed))
    else:
        _print(run, fixed)
    context.exit(1 if fixed.check.refused else 0)


def _entry(fixed: Fixed) -> dict[str, Any]:
    errors = [problem.message for problem in fixed.check.problems if problem.level == "error"]
    return {
        "path": str(fixed.path),
        "accepted": not fixed.check.refused,
        "documents_looked_up": fixed.looked_up,
        "changed": {reason: list(lines) for reason, lines in fixed.repair.changed.items()},
        "left_out": {reason: list(lines) for reason, lines in fixed.repair.left_out.items()},
        "lost": {reason: list(lines) for reason, lines in fixed.repair.lost.items()},
        "unrepaired": errors,
    }


def _print(run: Path, fixed: Fixed) -> None:
    entry = _entry(fixed)
    rows = [*_rows("changed", entry["changed"]), *_rows("left out", entry["left_out"])]
    rows += _rows("left out", entry["lost"], "value")
    if rows:
        print_rows(rows)
    else:
        purpose = "that can be repaired" if fixed.check.refused else "to repair"
        say_text(f"{run}: there is nothing {purpose}.")
    for problem in entry["unrepaired"]:
        say_text(f"not repaired: {problem}")
    check = fixed.check
    verdict = "still refused" if check.refused else "accepted"
    tag = f", tag '{check.tag}'" if check.tag else ""
    say_text(f"{fixed.path}: {verdict}; {check.counts}{tag}.")
    if not fixed.looked_up:
        notice(NOT_LOOKED_UP)
    if "no tag" in entry["changed"]:
        notice("Lines had no tag; --tag gives the run one of yours.")


def _rows(
    label: str, groups: Mapping[str, Sequence[int]], noun: str = "line"
) -> list[tuple[str, str, str]]:
    return [
        (label, counted(len(lines), noun), f"{reason}: {listing(map(str, lines), _LINES)}")
        for reason, lines in groups.items()
    ]


@click.command(
    cls=Command,
    examples=["platform submit prepare a.run b.run --task trec-ct-2021 --out upload"],
)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@tasks_options
@click.option("--out", required=True, type=PATH, help="The folder to make.")
@force_option("a folder at --out that was prepared before")
@json_option
def prepare(runs: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Write runs to a folder in the form of a task, ready to upload.

    Beside the runs are their ir-metadata.yml, SHA256SUMS, and runs.md: a description of each run
    for the working notes, from its metadata. A run that would be rejected is refused.
    """
    from irplatform import prepare_runs

    if options["task"] is None:
        raise click.UsageError("--task TASK is missing.")
    facts = prepare_runs(runs, **options)
    if as_json:
        print_json(facts)
    else:
        say_text(f"{facts['path']}: {', '.join(facts['files'])}")
