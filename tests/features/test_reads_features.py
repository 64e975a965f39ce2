"""What rerankers say whose options name groups of features."""

from types import SimpleNamespace

import pytest

from irplatform.registry.loading import registry

RERANKERS = ("delta", "graphene-features")


def _made(name, **settings):
    held = registry().reranker(name)
    return held.system, held.options(settings)


@pytest.mark.parametrize("name", RERANKERS)
def test_features_read_what_queries_are_expanded_with_unless_options_say_otherwise(name):
    own = {"genes": {"knowledge": ["hgnc"]}}
    system, options = _made(name, features=["concepts", "genes", "lexical"], feature_settings=own)
    expanded = system(options).expanding(("mesh", "hgnc"))
    assert expanded.feature_settings == {**own, "concepts": {"knowledge": ["mesh", "hgnc"]}}
    assert expanded == options.model_copy(update={"feature_settings": expanded.feature_settings})
    assert options.feature_settings == own


@pytest.mark.parametrize("name", RERANKERS)
def test_the_checkpoints_of_its_features_are_its_own(name, tmp_path):
    settings = {"checkpoints": {"folders": [str(tmp_path)]}}
    system, options = _made(name, features=["checkpoints"], feature_settings=settings)
    assert system(options).checkpoints() == (tmp_path,)


@pytest.mark.parametrize("name", RERANKERS)
def test_it_depends_on_what_its_features_do(name, monkeypatch):
    monkeypatch.setattr("irplatform.knowledge.installed", lambda: {"mesh": None})
    monkeypatch.setattr(
        "irplatform.knowledge.open_knowledge", lambda names: SimpleNamespace(fingerprint="abc")
    )
    monkeypatch.setattr("irplatform.concepts.build.graph_identity", lambda options: "graph")
    system, options = _made(name, features=["concepts"])
    assert system(options).depends_on()["knowledge"] == "abc"
