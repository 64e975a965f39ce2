"""Rerankers that say what they are pre-trained on: where it holds, and what is trained then."""

import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest
from concept_data import Articles
from small import registration

from irplatform.collection_resources import CollectionResources
from irplatform.errors import InputError
from irplatform.experiment.learning import check_pretraining, declared_pretraining, pretraining_set
from irplatform.experiment.systems import choose_systems
from irplatform.plugin import (
    Field,
    Options,
    PairsFile,
    Reads,
    Reranker,
    Topic,
    TrainableReranker,
    Traits,
)
from irplatform.registry.loading import registry
from irplatform.reranking.sending import can_be_sent
from irplatform.reranking.systems import ChosenReranker
from irplatform.reranking.training import Member
from irplatform.reranking.training_set import LearningPlan, TrainingSet


class SizeOptions(Options):
    """Options of which pre-training heeds one."""

    size: int = Field(1, description="of the network")
    epochs: int = Field(1, description="after pre-training")


class Declaring(TrainableReranker):
    """Is pre-trained on MeSH-term queries unless told otherwise."""

    Options = SizeOptions

    def traits(self):
        return Traits(
            pretraining="mesh",
            shares_pretraining="eager",
            pretraining_options=self.options.model_copy(update={"epochs": 9}),
        )


class Silent(TrainableReranker):
    """Says nothing of pre-training."""


def _choice(kind, name="ranker"):
    reranker = registration(kind, name)
    return ChosenReranker(reranker, reranker.options({}))


def _collection(*, headings):
    corpus = Articles()
    corpus.fields = ("mesh",) if headings else ()
    return SimpleNamespace(id="some", corpus=corpus)


def test_mesh_is_what_a_declaring_reranker_is_pretrained_on_where_there_are_headings(capsys):
    def declared(choices, *, headings):
        collection = _collection(headings=headings)
        return declared_pretraining(collection, choices, lambda name: name)

    choices = [_choice(Silent), _choice(Declaring, "eager")]
    assert declared(choices, headings=True) == "mesh"
    assert declared(choices[:1], headings=True) is None
    assert capsys.readouterr().err == ""
    assert declared(choices, headings=False) is None
    assert "eager: not pre-trained" in capsys.readouterr().err


def test_too_few_headings_are_refused_only_where_somebody_asks_for_them(capsys, fresh_home):
    corpus = Articles()
    corpus.fields = ("mesh",)
    collection = SimpleNamespace(id="some", corpus=corpus)
    resources = CollectionResources(corpus, "cpu", seed=1, threads=1)

    def learned(name):
        arguments = (collection, registry(), (), resources, None)
        return pretraining_set(name, *arguments, queries=10)

    choices = [_choice(Declaring, "eager")]
    assert declared_pretraining(collection, choices, learned) is None
    output = capsys.readouterr().err
    assert "eager: not pre-trained, since" in output
    assert "with 3 or more MeSH headings" in output
    with pytest.raises(InputError, match="with 3 or more MeSH headings"):
        learned("mesh")


def test_only_those_that_declare_it_learn_from_what_was_declared():
    pretraining, declared = TrainingSet("asked", []), TrainingSet("declared", [])
    learning = LearningPlan(declared=declared)
    assert learning.pretraining_of(_choice(Declaring)) is declared
    assert learning.pretraining_of(_choice(Silent)) is None
    assert learning.pretraining_of(_choice(Reranker)) is None
    learning = LearningPlan(pretraining=pretraining)
    assert learning.pretraining_of(_choice(Declaring)) is pretraining
    assert learning.pretraining_of(_choice(Silent)) is pretraining


@pytest.mark.parametrize("kind", [Silent, Reranker])
def test_pretraining_is_done_with_the_options_that_it_heeds(kind):
    assert _choice(Declaring).in_pretraining().options == SizeOptions(size=1, epochs=9)
    assert _choice(kind).in_pretraining().options == _choice(kind).options


def test_pretraining_makes_one_model():
    assert _choice(Silent).members > _choice(Silent).in_pretraining().members == 1


def test_variants_share_one_pretraining():
    first, second = (_choice(Declaring, name).in_pretraining() for name in ("eager", "eager-two"))
    assert first.describe() == second.describe()


@pytest.mark.parametrize("name", ["graphene", "graphene-features", "graphene-nograph"])
def test_what_variants_share_can_be_trained_in_other_processes(name, monkeypatch):
    monkeypatch.setattr("irplatform.concepts.graph.ConceptGraph.identity", lambda options: "graph")
    reranker = registry().reranker(name)
    choice = ChosenReranker(reranker, reranker.options({})).in_pretraining()
    resources = CollectionResources(Articles(), "cpu", seed=1, threads=1)
    assert can_be_sent(choice, resources)
    assert not can_be_sent(_choice(Declaring, name), resources), "another class of that name"


