"""What a program or a file registers is used like what a plugin registered."""

import pytest

import irplatform as ir
from irplatform.data import Collection
from irplatform.errors import InputError
from irplatform.registry.loading import registry
from irplatform.registry.session import load_plugin, name_of, register


class Longest(ir.Reranker):
    """Ranks longer documents first."""

    class Options(ir.Options):
        factor: float = ir.Field(1.0, description="of lengths")

    def score(self, topic, documents):
        return [len(document.text) * self.options.factor for document in documents]


class Holding(ir.Reranker):
    """Holds a table that is no option."""

    def __init__(self, table):
        super().__init__()
        self.table = table

    def score(self, topic, documents):
        return [self.table.get(document.id, 0) for document in documents]


class Nothing(ir.Retriever):
    """Finds nothing."""

    def retrieve(self, topics, depth, resources):
        return ir.Run("nothing", {topic.id: ir.Ranking.of((), ()) for topic in topics})


def test_a_context_registers_for_a_while():
    with register("longest", Longest, factor=2.0) as registered:
        assert registered.names == ("reranker longest",)
        assert registry().reranker("longest").options({}).factor == 2.0
        assert any(plugin.name == "longest" for plugin in registry().plugins)
    assert "longest" not in registry().rerankers
    assert not any(plugin.name == "longest" for plugin in registry().plugins)


def test_an_object_brings_its_options():
    with register("longest", Longest(factor=3)):
        reranker = registry().reranker("longest").create({})
    assert reranker.options.factor == 3.0


def test_copies_of_an_object_that_holds_more_are_used():
    table = {"a": 1}
    with register("holding", Holding(table)):
        registration = registry().reranker("holding")
        one, other = registration.create({}), registration.create({})
    assert one is not other
    assert one.table is table


def test_a_name_can_be_given_again_and_the_newer_thing_stays():
    first = register("again", Longest)
    with register("again", Holding({})):
        first.remove()  # it is not what has the name now
        assert registry().reranker("again").system is Holding
    assert "again" not in registry().rerankers


@pytest.mark.parametrize(
    ("name", "thing", "message"),
    [
        ("delta", Longest, "reranker 'delta' is registered by plugin 'delta'"),
        ("Big Name", Longest, "use lower-case letters"),
        ("three", 3, "'three' is 3, not a reranker"),
        ("int", int, "not a reranker"),
        ("base", ir.Reranker, "does not define score"),
        ("nDCG@5", lambda qrels, run: {}, "is, or begins as, a standard one"),
    ],
)
def test_what_cannot_be_registered_is_told(name, thing, message):
    before = {*registry().rerankers}, len(registry().plugins)
    with pytest.raises(InputError, match=message):
        register(name, thing)
    assert ({*registry().rerankers}, len(registry().plugins)) == before


def test_retrievers_collections_and_measures_are_told_apart():
    collection = Collection("mine", "Mine", ir.collection("demo").corpus, lambda: ())
    with (
        register("nothing", Nothing),
        register("mine", collection),
        register("loaded", lambda: collection),
        register("Found", lambda qrels, run: dict.fromkeys(qrels, 1.0)),
    ):
        assert "nothing" in registry().retrievers
        assert registry().collection("mine").title == "Mine"
        assert registry().collection("loaded").id == "mine"
        assert registry().collection_titles["mine"] == "Mine"
        run = ir.Run("r", {"1": ir.Ranking.of(["a"], [1.0])})
        scores = ir.evaluate(run, qrels={"1": {"a": 1}}, measures="Found")
        assert scores["r"].aggregate == {"Found": 1.0}
    assert "mine" not in registry().collections
    assert "mine" not in registry().collection_titles
    assert "Found" not in registry().measures


CLASSES = """
from irplatform import Reranker

class MyRanker(Reranker):
    '''Mine.'''
    def score(self, topic, documents):
        return [FACTOR] * len(documents)

class _Hidden(MyRanker): ...
FACTOR = 1.0
"""
HOOKS = """
from irplatform.plugin import Reranker, hookimpl

class One(Reranker):
    '''One.'''
    def score(self, topic, documents):
        return [1.0] * len(documents)

@hookimpl
def register_rerankers(register):
    register("number-one", One)
"""


@pytest.mark.parametrize(("code", "name"), [(CLASSES, "my-ranker"), (HOOKS, "number-one")])
def test_a_file_is_a_plugin(tmp_path, code, name):
    path = tmp_path / "my_plugin.py"
    path.write_text(code)
    with load_plugin(path) as loaded:
        assert loaded.names == (f"reranker {name}",)
        before = registry().reranker(name).code_facts
        assert (before["distribution"], before["version"]) == ("my_plugin.py", "")
        path.write_text(code.replace("1.0", "2.0"))
        with load_plugin(path):
            after = registry().reranker(name).code_facts
            assert after["source"] != before["source"]
    assert name not in registry().rerankers


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import nowhere_at_all", "No module named 'nowhere_at_all'"),
        ("x = 1", "no hooks, and no class"),
        ("def f(:", "my_plugin.py:1"),
        (HOOKS.replace("@hookimpl", ""), "will not be called without @hookimpl"),
        (HOOKS.replace("number-one", "delta"), "registered by plugin 'delta'"),
        (HOOKS.replace("register_rerankers", "register_reranker"), "Did you mean"),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path, code, message):
    path = tmp_path / "my_plugin.py"
    path.write_text(code)
    before = len(registry().plugins)
    with pytest.raises(InputError, match=message) as raised:
        load_plugin(path)
    assert "\n" not in str(raised.value)
    assert len(registry().plugins) == before
    with pytest.raises(InputError, match="no such file"):
        load_plugin(tmp_path / "none.py")


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("MyReranker", "my-reranker"),
        ("BM25F", "bm25-f"),
        ("LLMRanker", "llm-ranker"),
        ("a_b", "a-b"),
    ],
)
def test_a_class_gives_its_name(name, called):
    assert name_of(type(name, (), {})) == called


def test_options_are_given_by_name():
    assert Longest(factor=2).options.factor == 2.0
    with pytest.raises(InputError, match="Did you mean 'factor'"):
        Longest(facter=2)
    with pytest.raises(InputError, match="option 'factor' of Longest: it should be a number"):
        Longest(factor="much")
