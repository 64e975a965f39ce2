"""Systems that are registered by the place of their class."""

import sys

import pytest
from strangers import GOOD

from irplatform.errors import PluginError
from irplatform.registry.loading import load, registry


@pytest.fixture
def by_place(install, tmp_path):
    """A plugin that registers the class `Length` of another module by the place of the class."""

    def build(code=GOOD, place="ranker:Length", **defaults):
        module = f"ranker_{tmp_path.name}"
        (tmp_path / f"{module}.py").write_text(code)
        place = place.replace("ranker", module)
        hooks = (
            "from irplatform.plugin import hookimpl\n\n@hookimpl\n"
            f"def register_rerankers(register):\n    register('length', {place!r}, **{defaults})\n"
        )
        return load(install("placed", hooks)), module

    return build


def test_a_class_is_imported_from_its_place_at_first_use(by_place):
    plugins, module = by_place()
    assert plugins.plugins[0].provides == ("reranker length",)
    assert module not in sys.modules
    registration = plugins.reranker("length")
    assert registration.broken == ""
    assert registration.create({}).score(None, []) == []
    assert registration.system is sys.modules[module].Length


@pytest.mark.parametrize(
    ("code", "place", "message"),
    [
        (GOOD, "ranker:Lenght", "and 'ranker' has no 'Lenght'"),
        (GOOD, "ranker.not_there:Length", "failed importing 'ranker.not_there:Length'"),
        ("1 / 0", "ranker:Length", "failed importing 'ranker:Length': ZeroDivisionError"),
        (GOOD, "ranker:hookimpl", "not a subclass of Reranker"),
        (
            GOOD.replace("def score(", "def scores("),
            "ranker:Length",
            "registers 'ranker:Length': reranker 'length': Length does not define score()",
        ),
    ],
)
def test_a_place_without_a_sound_class_is_told_when_it_is_used(by_place, code, place, message):
    plugins, module = by_place(code, place)
    assert not plugins.broken
    with pytest.raises(PluginError) as raised:
        plugins.reranker("length").options({})
    assert message in str(raised.value).replace(module, "ranker")
    assert "plugin 'placed' (irplatform-placed 1.5)" in str(raised.value)
    assert plugins.reranker("length").broken == str(raised.value)


def test_defaults_are_checked_with_the_class(by_place):
    plugins, _ = by_place(size=3)
    assert "'size'" in plugins.reranker("length").broken


@pytest.mark.parametrize("place", ["", "ranker", "ranker:", "ranker.Length", "a b:Length", ":L"])
def test_a_text_that_is_no_place_breaks_the_plugin(by_place, place):
    plugins, _ = by_place(place=place)
    assert "write a class, or its place as 'package.module:Class'" in plugins.broken[0].error


def test_every_system_of_ours_is_sound():
    plugins = registry()
    for table in (plugins.rerankers, plugins.retrievers, plugins.features):
        assert [registration.broken for registration in table.values() if registration.broken] == []
    # Nor does a module that was imported meanwhile take the place of an object with hooks.
    assert [plugin.wrong for plugin in registry.__wrapped__().plugins if plugin.wrong] == []