def test_so_can_a_class_that_a_function_made(monkeypatch, tmp_path):
    """Its name leads nowhere; what the other process has registered does."""
    reranker = registration(type("Made", (Silent,), {"__qualname__": "make.<locals>.Made"}), "made")
    monkeypatch.setitem(registry().rerankers, "made", reranker)
    choice = ChosenReranker(reranker, reranker.options({}))
    resources = CollectionResources(Articles(), "cpu", seed=1, threads=1)
    assert can_be_sent(choice, resources)
    packed = Member(choice, (), resources, 0, tmp_path, None).packed(threads=1)
    assert pickle.loads(pickle.dumps(packed)).loaded().choice == choice


def test_none_asks_for_no_pretraining():
    nothing = SimpleNamespace()
    check_pretraining("none", nothing, None, [], nothing)
    arguments = (nothing, nothing, [], nothing, nothing)
    assert pretraining_set("none", *arguments, queries=10) is None


def test_a_collection_to_pretrain_on_that_there_is_not_is_refused_before_any_work():
    with pytest.raises(InputError, match="nope"):
        check_pretraining("nope", _collection(headings=True), None, [_choice(Silent)], registry())


def test_the_test_topics_of_a_folder_are_not_pretrained_on_unasked(tmp_path):
    folder = tmp_path / "made"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d", "text": "a"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "a"}\n')
    for split in ("train", "test"):
        (folder / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")

    def check(name):
        check_pretraining(name, _collection(headings=True), None, [_choice(Silent)], registry())

    with pytest.raises(InputError, match=r"pretrain=.*made:train"):
        check(str(folder))
    with pytest.raises(InputError, match="platform headings"):
        check(f"{folder}:train")  # over other documents


def test_headings_are_asked_for_before_any_work():
    check = check_pretraining
    check("mesh", _collection(headings=True), None, [_choice(Silent)], registry())
    with pytest.raises(InputError, match="no field 'mesh' with MeSH headings"):
        check("mesh", _collection(headings=False), None, [_choice(Silent)], registry())


def test_a_number_of_queries_is_refused_where_none_are_drawn(tmp_path):
    def check(name, *kinds, checkpoint=None, queries=50, headings=True):
        check_pretraining(
            name,
            _collection(headings=headings),
            checkpoint,
            [_choice(kind) for kind in kinds],
            registry(),
            queries=queries,
        )

    check("mesh", Silent)
    check(None, Silent, Declaring)
    check(None, Declaring, headings=False)  # where a line says that nothing is drawn
    check(None, Silent, queries=10_000)
    for name, kinds in ((None, (Silent,)), (None, ()), ("none", (Declaring,)), ("demo", (Silent,))):
        with pytest.raises(InputError, match="pretrain_queries= has no effect without pretrain="):
            check(name, *kinds)
    with pytest.raises(InputError, match="pretrain_queries= has no effect without pretrain="):
        check(None, Declaring, checkpoint=tmp_path)


def test_a_reranker_that_cannot_be_pretrained_as_it_is_says_so_before_any_work():
    class Unwilling(Silent):
        def reads(self):
            return Reads(pairs=PairsFile(Path("pairs.tsv"), lambda topics: ()))

    with pytest.raises(InputError, match=r"pairs.tsv: pretrain= and pairs\.file exclude"):
        check_pretraining(
            "mesh", _collection(headings=True), None, [_choice(Unwilling)], registry()
        )


HEADINGS, OTHERS = {"mesh": ("A", "B")}, {"other": "A"}


@pytest.mark.parametrize(
    ("fields", "searched"),
    [
        ([HEADINGS, HEADINGS], ["bm25"]),
        ([HEADINGS, OTHERS], ["rm3"]),
        ([OTHERS], ["rm3"]),
        ([], ["rm3"]),
    ],
)
def test_topics_made_of_headings_are_searched_in_plain_words(monkeypatch, fields, searched):
    """Whatever the run's first stage is, which may search headings."""
    names = []
    candidates = SimpleNamespace(fused=lambda fusion: "found")
    monkeypatch.setattr("irplatform.experiment.learning.training_set", lambda *_: "learned from")
    monkeypatch.setattr(
        "irplatform.experiment.learning.training_candidates",
        lambda source, stage, *_: names.extend(r.name for r in stage.choices) or candidates,
    )
    source = _collection(headings=True)
    source.topics = [Topic(str(n), "a", values) for n, values in enumerate(fields)]
    plugins = registry()
    monkeypatch.setattr(type(plugins), "collection", lambda *_, **__: source)
    retrievers, _ = choose_systems(plugins, ("rm3",), (), {})
    result = pretraining_set(
        "some", _collection(headings=True), plugins, retrievers, None, None, queries=10
    )
    assert (result, names) == ("learned from", searched)
