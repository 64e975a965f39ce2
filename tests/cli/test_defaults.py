"""The command line and the programming interface have the same defaults, and one range of seeds."""

import dataclasses

import click
import pytest

from irplatform import RunSettings
from irplatform.cli.main import COMMANDS, cli
from irplatform.cli.run import run
from irplatform.cli.train import train

FIELDS = {field.name: field.default for field in dataclasses.fields(RunSettings)}


@pytest.mark.parametrize("command", [run, train], ids=["run", "train"])
def test_options_with_a_default_have_that_of_the_settings(command):
    options = {
        option.name: option.default
        for option in command.params
        if option.name in FIELDS and isinstance(option.default, int | str | tuple)
    }
    options.pop("interpolate", None)  # "auto", which the settings call None
    assert {"depth", "members", "seed", "model_threads", "pretrain_queries"} <= set(options)
    assert options == {name: FIELDS[name] for name in options}


def test_every_seed_has_the_same_range():
    seeds = []
    pending = [cli.get_command(click.Context(cli), name) for name in COMMANDS]
    while pending:
        command = pending.pop()
        pending += getattr(command, "commands", {}).values()
        seeds += [option.type for option in command.params if option.name == "seed"]
    assert len(seeds) >= 10
    assert {(seed.min, seed.max) for seed in seeds} == {(0, 2**32 - 1)}
