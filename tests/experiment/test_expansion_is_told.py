"""Whatever expands queries, features are told of it: named, or chosen by the reranker itself."""

import pytest

from irplatform import RunSettings, search
from irplatform.errors import InputError
from irplatform.experiment.plan import resolve_learning_systems
from irplatform.knowledge import add
from irplatform.registry.loading import registry

OWN = "id\tname\tkind\tsynonyms\tparents\txrefs\nX:1\tmelanoma\tdisease\t\t\t\n"


@pytest.fixture
def knowledge_base(fresh_home, tmp_path):
    (tmp_path / "own.tsv").write_text(OWN)
    add("own", [tmp_path / "own.tsv"])


@pytest.mark.usefixtures("knowledge_base")
@pytest.mark.parametrize(
    "options",
    [{}, {"settings": {"expand": ["own"]}}, {"expand": "own"}, {"expand": ["own", "own"]}],
)
def test_features_know_what_queries_are_expanded_with(options):
    settings = RunSettings("demo", rerankers=["graphene-features"], **options)
    systems = resolve_learning_systems(settings, registry())
    assert systems.retrievers[0].options.expand == ("own",)
    (choice,) = systems.rerankers
    assert choice.options.feature_settings["concepts"] == {"knowledge": ["own"]}


@pytest.mark.usefixtures("knowledge_base")
@pytest.mark.parametrize("options", [{"settings": {"expand": []}}, {"expand": "none"}])
def test_without_expansion_they_are_told_nothing(options):
    settings = RunSettings("demo", rerankers=["graphene-features"], **options)
    (choice,) = resolve_learning_systems(settings, registry()).rerankers
    assert choice.options.feature_settings == {}


@pytest.mark.usefixtures("knowledge_base")
def test_a_query_plan_is_read_and_an_option_of_the_retriever_goes_first(tmp_path, capsys):
    (tmp_path / "plan.toml").write_text("[text]\nphrase = 2.5\n")
    settings = RunSettings(
        "demo",
        first_stages="bm25+qld",
        expand="own",
        query_plan=tmp_path / "plan.toml",
        settings={"bm25.plan.text.weight": 3.0},
    )
    bm25, _ = resolve_learning_systems(settings, registry()).retrievers
    assert (bm25.options.expand, bm25.options.plan.text.phrase) == (("own",), 2.5)
    assert bm25.options.plan.text.weight == 3.0
    assert "expand=: not with qld, which cannot expand queries." in capsys.readouterr().err


@pytest.mark.usefixtures("knowledge_base")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"expand": ["mseh"]}, "mseh"),
        ({"expand": 3}, "expand is 3; it must be a name or a list of names."),
        ({"expand": "own", "query_plan": "none.toml"}, "none.toml: there is no such file"),
        ({"query_plan": "plan.toml"}, "query_plan= has no effect without expand=KB"),
        ({"expand": "none", "query_plan": "plan.toml"}, "has no effect without expand="),
        ({"expand": "own", "first_stages": "qld"}, "qld cannot expand queries"),
        ({"expand": "own", "first_stages": "x.run"}, "expand='own' has no effect without rera"),
    ],
)
def test_an_expansion_that_cannot_be_is_refused(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.run").write_text("1 Q0 a 1 1 x\n")
    with pytest.raises(InputError, match=message):
        resolve_learning_systems(RunSettings("demo", **options), registry())


@pytest.mark.java
@pytest.mark.usefixtures("knowledge_base")
def test_a_search_expands_a_query():
    answer = search("demo", query="melanoma", expand="own", explain=True)
    assert answer["explanation"]["parts"][0]["text"] == "melanoma"
    assert answer["hits"]
