"""`platform submit`: check and convert finished runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Group
from irplatform.cli.names import COLLECTION
from irplatform.cli.options import PATH, flag_option, force_option, number_option
from irplatform.cli.output import json_option, print_json
from irplatform.errors import counted
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.runs.checks import RunCheck


_SHOWN = 25
"""Problems printed per run, errors first, as in TREC's scripts."""


@click.group(cls=Group)
def submit() -> None:
    """Check TREC run files before submission, or write BioASQ answers."""


@submit.command("check", examples=["platform submit check my.run --collection demo --documents"])
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option(
    "--collection", type=COLLECTION, help="The collection whose topics the runs must answer."
)
@flag_option("--documents", text="Also look up every document in the collection's index.")
@number_option(
    "--max-per-topic", default=1000, least=1, text="Maximum number of results per topic."
)
@click.option(
    "--tag-length",
    type=click.IntRange(1),
    help="Maximum length of a run tag.  [default: 20, or as --tag-pattern allows]",
)
@click.option(
    "--tag-pattern",
    metavar="REGEX",
    help="Regular expression of the task for the whole tag, such as '[A-Za-z0-9_]{1,12}'.  "
    "[default: letters, digits, '-', '_' and '.']",
)
@json_option
@click.pass_context
def check(context: click.Context, /, runs: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Check run files as TREC's submission system does.

    Checks format, scores, duplicate documents, ranks that contradict scores, the run tag and the
    number of results; with --collection also unknown topics and topics without results. The exit
    code is 1 if a run would be rejected.
    """
    from irplatform import check_runs

    checks = check_runs(runs, **options)
    if as_json:
        print_json({"runs": [_entry(path, found) for path, found in checks.items()]})
    else:
        for path, found in checks.items():
            _print_check(path, found)
    if options["tag_pattern"] is None:
        length = options["tag_length"] or 20
        notice(
            f"Run tags are assumed to have at most {length} letters, digits, '-', '_' and '.'. If "
            "your track has another rule, give it with --tag-length and --tag-pattern."
        )
    if options["collection"] is not None and not options["documents"]:
        notice("Documents were not looked up in the collection; add --documents to do so.")
    context.exit(1 if any(found.refused for found in checks.values()) else 0)


def _entry(path: str, found: RunCheck) -> dict[str, Any]:
    return {
        "path": path,
        "accepted": not found.refused,
        "topics": found.topics,
        "results": list(found.results),
        "tag": found.tag or None,
        "problems": [asdict(problem) for problem in found.problems],
    }


def _print_check(path: str, found: RunCheck) -> None:
    problems = sorted(found.problems, key=lambda problem: problem.level != "error")
    for problem in problems[:_SHOWN]:
        place = path if problem.line is None else f"{path}:{problem.line}"
        say_text(f"{place}: {problem.level}: {problem.message}")
    if len(problems) > _SHOWN:
        say_text(f"{path}: {len(problems) - _SHOWN:,} more problems; --json lists all.")
    levels = Counter(problem.level for problem in problems)
    verdict = ", ".join(counted(number, level) for level, number in levels.items())
    summary = f"{path}: {verdict or 'nothing is wrong'}"
    if found.topics:
        least, most = found.results
        results = counted(most, "result")
        results = results if least == most else f"{least:,} to {results}"
        summary += f"; {counted(found.topics, 'topic')}, {results} each, tag '{found.tag}'"
    say_text(f"{summary}.")


@submit.command(
    "bioasq", examples=["platform submit bioasq my.run --collection golden.toml --out answers.json"]
)
@click.argument("run", type=PATH)
@click.option(
    "--collection",
    required=True,
    type=COLLECTION,
    help="The collection whose questions the run answers.",
)
@click.option("--out", required=True, type=PATH, help="The file to write.")
@force_option("a file at --out that has other content")
@json_option
def bioasq(run: Path, collection: str, out: Path, force: bool, as_json: bool) -> None:
    """Write a run in the JSON format of BioASQ task b, phase A.

    Writes the first ten documents of each question. Document ids must be PMIDs, and the
    collection's topics must be BioASQ questions.
    """
    from irplatform import write_bioasq_answers

    counts = write_bioasq_answers(run, collection, out, force=force)
    if as_json:
        print_json(counts)
    else:
        documents = counted(counts["documents"], "document")
        say_text(f"{out}: {documents} for {counted(counts['questions'], 'question')}")


@submit.command("tira", examples=["platform submit tira runs/demo/delta.run --out upload"])
@click.argument("run", type=PATH)
@click.option("--out", required=True, type=PATH, help="The folder to make.")
@json_option
def tira(run: Path, out: Path, as_json: bool) -> None:
    """Write a run and its ir-metadata.yml to a folder, as TIRA takes it.

    On a terminal it asks for your team and repository if they are not known, and keeps them; see
    `platform config`.
    """
    from irplatform.cli.config import ask_for
    from irplatform.experiment.campaigns import prepare

    ask_for("team", "repository")
    written = prepare(run, out)
    if as_json:
        print_json(written)
    else:
        say_text(f"{out}: {' and '.join(written['files'])}")
