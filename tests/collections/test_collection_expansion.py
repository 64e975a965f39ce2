"""A collection can say how its queries are expanded; what the user says takes precedence."""

from dataclasses import replace

import pytest

from irplatform.collections.names import open_path
from irplatform.errors import InputError
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.systems import choose_systems, expanded_for, with_expansion_of
from irplatform.knowledge import add, remove
from irplatform.registry.loading import registry
from irplatform.registry.lookup import Registry
from irplatform.tuning import tune as tuning
from irplatform.tuning.tune import TuneSettings

NAMES = "id\tname\tkind\tsynonyms\nX:1\tmelanoma\tdisease\tmalignant melanoma\n"


@pytest.fixture
def collection(toml_collection, declaration, fresh_home, tmp_path):
    """It wants its queries expanded with `mine`, which is installed, and a plan of its own."""
    (tmp_path / "mine.tsv").write_text(NAMES)
    add("mine", [tmp_path / "mine.tsv"])
    path = toml_collection(
        declaration.replace("[topics]\n", '[topics]\nexpand = ["mine"]\nplan = "plan.toml"\n')
    )
    (path.parent / "plan.toml").write_text("[gene]\nweight = 3.0\ntitle = 0.25\n")
    return open_path(path)


def _bm25(collection, **settings):
    options = with_expansion_of(collection, registry(), ["bm25"], settings)
    ((choice,), _) = choose_systems(registry(), ["bm25"], [], options)
    return choice.options


def test_queries_are_expanded_as_the_collection_says(collection):
    options = _bm25(collection)
    assert list(options.expand) == ["mine"]
    assert (options.plan.gene.weight, options.plan.gene.title) == (3.0, 0.25)
    assert collection.metadata["expanded with"] == "mine"


def test_the_user_goes_before_the_collection(collection):
    usual = choose_systems(registry(), ["bm25"], [], {})[0][0].options
    part = _bm25(collection, **{"bm25.plan.gene.weight": 2.0})
    assert (part.plan.gene.weight, part.plan.gene.title) == (2.0, 0.25)
    options = _bm25(collection, **{"bm25.plan": {"gene": {"weight": 2.0}}})
    assert options.plan.gene.title == usual.plan.gene.title
    assert _bm25(collection, **{"bm25.expand": []}) == usual
    assert list(_bm25(collection, expand=["other"]).expand) == ["other"]


def test_retrievers_that_cannot_expand_search_as_usual(collection):
    assert with_expansion_of(collection, registry(), ["rm3"], {"k1": 2}) == {"k1": 2}


def test_a_knowledge_base_that_is_not_installed_is_named(collection):
    with pytest.raises(InputError, match=r"'pm' wants its queries expanded.*'absent'"):
        _bm25(replace(collection, expand=("absent",)))


@pytest.fixture
def plain(collection):
    """It says nothing of expansion; `mine` is installed."""
    return replace(collection, expand=(), plan={})


def _searched(collection, rerankers, retrievers=("bm25",), **settings):
    """Per retriever, the knowledge bases that it expands with for some rerankers."""
    options = with_expansion_of(collection, registry(), retrievers, settings)
    choices, rerankers = choose_systems(registry(), retrievers, rerankers, options)
    stages = expanded_for(rerankers, choices, collection, options)
    return {choice.name: getattr(choice.options, "expand", None) for choice in stages}


def test_rerankers_that_are_made_for_expanded_queries_get_them(plain, capsys):
    assert _searched(plain, ["graphene"], ["bm25", "rm3"]) == {"bm25": ("mine",), "rm3": None}
    assert "graphene: queries are expanded with mine. expand=" in capsys.readouterr().err
    assert _searched(plain, ["graphene", "graphene-nograph"]) == {"bm25": ("mine",)}
    assert _searched(plain, ["drmm"]) == _searched(plain, []) == {"bm25": ()}
    assert capsys.readouterr().err.count("expanded with") == 1


def test_no_other_rerankers_first_stage_is_changed(plain, capsys):
    assert _searched(plain, ["drmm", "graphene"]) == {"bm25": ()}
    notice = capsys.readouterr().err
    assert "graphene: made for expanded queries, but drmm would have another first stage" in notice


def test_what_the_user_or_the_collection_says_is_not_changed_for_a_reranker(
    plain, collection, capsys
):
    assert _searched(plain, ["graphene"], **{"bm25.expand": []}) == {"bm25": ()}
    assert _searched(plain, ["graphene"], expand=["other"]) == {"bm25": ("other",)}
    assert list(_searched(collection, ["graphene", "drmm"])["bm25"]) == ["mine"]
    assert capsys.readouterr().err == ""


def test_topics_without_disease_or_gene_are_searched_by_their_words(plain):
    topics = [replace(topic, fields={"mesh": ("Melanoma",)}) for topic in plain.load_topics()]
    assert _searched(replace(plain, load_topics=lambda: topics), ["graphene"]) == {"bm25": ()}


def test_without_knowledge_bases_nothing_is_expanded(plain):
    remove("mine")
    assert _searched(plain, ["graphene"]) == {"bm25": ()}


@pytest.mark.parametrize(
    ("line", "plan", "message"),
    [
        ('plan = "nowhere.toml"', "", r"\[topics\] plan: there is no file .*nowhere.toml"),
        ('plan = "plan.toml"', "[gene]\nwieght = 1", r"plan.toml.*'gene.wieght'"),
        ('plan = "plan.toml"', "[gene", "plan.toml: this is not TOML"),
        ('expand = "mesh"', "", r"\[topics\] 'expand' cannot be 'mesh'"),
        ('expnd = ["mesh"]', "", r"unknown key 'expnd'. Did you mean 'expand'"),
    ],
)
def test_mistakes_are_explained(toml_collection, declaration, line, plan, message):
    path = toml_collection(declaration.replace("[topics]\n", f"[topics]\n{line}\n"))
    (path.parent / "plan.toml").write_text(plan)
    with pytest.raises(InputError, match=message):
        open_path(path)


def test_options_are_tuned_with_the_queries_that_a_run_would_have(plain, monkeypatch):
    options = {}

    def stop(plugins, retrievers, rerankers, system_settings, over, said, preset):
        options.update(system_settings)
        raise InputError("far enough")

    monkeypatch.setattr(tuning, "read_space", stop)
    monkeypatch.setattr(Registry, "collection", lambda self, name: plain)
    with pytest.raises(InputError, match="far enough"):
        tuning.tune(RunSettings("pm", rerankers=("graphene",)), TuneSettings(("x=1",)))
    assert options["bm25.expand"] == ["mine"]
