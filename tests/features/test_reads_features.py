"""What rerankers say whose options name groups of features."""

from types import SimpleNamespace

import pytest
from checkpoints import described
from small import chosen

RERANKERS = ("delta", "graphene-features")


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.setattr("irplatform.concepts.graph.ConceptGraph.identity", lambda options: "graph")


@pytest.mark.parametrize("name", RERANKERS)
def test_features_read_what_queries_are_expanded_with_unless_options_say_otherwise(name):
    settings = {"genes": {"knowledge": ["hgnc"]}}
    features = ["concepts", "genes", "lexical"]
    choice = chosen(name, features=features, feature_settings=settings)
    expanded, options = choice.with_knowledge(("mesh", "hgnc")), choice.options
    assert expanded.feature_settings == {**settings, "concepts": {"knowledge": ["mesh", "hgnc"]}}
    assert expanded == options.model_copy(update={"feature_settings": expanded.feature_settings})
    assert options.feature_settings == settings


@pytest.mark.parametrize("name", RERANKERS)
def test_the_checkpoints_of_its_features_are_its_own(name, tmp_path):
    folder = described(tmp_path / "held", "delta")
    settings = {"checkpoints": {"folders": [str(folder)]}}
    choice = chosen(name, features=["checkpoints"], feature_settings=settings)
    assert choice.checkpoints() == (folder,)


@pytest.mark.parametrize("name", RERANKERS)
def test_it_depends_on_what_its_features_do(name, monkeypatch):
    monkeypatch.setattr("irplatform.knowledge.installed", lambda: {"mesh": None})
    monkeypatch.setattr(
        "irplatform.knowledge.open_knowledge", lambda names: SimpleNamespace(fingerprint="abc")
    )
    assert chosen(name, features=["concepts"]).describe_reads()["knowledge"] == "abc"
