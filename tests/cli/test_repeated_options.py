"""An option that takes one value is given once; flags and others as often as one likes."""

import click
import pytest

from irplatform.cli.main import cli
from irplatform.cli.repeated import refuse_repeated
from irplatform.errors import InputError


@click.group()
@click.option("--place")
def group(place):
    """A group."""


@group.command()
@click.option("-n", "--name", nargs=1)
@click.option("--pair", nargs=2)
@click.option("--many", multiple=True)
@click.option("-v", "--verbose", count=True)
@click.option("--resume/--no-resume")
@click.argument("files", nargs=-1)
def do(**_):
    """A command of it."""


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("--name a --name a", "--name"),
        ("file -na -n b file --name=c", "--name"),
        ("--pair a b --pair c d", "--pair"),
    ],
)
def test_an_option_that_takes_one_value_is_refused_twice(arguments, option):
    with pytest.raises(InputError, match=f"{option} takes one value, but is given"):
        refuse_repeated(do, arguments.split(), click.Context(cli))


@pytest.mark.parametrize(
    "arguments",
    [
        "--many a --many a",
        "--resume --no-resume --resume",
        "-vv -v",
        "--name a -- --name b",
        "--name a --pair --name b",
        "--name a --unknown --name b",
    ],
)
def test_all_else_is_left_to_the_command(arguments):
    refuse_repeated(do, arguments.split(), click.Context(cli))


def test_commands_of_groups_are_looked_into():
    context = click.Context(cli)
    refuse_repeated(group, ["--place", "a", "do", "--name", "a"], context)
    refuse_repeated(group, ["nothing", "--name", "a", "--name", "b"], context)
    for arguments in ("--place a --place b do", "--place a do --name a --name b"):
        with pytest.raises(InputError):
            refuse_repeated(group, arguments.split(), context)


def test_the_command_of_a_plugin_is_looked_at_too(platform, monkeypatch):
    monkeypatch.setitem(cli.commands, "strange", group)
    outcome = platform("strange", "do", "--name", "a", "--name", "b")
    assert outcome.code == 2
    assert "--name takes one value, but is given 2 times." in outcome.err
