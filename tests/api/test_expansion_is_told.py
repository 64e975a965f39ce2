"""Whatever expands queries, features are told of it: named, or chosen by the reranker itself."""

import pytest

from irplatform.api import RunSettings
from irplatform.api.systems import resolve_learning_systems
from irplatform.knowledge import add
from irplatform.registry import registry

OWN = "id\tname\tkind\tsynonyms\tparents\txrefs\nX:1\tmelanoma\tdisease\t\t\t\n"


@pytest.fixture
def knowledge_base(fresh_home, tmp_path):
    (tmp_path / "own.tsv").write_text(OWN)
    add("own", [tmp_path / "own.tsv"])


@pytest.mark.usefixtures("knowledge_base")
@pytest.mark.parametrize("settings", [{}, {"expand": ["own"]}])
def test_features_know_what_queries_are_expanded_with(settings):
    given = RunSettings("demo", rerankers=["graphene"], settings=settings)
    systems = resolve_learning_systems(given, registry())
    assert systems.retrievers[0].options.expand == ("own",)
    (choice,) = systems.rerankers
    assert choice.options.feature_settings["concepts"] == {"knowledge": ["own"]}


@pytest.mark.usefixtures("knowledge_base")
def test_without_expansion_they_are_told_nothing():
    given = RunSettings("demo", rerankers=["graphene"], settings={"expand": []})
    (choice,) = resolve_learning_systems(given, registry()).rerankers
    assert choice.options.feature_settings == {}
