"""What a command cannot do without comes first in its help."""

import click
import pytest

from irplatform.cli.main import cli

NAMES = ("run", "train", "tune", "explain", "search")


@pytest.mark.parametrize("name", NAMES)
def test_the_collection_comes_before_the_options_of_expansion(name):
    command = cli.get_command(click.Context(cli), name)
    options = [option.name for option in command.params]
    assert options[0].startswith("collection")
    assert {"expand", "query_plan"} <= set(options)


def test_no_other_command_expands_queries():
    assert {
        name
        for name, command in _commands(cli)
        if "expand" in {option.name for option in command.params}
    } == {*NAMES, "serve", "submit biogen", "tira"}


def _commands(group, prefix=""):
    """All commands, those of groups too, by their full names."""
    for name in group.list_commands(None):
        command = group.get_command(click.Context(group), name)
        yield prefix + name, command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{prefix}{name} ")
