"""What a command cannot do without comes first in its help."""

import click
import pytest

from irplatform.cli.main import cli

NAMES = ("run", "train", "tune", "explain", "search")


@pytest.mark.parametrize("name", NAMES)
def test_the_collection_comes_before_the_options_of_expansion(name):
    command = cli.get_command(click.Context(cli), name)
    options = [option.name for option in command.params]
    assert options[0] == "collection"
    assert {"expand", "query_plan"} <= set(options)


def test_no_other_command_expands_queries():
    commands = {name: cli.get_command(click.Context(cli), name) for name in cli.list_commands(None)}
    assert {
        name
        for name, held in commands.items()
        if "expand" in {option.name for option in held.params}
    } == set(NAMES)
