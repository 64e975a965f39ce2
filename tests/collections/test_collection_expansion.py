"""A collection can say how its queries are expanded; what the user says goes before it."""

from dataclasses import replace

import pytest

from irplatform.choices import choose_systems, with_expansion_of
from irplatform.collections.toml import open_toml
from irplatform.errors import InputError
from irplatform.knowledge import add
from irplatform.registry import registry

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
    return open_toml(path)


def _bm25(collection, **settings):
    given = with_expansion_of(collection, registry(), ["bm25"], settings)
    ((choice,), _) = choose_systems(registry(), ["bm25"], [], given)
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
    whole = _bm25(collection, **{"bm25.plan": {"gene": {"weight": 2.0}}})
    assert whole.plan.gene.title == usual.plan.gene.title
    assert _bm25(collection, **{"bm25.expand": []}) == usual
    assert list(_bm25(collection, expand=["other"]).expand) == ["other"]


def test_retrievers_that_cannot_expand_search_as_usual(collection):
    assert with_expansion_of(collection, registry(), ["rm3"], {"k1": 2}) == {"k1": 2}


def test_a_knowledge_base_that_is_not_installed_is_named(collection):
    with pytest.raises(InputError, match=r"'pm' wants its queries expanded.*'absent'"):
        _bm25(replace(collection, expand=("absent",)))


@pytest.mark.parametrize(
    ("line", "plan", "message"),
    [
        ('plan = "nowhere.toml"', "", r"\[topics\] plan: there is no file .*nowhere.toml"),
        ('plan = "plan.toml"', "[gene]\nwieght = 1", r"plan.toml.*'gene.wieght'"),
        ('plan = "plan.toml"', "[gene", "plan.toml: not a TOML file"),
        ('expand = "mesh"', "", r"\[topics\] 'expand' cannot be 'mesh'"),
        ('expnd = ["mesh"]', "", r"'expnd' is unknown. Did you mean 'expand'"),
    ],
)
def test_mistakes_are_explained(toml_collection, declaration, line, plan, message):
    path = toml_collection(declaration.replace("[topics]\n", f"[topics]\n{line}\n"))
    (path.parent / "plan.toml").write_text(plan)
    with pytest.raises(InputError, match=message):
        open_toml(path)
