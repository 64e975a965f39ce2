"""Names of plugins and systems: which one has them, and which plugins are selected."""

from importlib import metadata

import pytest
from strangers import GOOD

from irplatform.errors import InputError
from irplatform.registry.loading import load, registry


def test_a_name_belongs_to_the_plugin_that_came_first(install):
    plugins = load((*install("a", GOOD), *install("b", GOOD)))
    assert plugins.rerankers["length"].plugin.name == "a"
    (broken,) = plugins.broken
    assert broken.name == "b"
    assert "reranker 'length' is registered by plugin 'a' (" in broken.error


@pytest.mark.parametrize(
    ("selection", "distributions", "refused"),
    [
        ("", ["irplatform-a"], ["irplatform-b"]),
        ("shelf", ["irplatform-a"], ["irplatform-b"]),
        ("-shelf", [], []),
    ],
)
def test_of_two_plugins_with_one_name_both_are_named(install, selection, distributions, refused):
    other = GOOD.replace('"length"', '"other-length"')
    points = (*install("b", other, called="shelf"), *install("a", GOOD, called="shelf"))
    plugins = load(points, selection)
    assert [p.distribution for p in plugins.plugins if not p.error] == distributions
    assert [p.distribution for p in plugins.broken] == refused
    for plugin in plugins.broken:
        assert str(plugin) == "plugin 'shelf' (irplatform-b 1.5)"
        assert plugin.error.startswith("plugin 'shelf' (irplatform-a 1.5) has this name, too. ")


def test_no_stranger_takes_the_name_of_what_comes_with_the_platform(install):
    points = [e for e in metadata.entry_points(group="irplatform") if e.name == "ltr"]
    plugins = load((*install("a-stranger", GOOD.replace('"length"', '"ltr"')), *points))
    (broken,) = plugins.broken
    assert broken.name == "a-stranger"
    assert "reranker 'ltr' is registered by plugin 'ltr' (irplatform " in broken.error


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        ("", ["a", "b", "c"]),
        ("a", ["a"]),
        ("a, c", ["a", "c"]),
        ("-b", ["a", "c"]),
        ("a,b,-b", ["a"]),
        ("none", []),
    ],
)
def test_plugins_are_selected_by_name(install, selection, names):
    points = [
        point
        for name in "abc"
        for point in install(name, GOOD.replace('"length"', f'"length-{name}"'))
    ]
    assert [plugin.name for plugin in load(points, selection).plugins] == names


def test_selecting_a_plugin_that_is_not_there_is_an_error(install):
    points = install("lucent", GOOD)
    with pytest.raises(InputError, match=r"unknown plugin 'lucene'. Did you mean 'lucent'\?"):
        load(points, "lucene")
    assert load(points, "-lucene").plugins  # leaving it out is done already


def test_the_environment_selects_plugins(monkeypatch):
    monkeypatch.setenv("IRPLATFORM_PLUGINS", "lucene")
    registry.cache_clear()
    try:
        plugins = registry()
        assert [plugin.name for plugin in plugins.plugins] == ["lucene"]
        assert "bm25" in plugins.retrievers
        assert plugins.rerankers == {}
    finally:
        monkeypatch.undo()
        registry.cache_clear()


def test_an_unknown_name_is_answered_with_the_nearest(install):
    plugins = load((*install("good", GOOD), *install("broken", "import not_there")))
    with pytest.raises(InputError, match=r"unknown reranker 'lenght'. Did you mean 'length'\?"):
        plugins.reranker("lenght")
    with pytest.raises(InputError, match=r"plugin 'broken' \(irplatform-broken 1.5\) could not be"):
        plugins.reranker("zzz")
    with pytest.raises(InputError, match="unknown retriever 'bm25'"):
        plugins.retriever("bm25")
