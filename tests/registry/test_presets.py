"""Presets: settings that a reranker brings, beneath those that are given."""

from typing import ClassVar

import pytest
from commands import call
from small import registration

from irplatform import RunSettings
from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems
from irplatform.plugin import Field, Options, Reranker
from irplatform.registry.loading import registry
from irplatform.registry.lookup import Registry


class Parts(Options):
    epochs: int = Field(1, description="epochs")
    patience: int = Field(2, description="patience")


class Sizes(Options):
    filters: int = Field(8, description="filters")
    loop: Parts = Field(Parts(), description="loop")


class Ranker(Reranker):
    Options = Sizes
    presets: ClassVar = {
        "paper": {"filters": 64, "loop.epochs": 50},
        "nested": {"loop": {"epochs": 7}},
    }


class Plain(Reranker):
    Options = Sizes


@pytest.fixture
def plugins():
    systems = Registry()
    systems.rerankers = {
        "ranker": registration(Ranker),
        "variant": registration(Ranker, "variant", filters=16),
        "plain": registration(Plain, "plain"),
        "simple": registration(Plain, "simple"),
    }
    return systems


def _options(plugins, *names, preset, **settings):
    _, choices = choose_systems(plugins, [], names, settings, preset)
    return {c.name: (c.options.filters, c.options.loop.epochs) for c in choices}


def test_it_applies_to_every_reranker_that_has_it(plugins):
    assert _options(plugins, "ranker", "variant", "plain", preset="paper") == {
        "ranker": (64, 50),
        "variant": (64, 50),
        "plain": (8, 1),
    }


def test_settings_go_before_it(plugins):
    assert _options(plugins, "ranker", preset="paper", filters=3) == {"ranker": (3, 50)}
    options = _options(plugins, "ranker", "variant", preset="paper", **{"ranker.loop.epochs": 3})
    assert options == {"ranker": (64, 3), "variant": (64, 50)}
    assert _options(plugins, "ranker", preset="paper", loop={"epochs": 4}) == {"ranker": (64, 4)}


def test_its_settings_may_be_nested(plugins):
    assert _options(plugins, "ranker", preset="nested") == {"ranker": (8, 7)}


def test_one_that_no_reranker_has_is_refused(plugins):
    with pytest.raises(InputError, match="preset='paper' has no effect: plain has no presets"):
        _options(plugins, "plain", preset="paper")
    with pytest.raises(InputError, match="no effect: plain, simple have no presets"):
        _options(plugins, "plain", "simple", preset="paper")
    with pytest.raises(InputError, match=r"'papre' is not a preset of .*\. Did you mean 'paper'\?"):
        _options(plugins, "ranker", preset="papre")


def test_it_has_no_effect_with_a_checkpoint(tmp_path):
    with pytest.raises(InputError, match="preset= has no effect with checkpoint="):
        RunSettings("demo", rerankers=("delta",), preset="paper", checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        (name, preset)
        for name, reranker in registry().rerankers.items()
        for preset in reranker.presets
    ],
)
def test_every_preset_that_is_registered_has_options_that_are_there(name, preset):
    choose_systems(registry(), [], [name], {}, preset)


def test_they_are_shown(capsys, monkeypatch):
    result = call(capsys, monkeypatch, "rerankers", "show", "delta")
    assert "Preset (--preset paper): query_words=7, " in result.out
    result = call(capsys, monkeypatch, "rerankers", "show", "delta", "--json")
    assert result.json["presets"]["paper"]["query_words"] == 7
