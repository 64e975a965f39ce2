"""`platform tasks`: list shared tasks and show their rules."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Group, with_options
from irplatform.cli.names import TASK
from irplatform.cli.options import PATH, flag_option, force_option
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import InputError, listing
from irplatform.settings import OUTPUT
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date
    from pathlib import Path

    from irplatform.tasks.catalogue.rules import Source, Task


@click.group(cls=Group)
def tasks() -> None:
    """List shared tasks and show their rules."""


@tasks.command("list")
@json_option
def list_tasks(as_json: bool) -> None:
    """List the shared tasks whose rules are known."""
    from irplatform.tasks.catalogue.names import own_folder
    from irplatform.tasks.submissions import all_tasks

    catalogue = [task for _, task in sorted(all_tasks().items())]
    if as_json:
        print_json({"tasks": [_head(task) for task in catalogue]})
        return
    print_rows([(task.name, *_state(task), task.title) for task in catalogue])
    say_text(
        "\nThe second column is the day on which a task's rules were read. 'over': its deadline or "
        "its year is past, and a later edition may have other rules.\n\n"
        f"Also: any .toml file that declares a task, by its path. Files in {own_folder()} are "
        "listed here; `platform tasks new` writes one."
    )


def _head(task: Task) -> dict[str, Any]:
    """What JSON says of a task before its rules."""
    from irplatform.tasks.catalogue.rules import today

    read = None if task.read is None else task.read.isoformat()
    head = {"name": task.name, "title": task.title, "year": task.year, "read": read}
    return {**head, "over": bool(task.past(today()))}


def _state(task: Task) -> tuple[str, str]:
    from irplatform.tasks.catalogue.rules import today

    read = task.read.isoformat() if task.read else "not known"
    return read, "over" if task.past(today()) else ""


@tasks.command(
    "new",
    examples=["platform tasks new my-task-2027 --run my.run --topics topics.tsv --depth 100"],
)
@click.argument("name")
@with_options(
    click.option("--run", required=True, type=PATH, help="A run of its topics, of any system."),
    click.option("--topics", required=True, type=PATH, help="The task's file of topics."),
    click.option("--topic-format", help="The format of the topics.  [default: found]"),
    click.option("--query", help="The template of queries, as in '{title} {narrative}'."),
    group="What the files show",
    example="--run my.run --topics topics.tsv",
)
@with_options(
    click.option("--title", help="The full title, with the year."),
    click.option("--place", help="Address of the page with the rules, which you have read today."),
    click.option("--depth", type=click.IntRange(1), help="Most results per topic."),
    click.option("--runs", type=click.IntRange(1), help="Most runs of a group."),
    click.option("--tag-pattern", "tag", metavar="REGEX", help="Regular expression for run tags."),
    click.option("--file", help="Name of the file to send, with {tag} or {team}."),
    click.option("--deadline", metavar="DAY", help="Last day of submissions, as 2027-08-31."),
    flag_option("--dense-ranks", text="Ranks have to be 1, 2, 3, … line by line."),
    group="What you know of the rules",
    example="--depth 100 --tag-pattern '[a-z]{1,9}'",
)
@with_options(
    click.option("-o", "--out", type=PATH, help="The file.  [default: among your own tasks]"),
    force_option("a file at --out that has other content"),
    json_option,
    group=OUTPUT,
)
def new(name: str, out: Path | None, force: bool, as_json: bool, **options: Any) -> None:
    """Write the file of a task from its topics, a run, and what you know of its rules.

    The topics show their number, ids and format, the run the form of document ids. On a terminal
    it asks for the rest; Enter leaves a rule out. The task is then known by its name, and `submit`
    checks, fixes and prepares runs for it.
    """
    from irplatform.files.writing import write_file
    from irplatform.tasks.catalogue.names import ENDING, own_folder
    from irplatform.tasks.catalogue.rules import today
    from irplatform.tasks.catalogue.writing import QUESTIONS, task_file

    answers = _answers({key: options.pop(key) for key in QUESTIONS})
    run, topics, dense = options.pop("run"), options.pop("topics"), options.pop("dense_ranks")
    text = task_file(name, run, topics, answers, day=today(), dense=dense, **options)
    path = out or own_folder() / f"{name}{ENDING}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text.encode(), force=force)
    known_as = name if out is None else str(out)
    if as_json:
        print_json({"path": str(path), "task": known_as})
    else:
        say_text(f"{path}\nCompare it with the task's page: `platform tasks show {known_as}`.")


def _answers(options: Mapping[str, Any]) -> dict[str, Any]:
    """What is given, and on a terminal the answers to the other questions."""
    from irplatform.cli.config import on_terminal
    from irplatform.tasks.catalogue.writing import QUESTIONS

    answers = dict(options)
    for name, question in QUESTIONS.items() if on_terminal() else ():
        if answers[name] is None:
            kind = click.IntRange(0) if name in ("depth", "runs") else click.STRING
            empty: Any = 0 if name in ("depth", "runs") else ""
            text = f"{question} (Enter: not stated)"
            answers[name] = click.prompt(text, empty, type=kind, show_default=False, err=True)
    values = {name: value for name, value in answers.items() if value}
    return values | ({"deadline": _day(values["deadline"])} if "deadline" in values else {})


def _day(text: str) -> date:
    from datetime import date

    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"the deadline '{text}' is no day. Write it as 2027-08-31.") from None


@tasks.command("show", examples=["platform tasks show trec-ct-2021"])
@click.argument("task", type=TASK)
@json_option
def show(task: str, as_json: bool) -> None:
    """Show the rules of a task, each with the sentence that says it."""
    from irplatform.tasks.submissions import task_of

    definition = task_of(task)
    rules = list(_stated(definition))
    if as_json:
        values = definition.rules.model_dump(mode="json", exclude_none=True)
        cited = {name: asdict(source) for name, source in definition.sources.items()}
        print_json({**_head(definition), "rules": values, "sources": cited})
        return
    pages: dict[tuple[str, str], list[Source]] = {}
    for source in dict.fromkeys(source for *_, source in rules if source):
        pages.setdefault((source.title, source.place), []).append(source)
    ordered = [source for page in pages.values() for source in page]
    numbers = {source: f"[{number}]" for number, source in enumerate(ordered, start=1)}
    say_text(f"{definition.name}: {definition.title}\n{_age(definition)}\n")
    print_rows([(name, numbers[source] if source else "", words) for name, words, source in rules])
    if any(source is None for *_, source in rules):
        say_text(f"\nRules without a number have no source in {definition.path}.")
    if gaps := _open_rules(definition):
        say_text(f"\nThe sources that were read do not say: {', '.join(gaps)}.")
    for (title, place), sources in pages.items():
        say_text(f"\n{title}\n{place}")
        print_rows([(numbers[source], f'"{source.sentence}"') for source in sources])


def _age(task: Task) -> str:
    """When the rules were read, and what of the task is over."""
    from irplatform.tasks.catalogue.rules import in_words, today

    read = f"on {in_words(task.read)}" if task.read else "on a day that is not known"
    text = f"Its rules were read {read}."
    if past := task.past(today()):
        text += f" It is over: {past}. A later edition may have other rules."
    return text


_LISTED = 3
"""Ids of topics that are shown."""
_EXPECTED = {"topics": "number of topics", "depth": "depth", "tag": "run tag", "runs": "runs"}
"""Rules that most tasks have, in words."""


def _stated(task: Task) -> Iterator[tuple[str, str, Source | None]]:
    """Yield each rule of a task: its name, what it says, and its source."""
    from irplatform.tasks.catalogue.rules import RULES

    for name in RULES:
        value = getattr(task.rules, name)
        if value not in (None, False):
            yield name.replace("_", " "), _in_words(name, value), task.sources.get(name)


def _open_rules(task: Task) -> list[str]:
    """Return the usual rules that no source of the task states, in words."""
    answers = (task.rules.form or "").startswith("biogen")  # answers hold no ranking
    return [
        words
        for name, words in _EXPECTED.items()
        if getattr(task.rules, name) is None
        and not (answers and name == "depth")
        and name not in (task.rules.unlimited or ())
    ]


def _in_words(name: str, value: Any) -> str:
    from irplatform.tasks.catalogue.rules import FORMS, RANKS, Rules, in_words

    match name:
        case "form":
            return FORMS[value]
        case "ranks":
            return "; ".join(RANKS[kind] for kind in value)
        case "deadline":
            return in_words(value)
    if isinstance(value, list):
        return listing(value, _LISTED) if name == "topic_ids" else ", ".join(value)
    sentence = Rules.model_fields[name].description
    usual = f"{value:,}" if isinstance(value, int) else str(value)
    return sentence.format(value) if sentence else usual
