"""`platform config`: facts about the user that metadata ask for, given once."""

from __future__ import annotations

import sys

import click

from irplatform.cli.commands import Group
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import InputError
from irplatform.system.console import notice


@click.group(cls=Group)
def config() -> None:
    """Keep facts about you for `ir-metadata.yml`: name, team, repository, method.

    IRPLATFORM_ACTOR, IRPLATFORM_TEAM and IRPLATFORM_REPOSITORY take precedence.
    """


@config.command("show")
@json_option
def show(as_json: bool) -> None:
    """Show the facts that metadata take."""
    from irplatform.run_folder.campaigns import FACTS, config_file, known_facts

    facts = known_facts()
    if as_json:
        print_json({"file": str(config_file()), "facts": facts})
        return
    print_rows([(name, facts.get(name, "-"), meaning) for name, meaning in FACTS.items()])
    notice(f"file: {config_file()}")


@config.command("set", examples=["platform config set team 'My University'"])
@click.argument("name")
@click.argument("value")
def set_fact(name: str, value: str) -> None:
    """Keep a fact; an empty value forgets it."""
    from irplatform.run_folder.campaigns import keep_fact

    keep_fact(name, value)


@config.command("ask")
def ask() -> None:
    """Ask for all facts on a terminal; Enter keeps what is there."""
    from irplatform.run_folder.campaigns import FACTS

    if not on_terminal():
        raise InputError(
            "`platform config ask` asks on a terminal. In a script use `platform config set`."
        )
    for name in FACTS:
        _ask(name)


def ask_for(*names: str) -> None:
    """Ask on a terminal for facts that are not known, and keep them; elsewhere ask nothing."""
    from irplatform.run_folder.campaigns import known_facts

    for name in names if on_terminal() else ():
        if name not in known_facts():
            _ask(name)


def _ask(name: str) -> None:
    from irplatform.run_folder.campaigns import FACTS, keep_fact, known_facts

    present = known_facts().get(name, "")
    answer = click.prompt(FACTS[name], default=present, show_default=bool(present), err=True)
    if answer != present:
        keep_fact(name, answer)


def on_terminal() -> bool:
    """Return whether questions can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
