"""From names and settings to systems: every setting reaches whom it is meant for, or is refused."""

from dataclasses import replace
from typing import Literal

import pytest
from small import PLUGIN

from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems
from irplatform.plugin import Options, Retriever
from irplatform.registry.loading import registry
from irplatform.registry.lookup import Registry
from irplatform.registry.registration import Registration
from irplatform.tuning.option_types import declarations


def _options(retrievers, rerankers, **settings):
    choices = choose_systems(registry(), retrievers, rerankers, settings)
    return {choice.name: choice.options for part in choices for choice in part}


def test_without_settings_all_have_their_defaults():
    options = _options(["bm25", "rm3"], ["delta", "delta-32"])
    assert (options["bm25"].k1, options["bm25"].b) == (0.9, 0.4)
    assert options["delta-32"].lexical == ()
    assert len(options["delta"].lexical) == 3


def test_a_setting_reaches_every_system_that_has_the_option():
    options = _options(["bm25", "rm3"], ["delta"], k1=1.5)
    assert options["bm25"].k1 == options["rm3"].k1 == 1.5


def test_names_of_systems_may_have_dots(monkeypatch):
    reranker = registry().reranker("bm25-text")
    dotted = replace(reranker, name="my.bm25")
    monkeypatch.setitem(registry().rerankers, "my.bm25", dotted)
    options = _options(["bm25"], ["my.bm25"], **{"my.bm25.k1": 1.5})
    assert (options["bm25"].k1, options["my.bm25"].k1) == (0.9, 1.5)
    (choice,) = choose_systems(registry(), (), ["my.bm25"], {})[1]
    assert [d.value for d in declarations([choice], "my.bm25.k1")] == [2.0]
    with pytest.raises(InputError, match=r"'k3' is not an option of reranker 'my\.bm25'"):
        _options(["bm25"], ["my.bm25"], **{"my.bm25.k3": 1.5})


def test_a_setting_with_a_name_reaches_that_system_only():
    options = _options(["bm25", "rm3"], ["delta", "delta-32"], **{"rm3.k1": 2, "delta.filters": 8})
    assert (options["bm25"].k1, options["rm3"].k1) == (0.9, 2)
    assert (options["delta"].filters, options["delta-32"].filters) == (8, 32)


@pytest.mark.parametrize(
    ("name", "option"),
    [("ltr", "settings"), ("graphene-features", "feature_settings")],
)
def test_features_read_the_knowledge_bases_that_queries_are_expanded_with(
    name, option, monkeypatch
):
    monkeypatch.setattr("irplatform.concepts.graph.ConceptGraph.identity", lambda options: "graph")
    expanded = _options(["bm25", "rm3"], [name], expand=["mesh", "hgnc"])[name]
    settings = getattr(expanded, option)
    assert settings["concepts"] == settings["query-parts"] == {"knowledge": ["mesh", "hgnc"]}
    assert "lexical" not in settings
    override = {f"{name}.{option}.concepts.knowledge": ["doid"]}
    settings = getattr(_options(["bm25"], [name], expand=["mesh"], **override)[name], option)
    assert (settings["concepts"], settings["genes"]) == (
        {"knowledge": ["doid"]},
        {"knowledge": ["mesh"]},
    )
    assert getattr(_options(["bm25"], [name])[name], option) == {}


def test_stacked_rerankers_read_them_too(monkeypatch):
    monkeypatch.setattr("irplatform.concepts.graph.ConceptGraph.identity", lambda options: "graph")
    stacked = {"ltr.stack": ["graphene-features", "drmm"], "expand": ["mesh"]}
    key = "ltr.settings.stack.settings.graphene-features.feature_settings.genes.knowledge"
    stack = _options(["bm25"], ["ltr"], **stacked, **{key: ["hgnc"]})["ltr"].settings["stack"]
    assert set(stack["settings"]) == {"graphene-features"}
    features = stack["settings"]["graphene-features"]["feature_settings"]
    assert features["concepts"] == {"knowledge": ["mesh"]}
    assert features["genes"] == {"knowledge": ["hgnc"]}


def test_a_part_of_an_option_is_set_and_the_other_parts_stay():
    usual = _options(["bm25"], ["delta"])["delta"].loop
    loop = _options(["bm25"], ["delta"], **{"loop.epochs": 3, "delta.loop.patience": 2})[
        "delta"
    ].loop
    assert (loop.epochs, loop.patience) == (3, 2)
    assert loop.batch_size == usual.batch_size


