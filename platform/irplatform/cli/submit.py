"""`platform submit`: check and convert finished runs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.biogen import biogen
from irplatform.cli.commands import Group
from irplatform.cli.names import COLLECTION, RERANKER
from irplatform.cli.options import PATH, force_option, setting_option, tasks_options
from irplatform.cli.output import json_option, print_json
from irplatform.cli.submit_files import NOT_LOOKED_UP, fix, prepare
from irplatform.errors import InputError, counted
from irplatform.system.console import notice, say_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from irplatform.tasks.check_runs import RunCheck


_SHOWN = 25
"""Problems printed per run, errors first, as in TREC's scripts."""
_SHOWN_ALIKE = 5
"""Of those that differ in names and numbers alone."""
_NAMES = re.compile(r"'[^']*'|\d+")
_DATA = ("task", "topics")
"""Options that name what a run is checked against."""


@click.group(cls=Group)
def submit() -> None:
    """Check, fix and prepare runs for submission to a shared task."""


submit.add_command(fix)
submit.add_command(prepare)


@submit.command(
    "check",
    examples=[
        "platform submit check my.run --task trec-ct-2021",
        "platform submit check my.run --collection demo --documents",
    ],
)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@tasks_options
@click.option(
    "--qrels", type=PATH, help="Judgments, to show how far ties can move the task's measures."
)
@click.option(
    "--max-per-topic",
    type=click.IntRange(1),
    help="Maximum number of results per topic.  [default: the task's, or 1000]",
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
    """Check runs, or answers in JSON, as the submission system of a task does.

    Checks format, scores, duplicate documents, ranks that contradict scores, the run tag and the
    number of results; with --collection or --topics also unknown topics and topics without results.
    With --task, the task's own rules hold, and a line names the measures that equal scores can
    move. The exit code is 1 if a run would be rejected.
    """
    from irplatform import check_runs

    checks = check_runs(runs, **options)
    if as_json:
        print_json({"runs": [_entry(path, outcome) for path, outcome in checks.items()]})
    else:
        for path, outcome in checks.items():
            _print_check(path, outcome)
        _print_notes(checks)
    if options["tag_pattern"] is None and options["task"] is None:
        length = options["tag_length"] or 20
        notice(
            f"Run tags are assumed to have at most {length} letters, digits, '-', '_' and '.'. If "
            "your track has another rule, give it with --tag-pattern, or the track with --task."
        )
    refused = [path for path, outcome in checks.items() if outcome.refused]
    repairable = [path for path in refused if not checks[path].unread]
    if repairable and options["task"] is not None:
        arguments = [f"--{name} {options[name]}" for name in _DATA if options[name] is not None]
        arguments += [f"--collection {name}" for name in options["collection"][:1]]
        arguments += ["--documents"] if options["documents"] else []
        command = f"platform submit fix {repairable[0]} {' '.join(arguments)} -o OUT"
        notice(f"`{command}` repairs what can be repaired.")
    unread = [path for path in refused if checks[path].unread]
    if not options["documents"] and len(unread) < len(checks):
        notice(NOT_LOOKED_UP)
    context.exit(2 if unread else 1 if refused else 0)


def _entry(path: str, outcome: RunCheck) -> dict[str, Any]:
    return {
        "path": path,
        "accepted": not outcome.refused,
        "topics": outcome.topics,
        "results": list(outcome.results),
        "tag": outcome.tag or None,
        "problems": [asdict(problem) for problem in outcome.problems],
        "ties": list(outcome.tied),
    }


def _print_notes(checks: Mapping[str, RunCheck]) -> None:
    """Print each kind of note once: of the first run, and how many others have it."""
    noted: dict[str, list[str]] = {}
    for path, outcome in checks.items():
        for problem in outcome.problems:
            if problem.level == "note":
                kind = _NAMES.sub("", problem.message.partition(":")[0])
                noted.setdefault(kind, []).append(f"{path}: note: {problem.message}")
    for first, *others in noted.values():
        say_text(f"{first} So it is in {counted(len(others), 'other run')}." if others else first)


def _print_check(path: str, outcome: RunCheck) -> None:
    problems = [problem for problem in outcome.problems if problem.level != "note"]
    problems.sort(key=lambda problem: problem.level != "error")
    count, alike = 0, Counter[str]()
    for problem in problems:
        kind = _NAMES.sub("", problem.message)
        alike[kind] += 1
        if alike[kind] > _SHOWN_ALIKE or count == _SHOWN:
            continue
        count += 1
        place = path if problem.line is None else f"{path}:{problem.line}"
        say_text(f"{place}: {problem.level}: {problem.message}")
    if len(problems) > count:
        say_text(f"{path}: {counted(len(problems) - count, 'more problem')}; --json lists all.")
    if outcome.tied:
        say_text(f"{path}: the order of equal scores can move {'; '.join(outcome.tied)}.")
    levels = Counter(problem.level for problem in problems)
    verdict = ", ".join(counted(number, level) for level, number in levels.items())
    summary = f"{path}: {verdict or 'nothing is wrong'}"
    if outcome.topics:
        tag = f", tag '{outcome.tag}'" if outcome.tag else ""
        summary += f"; {outcome.counts}{tag}"
    say_text(f"{summary}.")


@submit.command(
    "bioasq",
    examples=[
        "platform submit bioasq my.run --collection golden.toml --out answers.json",
        "platform submit bioasq a.run --collection b.toml --snippets bm25-text --out a",
    ],
)
@click.argument("run", type=PATH)
@click.option(
    "--collection",
    required=True,
    type=COLLECTION,
    help="The collection whose questions the run answers.",
)
@click.option("--out", required=True, type=PATH, help="The file to write.")
@click.option(
    "--snippets",
    type=RERANKER,
    help="Also write the ten best sentences of the documents, as this reranker ranks them, such as "
    "bm25-text, or deepsense with --checkpoint.",
)
@click.option(
    "--checkpoint", type=PATH, help="A folder written by `platform train`, for --snippets."
)
@setting_option("the reranker of --snippets", "rerankers show")
@force_option("a file at --out that has other content")
@json_option
def bioasq(
    run: Path,
    collection: str,
    out: Path,
    snippets: str | None,
    checkpoint: Path | None,
    settings: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write a run in the JSON format of BioASQ task b, phase A.

    Writes the first ten documents of each question, and snippets of them. Document ids must be
    PMIDs, and the collection's topics must be BioASQ questions.
    """
    from irplatform import write_bioasq_answers
    from irplatform.cli.settings import read_settings

    arguments: dict[str, Any] = {}
    if snippets is not None:
        read = read_settings(settings, None, (), (snippets,))
        arguments = {"settings": read, "checkpoint": checkpoint}
    elif checkpoint or settings:
        raise InputError("--checkpoint and --set are for --snippets, which is not given.")
    counts = write_bioasq_answers(run, collection, out, snippets=snippets, force=force, **arguments)
    if as_json:
        print_json(counts)
    else:
        text = counted(counts["documents"], "document")
        text += f" and {counted(counts['snippets'], 'snippet')}" if snippets else ""
        say_text(f"{out}: {text} for {counted(counts['questions'], 'question')}")


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
    from irplatform.run_folder.campaigns import prepare_upload

    ask_for("team", "repository")
    facts = prepare_upload(run, out)
    if as_json:
        print_json(facts)
    else:
        say_text(f"{out}: {' and '.join(facts['files'])}")


submit.add_command(biogen)
