"""Features of a stranger's package: registered, found by name, refused where they are wrong."""

import sys
import types
from importlib import metadata

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform.plugin import FeatureGroup, Field, Options, hookimpl
from irplatform.registry.loading import load


class YearOptions(Options):
    """Options of the year."""

    since: int = Field(2000, description="the year that counts as 0")


class Year(FeatureGroup):
    """The year of a document."""

    Options = YearOptions

    def names(self):
        return ("year",)

    def compute(self, topic, documents):
        years = [float(str(d.fields.get("year", "0"))) - self.options.since for d in documents]
        return np.array(years, dtype=np.float32)[:, None]


@pytest.fixture
def registry_with(monkeypatch):
    """The registry of a plugin that registers features with this function."""

    def build(*functions):
        entry_points = []
        for number, function in enumerate(functions):
            module = types.ModuleType(f"strange_{number}")
            module.register_features = hookimpl(function)
            monkeypatch.setitem(sys.modules, module.__name__, module)
            entry_points.append(
                metadata.EntryPoint(f"strange{number}", module.__name__, "irplatform")
            )
        return load(entry_points)

    return build


def test_a_group_is_found_by_name_with_its_options(registry_with):
    plugins = registry_with(lambda register: register("year", Year, since=1990))
    assert not plugins.broken
    assert plugins.plugins[0].provides == ("feature group year",)
    group = plugins.feature_group("year").create({})
    assert group.options.since == 1990
    assert plugins.feature_group("year").create({"since": 5}).options.since == 5
    with pytest.raises(InputError, match="year"):
        plugins.feature_group("yeer")
    with pytest.raises(InputError, match="since"):
        plugins.feature_group("year").create({"sinse": 5})


def test_what_is_no_group_breaks_the_plugin_alone(registry_with):
    plugins = registry_with(
        lambda register: register("odd", dict), lambda register: register("year", Year)
    )
    assert [plugin.name for plugin in plugins.broken] == ["strange0"]
    assert "not a subclass of FeatureGroup" in plugins.broken[0].error
    assert list(plugins.features) == ["year"]


def test_two_plugins_cannot_have_the_same_group(registry_with):
    plugins = registry_with(
        lambda register: register("year", Year), lambda register: register("year", Year)
    )
    assert "feature group 'year' is registered by plugin 'strange0'" in plugins.broken[0].error
