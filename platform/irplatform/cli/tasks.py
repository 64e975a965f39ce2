"""`platform tasks`: list shared tasks and show their rules."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from irplatform.cli.commands import Group
from irplatform.cli.names import TASK
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.tasks.rules import Source, Task


@click.group(cls=Group)
def tasks() -> None:
    """List shared tasks and show their rules."""


@tasks.command("list")
@json_option
def list_tasks(as_json: bool) -> None:
    """List the shared tasks whose rules are known."""
    from irplatform.tasks.rules import own_folder
    from irplatform.tasks.submissions import all_tasks

    known = all_tasks()
    if as_json:
        print_json({"tasks": [{"name": t.name, "title": t.title} for t in known.values()]})
        return
    print_rows([(task.name, task.title) for task in known.values()])
    say_text(
        f"\nAlso: any .toml file that declares a task, by its path. Files in {own_folder()} are "
        "listed here."
    )


@tasks.command("show", examples=["platform tasks show trec-ct-2021"])
@click.argument("task", type=TASK)
@json_option
def show(task: str, as_json: bool) -> None:
    """Show the rules of a task, each with the sentence that says it."""
    from irplatform.tasks.submissions import task_of

    found = task_of(task)
    rules = list(_stated(found))
    if as_json:
        values = found.rules.model_dump(exclude_none=True)
        cited = {name: asdict(source) for name, source in found.sources.items()}
        print_json({"name": found.name, "title": found.title, "rules": values, "sources": cited})
        return
    pages: dict[tuple[str, str], list[Source]] = {}
    for source in dict.fromkeys(source for *_, source in rules if source):
        pages.setdefault((source.title, source.place), []).append(source)
    ordered = [source for page in pages.values() for source in page]
    numbers = {source: f"[{number}]" for number, source in enumerate(ordered, start=1)}
    say_text(f"{found.name}: {found.title}\n")
    print_rows([(name, numbers[source] if source else "", words) for name, words, source in rules])
    if left := _open_rules(found):
        say_text(f"\nThe sources that were read do not say: {', '.join(left)}.")
    for (title, place), sources in pages.items():
        say_text(f"\n{title}\n{place}")
        print_rows([(numbers[source], f'"{source.sentence}"') for source in sources])


_EXPECTED = {"topics": "number of topics", "depth": "depth", "tag": "run tag", "runs": "runs"}
"""Rules that most tasks have, in words."""


def _stated(task: Task) -> Iterator[tuple[str, str, Source | None]]:
    """Yield each rule of a task: its name, what it says, and its source."""
    from irplatform.tasks.rules import RULES

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
        if getattr(task.rules, name) is None and not (answers and name == "depth")
    ]


def _in_words(name: str, value: Any) -> str:
    from irplatform.tasks.rules import FORMS, Rules

    if name == "form":
        return FORMS[value]
    if isinstance(value, list):
        return ", ".join(value)
    if sentence := Rules.model_fields[name].description:
        return sentence.format(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