def test_settings_are_left_as_they_were():
    settings = {"delta.loop": {"patience": 2}, "delta.loop.epochs": 3}
    loop = _options(["bm25"], ["delta"], **settings)["delta"].loop
    assert (loop.epochs, loop.patience) == (3, 2)
    assert settings == {"delta.loop": {"patience": 2}, "delta.loop.epochs": 3}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"filter": 3}, r"'filter' is not an option of bm25, delta. Did you mean 'filters'\?"),
        (
            {"delta.epochs": 3},
            r"'epochs' is not an option of reranker 'delta'. Did you mean 'loop.epochs'\?",
        ),
        ({"epochs": 3}, r"'epochs' is not an option of bm25, delta. Did you mean 'loop.epochs'\?"),
        (
            {"loop.epoch": 3},
            r"'loop.epoch' is not an option of reranker 'delta'. Did you mean 'loop.epochs'\?",
        ),
        ({"delta.filter": 3}, r"Did you mean 'filters'\?"),
        (
            {"dleta.filters": 3},
            r"'dleta.filters' is not an option of bm25, delta. Did you mean 'filters'\?",
        ),
        ({"delta": 3}, "'delta' is not an option of bm25, delta"),
        ({"delta.": 3}, "'' is not an option of reranker 'delta'"),
        ({"delta.filter": 3}, "'filter' is not an option of reranker 'delta'"),
        ({"ltr.foo": 3}, "'ltr.foo' has no effect: the reranker 'ltr' is not in this run"),
        ({"rm3.k1": 3}, "'rm3.k1' has no effect: the retriever 'rm3' is not in this run"),
        ({"dual-encoder.x": 3}, "the retriever or reranker 'dual-encoder' is not in this run"),
        ({"filters": "many"}, "option 'filters' of reranker 'delta' cannot be 'many'"),
        ({"k1": -1}, "option 'k1' of retriever 'bm25' cannot be -1"),
        ({"loop": 3}, "option 'loop' of reranker 'delta' cannot be 3"),
        ({"loop": 3, "loop.epochs": 2}, "'loop' cannot be set both as a whole and by"),
        ({"filters.x": 3}, "option 'filters' of reranker 'delta' cannot be"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        choose_systems(registry(), ["bm25"], ["delta"], settings)


def test_a_retriever_and_a_reranker_of_one_name_are_named_once():
    with pytest.raises(InputError, match=r"^'colour' is not an option of dual-encoder, delta\."):
        rerankers = ["dual-encoder", "delta"]
        choose_systems(registry(), ["dual-encoder"], rerankers, {"colour": 3})


class _Optional(Options):
    limit: int | None = 5
    name: str | None = None
    mode: Literal["none", "all"] | None = "all"
    size: int = 1


def test_none_unsets_an_option_that_may_be_unset():
    class Finder(Retriever):
        Options = _Optional

    plugins = Registry()
    plugins.retrievers["finder"] = Registration("finder", "retriever", Finder, {}, PLUGIN)

    def options(**settings):
        return choose_systems(plugins, ["finder"], [], settings)[0][0].options

    assert options(limit="none").limit is None
    assert options(**{"finder.name": "none"}).name is None
    assert options(mode="none").mode == "none"  # a value of its own
    with pytest.raises(InputError, match="option 'size' of retriever 'finder' cannot be 'none'"):
        options(size="none")


def test_an_option_like_no_other_is_answered_with_some_and_where_all_are():
    with pytest.raises(InputError) as refusal:
        choose_systems(registry(), ["bm25"], ["delta"], {"zzzzzzzz": 1})
    message = str(refusal.value)
    assert "Known: " in message
    assert "`platform retrievers show bm25` or `platform rerankers show delta`" in message


def test_a_system_is_named_once():
    with pytest.raises(InputError, match="reranker 'delta' is named twice"):
        choose_systems(registry(), ["bm25"], ["delta", "delta"], {})
    with pytest.raises(InputError, match="retriever 'bm25' is named twice"):
        choose_systems(registry(), ["bm25", "bm25"], [], {})


def test_unknown_systems_are_answered_with_the_nearest():
    with pytest.raises(InputError, match=r"unknown reranker 'dleta'. Did you mean 'delta'\?"):
        choose_systems(registry(), ["bm25"], ["dleta"], {})
    with pytest.raises(InputError, match=r"unknown retriever 'bm52'. Did you mean 'bm25'\?"):
        choose_systems(registry(), ["bm52"], [], {})


def test_a_retriever_and_a_reranker_may_have_the_same_name():
    class Searched(Options):
        depth: int = 1
        shared: int = 1

    class Scored(Options):
        width: int = 1
        shared: int = 1

    def registered(kind, options):
        system = type("System", (Retriever,), {"Options": options})
        return Registration("same", kind, system, {}, PLUGIN)

    plugins = Registry(
        retrievers={"same": registered("retriever", Searched)},
        rerankers={"same": registered("reranker", Scored)},
    )
    settings = {"same.depth": 2, "same.width": 3, "same.shared": 4}
    (retriever,), (reranker,) = choose_systems(plugins, ["same"], ["same"], settings)
    assert retriever.options == Searched(depth=2, shared=4)
    assert reranker.options == Scored(width=3, shared=4)
    with pytest.raises(InputError, match="Did you mean 'depth'"):
        choose_systems(plugins, ["same"], ["same"], {"same.deepth": 2})


def test_a_system_of_the_other_kind_is_told_where_it_belongs():
    with pytest.raises(InputError, match="'rm3' is a retriever, not a reranker: name it with"):
        choose_systems(registry(), ["bm25"], ["rm3"], {})
    with pytest.raises(InputError, match="'delta' is a reranker, not a retriever: name it with"):
        choose_systems(registry(), ["delta"], [], {})
