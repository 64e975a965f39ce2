"""The command line and the programming interface have the same defaults."""

import dataclasses

import pytest

from irplatform.api import RunSettings
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
