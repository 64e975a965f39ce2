"""GRAPHENE as the harness sees it: its switches, its pre-training, its graph, its explanations."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from concept_data import ARTICLES, Articles
from graph_resources import graph_resources
from ltr_groups import NeedsYear
from planted import (
    planted_data,
    planted_topics,
    precision_at_1,
    saved,
    scores,
    subject_words,
)
from small import small_resources

from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import open_graph
from irplatform.errors import InputError
from irplatform.plugin import Topic, TrainingData
from irplatform.training import load_weights, save_weights
from irplatform_graphene import explaining
from irplatform_graphene.options import GrapheneOptions, for_pretraining
from irplatform_graphene.reading import DocumentLinks, refuse_another
from irplatform_graphene.reranker import Graphene
from irplatform_graphene.task import GrapheneTask, with_random_candidates

SMALL = {
    "projection": 8,
    "hidden": 8,
    "graph_width": 8,
    "vector": 16,
    "filters": 8,
    "document_words": 12,
    "decoder": {"vocabulary": 50, "hidden": 8},
    "loop": {
        "optimizer": "adam", "learning_rate": 0.01, "batch_size": 64, "epochs": 4, "patience": 4
    },
}  # fmt: skip


def _prepared(resources, **changed):
    reranker = Graphene(GrapheneOptions.model_validate({**SMALL, **changed}))
    reranker.prepare(resources)
    return reranker


def _fitted(resources, workspace, **changed):
    reranker = _prepared(resources, **changed)
    reranker.fit(planted_data(workspace))
    return reranker


@pytest.fixture(scope="module")
def resources(planted_graph):
    return planted_graph


@pytest.fixture(scope="module")
def fitted(resources, tmp_path_factory):
    return _fitted(resources, tmp_path_factory.mktemp("work"))


@pytest.mark.parametrize("changed", [{}, {"graph": False}, {"features": ("embedding",)}], ids=str)
def test_the_published_model_says_once_that_its_name_is_new(
    planted_graph, tmp_path, monkeypatch, changed
):
    told = []
    monkeypatch.setattr(type(planted_graph), "notice", lambda _, message: told.append(message))
    member = _fitted(planted_graph, tmp_path, **{**changed, "loop": {"epochs": 1}})
    precision_at_1(member, planted_graph)
    named = [message for message in told if "is called graphene-features" in message]
    assert len(set(named)) == (not changed)
    pretrained = Graphene(for_pretraining(member.options))
    told.clear()
    pretrained.prepare(planted_graph)
    precision_at_1(pretrained, planted_graph)
    assert not any("graphene-features" in message for message in told)


def test_a_checkpoint_of_the_former_name_is_refused(fitted, resources, tmp_path):
    fitted.save(tmp_path)
    (tmp_path / "graphene-features.safetensors").touch()
    with pytest.raises(InputError, match="train it again with --reranker graphene-features"):
        _prepared(resources).load(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"graph": False},
        {"reward": 1.0},
        {"decoder": {"on": False}},
        {"expansion": False},
        {"loss": "hinge", "shortcut": False, "normalized": False},
        {"layers": 2},
        {"links": "ones", "graph_l2": 5e-4},
        {"unjudged": "random", "train_words": True},
    ],
    ids=str,
)
def test_every_switch_learns(resources, tmp_path, changed):
    loop = {**SMALL["loop"], "epochs": 6}
    assert precision_at_1(_fitted(resources, tmp_path, loop=loop, **changed), resources) >= 0.9


def _loss(resources, folder, topics=(0, 1), **changed):
    """The loss of a first step over topics, without dropout."""
    member = _prepared(resources, **{"dropout": 0.0, "decoder": {"on": False}, **changed})
    folder.mkdir(exist_ok=True)
    data = TrainingData(planted_topics(topics), planted_topics([70]), folder)
    task = GrapheneTask(member.model, data, 1, encoder=True)
    return task.loss(next(iter(task.batches(1)))).item()


def test_relevant_documents_are_compared_with_those_of_other_topics(resources, tmp_path):
    with_others, without = (_loss(resources, tmp_path, others=count) for count in (8, 0))
    assert with_others > without
    alone = [_loss(resources, tmp_path, [0], others=count) for count in (8, 0)]
    assert alone[0] == alone[1]


def test_titles_have_their_share_of_the_loss(resources, tmp_path):
    weighted = [
        _loss(resources, tmp_path, decoder={**SMALL["decoder"], "weight": weight})
        for weight in (0, 0.25, 1)
    ]
    assert weighted[0] == pytest.approx(_loss(resources, tmp_path))
    assert weighted[1] == pytest.approx(0.75 * weighted[0] + 0.25 * weighted[2])
    assert weighted[2] > 1  # a guess among 51 symbols costs ln 51


def test_links_of_a_document_weigh_1_or_add_up_to_1(resources):
    weights = {}
    for kind in ("shares", "ones"):
        links = _prepared(resources, links=kind).model.concepts.links(np.arange(20))
        parts = np.split(links.weights, links.offsets[1:-1])
        weights[kind] = [float(part.sum()) for part in parts]
    counts = np.diff(links.offsets)
    np.testing.assert_allclose(weights["shares"], np.minimum(counts, 1), rtol=1e-6)
    np.testing.assert_array_equal(weights["ones"], counts)


def test_the_graphs_first_layer_has_its_penalty(resources, tmp_path):
    plain, penalized = (_loss(resources, tmp_path, graph_l2=l2) for l2 in (0.0, 0.5))
    weight = _prepared(resources).model.network.concept_layer.weight
    assert penalized - plain == pytest.approx(0.25 * weight.square().sum().item(), rel=1e-5)


def test_random_negatives_are_any_documents_that_were_not_judged(resources):
    topics = planted_topics([0, 1])
    sampled = with_random_candidates(topics, resources.forward_index(), 1)
    assert sampled == with_random_candidates(topics, resources.forward_index(), 1)
    for topic, other in zip(topics, sampled, strict=True):
        judged = [doc_id for doc_id in other.candidates if doc_id in topic.judgments]
        assert set(judged) == {*topic.candidates} & {*topic.judgments}
        assert not {*other.candidates} <= {*topic.candidates}
        assert other.first_stage == ()


def test_trained_words_are_saved_and_read_again(resources, tmp_path):
    member = _fitted(resources, tmp_path / "work", train_words=True)
    before = _prepared(resources).model.reader.vectors
    assert not np.array_equal(before, member.model.reader.vectors.detach())
    again = _prepared(resources, train_words=True)
    member.save(tmp_path)
    again.load(tmp_path)
    topic = planted_topics([88])[0]
    np.testing.assert_array_equal(scores(again, resources, topic), scores(member, resources, topic))


def test_a_pretrained_encoder_stays_unless_told_otherwise(fitted, resources, tmp_path):
    fitted.save(tmp_path)
    before = fitted.model.network.state_dict()
    for tuned in (False, True):
        member = _prepared(replace(resources, seed=7), tune_encoder=tuned)
        member.load(tmp_path)
        member.fit(planted_data(tmp_path / f"work-{tuned}"))
        after = member.model.network.state_dict()
        changed = {name for name in before if not np.array_equal(before[name], after[name])}
        assert "query_layer.weight" in changed
        assert any(name.startswith(("project.", "encoder.")) for name in changed) is tuned


@pytest.mark.parametrize(
    ("file", "name", "message"),
    [
        ("graphene", "query_layer.bias", "the tensor 'query_layer.bias' is missing"),
        ("graphene", None, "the tensor 'strange' is not part of"),
        ("feature-weights", "feature_weights", "the tensor 'feature_weights' is missing"),
    ],
)
def test_a_checkpoint_that_lacks_a_weight_or_has_another_is_refused(
    resources, tmp_path, file, name, message
):
    member = _fitted(resources, tmp_path / "work", features=("embedding",), loop={"epochs": 1})
    saved(member, tmp_path / "saved")
    path = tmp_path / "saved" / f"{file}.safetensors"
    state = load_weights(path)
    if name is None:
        state["strange"] = state["scale"].clone()
    else:
        del state[name]
    sizes = member.model.sizes() if file == "graphene" else member._feature_identity()
    save_weights(path, state, sizes)
    with pytest.raises(InputError, match=f"saved: {message}"):
        _prepared(resources, features=("embedding",)).load(tmp_path / "saved")


def test_pretraining_does_not_change_with_what_follows_it():
    options = GrapheneOptions()
    later = options.model_copy(
        update={"tune_encoder": True, "features": ("fields",), "loop": options.pretraining}
    )
    assert for_pretraining(later) == for_pretraining(options)
    assert for_pretraining(options).loop == options.pretraining
    other = options.model_copy(update={"hidden": 3})
    assert for_pretraining(other) != for_pretraining(options)


def test_topics_without_a_known_concept_are_scored_without_reward_and_the_first_one_told(resources):
    own = replace(resources, told=[])
    member = _prepared(own)
    (topic,) = planted_topics([85])
    for topic_id in ("t-none", "t-nothing"):
        unknown = replace(topic, topic=Topic(topic_id, "nothing known here"))
        assert np.isfinite(scores(member, own, unknown)).all()
    (told,) = (line for line in own.told if "no concept" in line)
    assert "t-none" in told


def test_a_field_that_no_topic_has_is_told(resources, tmp_path):
    own = replace(resources, told=[])
    brief = {"epochs": 1}
    _fitted(own, tmp_path / "misspelt", loop=brief, query_fields=("diseas", "gene"))
    assert own.told == ["query_fields: no training topic has a field diseas. They have: no fields."]
    own.told.clear()
    _fitted(own, tmp_path / "usual", loop=brief)
    assert own.told == []


@pytest.mark.parametrize("switched_off", [{"reward": 1.0}, {"graph": False}])
def test_where_nothing_is_ever_rewarded_it_is_not_told(resources, switched_off):
    own = replace(resources, told=[])
    member = _prepared(own, **switched_off)
    (topic,) = planted_topics([85])
    scores(member, own, replace(topic, topic=Topic("t-none", "nothing known here")))
    assert own.told == []


def test_a_document_without_words_has_a_score(tmp_path, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    resources = graph_resources(tmp_path)
    held = {"full": "bobo", "empty": ""}
    random = np.random.default_rng(1)
    small = small_resources(tmp_path / "empty", held, {"bobo": random.normal(size=16)})
    graph = open_graph(Articles([(i, "", t) for i, t in held.items()]), ConceptOptions(), workers=1)
    lent = replace(
        resources, texts=held, index=small.index, word_vectors=small.word_vectors, graph=graph
    )
    reranker = _prepared(lent)
    found = reranker.score(Topic("t", "bobo"), lent.documents(["empty", "full"]))
    assert np.isfinite(found).all()
    assert found[0] != found[1]


def test_a_graph_of_another_collection_is_refused(resources, tmp_path):
    other = open_graph(Articles(ARTICLES), ConceptOptions(knowledge=("planted",)), workers=1)
    with pytest.raises(InputError, match="built for other documents"):
        _prepared(replace(resources, graph=other))


def test_a_graph_of_as_many_other_documents_is_refused(resources):
    doc_ids = [*resources.graph.doc_ids][::-1]
    other = SimpleNamespace(document_count=len(doc_ids), doc_ids=doc_ids, folder=Path("other"))
    with pytest.raises(InputError, match="built for other documents"):
        refuse_another(other, resources.index)


def test_what_was_computed_by_other_weights_is_forgotten(resources, tmp_path):
    """Scores before training, or before weights are read, leave nothing behind."""
    (topic,) = planted_topics([88])
    member = _prepared(resources)
    before = scores(member, resources, topic)
    member.fit(planted_data(tmp_path / "work"))
    trained = scores(member, resources, topic)
    assert not np.allclose(trained, before)
    saved(member, tmp_path / "saved")
    fresh, used = (_prepared(replace(resources, seed=9)) for _ in range(2))
    scores(used, resources, topic)
    for each in (fresh, used):
        each.load(tmp_path / "saved")
        assert np.array_equal(scores(each, resources, topic), trained)


def test_what_a_model_depends_on(monkeypatch):
    """The graph's knowledge where it is used, and what its features read."""
    monkeypatch.setattr("irplatform.concepts.build.graph_identity", lambda options: options.kinds)
    kinds = ("gene",)
    for changed, held in [
        ({}, kinds),
        ({"graph": False}, kinds),
        ({"expansion": False}, kinds),
        ({"graph": False, "expansion": False}, None),
    ]:
        options = GrapheneOptions.model_validate({"concepts": {"kinds": kinds}, **changed})
        assert Graphene(options).reads().more.get("concepts") == held


def test_without_graph_and_expansion_no_graph_is_needed(resources):
    _prepared(replace(resources, graph=None), graph=False, expansion=False)


def test_explanations_add_up(resources, tmp_path):
    fitted = _fitted(resources, tmp_path, reward=3.0)
    word = next(
        w
        for w in subject_words(1)[::3]
        if resources.graph.document_frequency[_concept(resources, w)]
    )
    concept = _concept(resources, word)
    row = int(resources.graph.mentioned_in(concept)[0][0])
    topic = Topic("t", word)
    documents = resources.documents(resources.index.doc_ids([row]))
    (told,) = fitted.explain(topic, documents)
    (score,) = fitted.score(topic, documents)
    assert told["score"] == pytest.approx(score, abs=1e-5)
    (only,) = told["matching concepts"]
    assert only["concept"] == resources.graph.names[concept]
    without = _prepared(resources, reward=1.0)
    fitted.save(tmp_path)
    without.load(tmp_path)
    assert told["without any reward"] == pytest.approx(without.score(topic, documents)[0], abs=1e-5)
    assert only["without its reward"] == pytest.approx(told["without any reward"], abs=1e-5)
    json.dumps(told)


def test_without_a_graph_it_is_said_that_concepts_take_no_part(resources):
    topic, documents = Topic("t", "words"), resources.documents(resources.index.doc_ids([0]))
    for graph in (True, False):
        (told,) = _prepared(resources, graph=graph).explain(topic, documents)
        assert ("graph" in told) is not graph
        assert ("matching concepts" in told) is graph


def test_without_a_graph_no_narrower_concepts_are_said_to_match(resources, monkeypatch):
    found = np.arange(3)
    monkeypatch.setattr(resources.graph, "find", lambda text, expand=0: found[: 3 if expand else 1])
    names = [
        explaining._names(_prepared(resources, graph=graph).model, "a field")
        for graph in (True, False)
    ]
    first = resources.graph.names[0]
    assert names == [f"{first} and 2 narrower", first]


def test_without_a_group_that_applies_it_is_the_form_without_features(resources, tmp_path):
    (topic,) = planted_topics([91])
    brief = {"epochs": 1}
    plain = _fitted(resources, tmp_path / "plain", loop=brief)
    with_idle_group = replace(resources, groups={"needs-year": NeedsYear})
    idle = _fitted(with_idle_group, tmp_path / "idle", loop=brief, features=("needs-year",))
    assert idle.model.features.width
    assert np.array_equal(scores(idle, resources, topic), scores(plain, resources, topic))


def test_an_explanation_says_what_features_add(resources, tmp_path):
    fitted = _fitted(resources, tmp_path, features=("embedding",), loop={"epochs": 1})
    (topic,) = planted_topics([91])
    documents = resources.documents(topic.candidates[:1])
    (explanation,) = fitted.explain(topic.topic, documents)
    (score,) = fitted.score(topic.topic, documents)
    assert explanation["of vectors"] + explanation["of features"] == pytest.approx(score, abs=1e-5)
    (group,) = explanation["groups"]
    assert group["group"] == "embedding"
    assert group["adds"] == pytest.approx(explanation["of features"], abs=1e-4)
    assert any(feature["adds"] for feature in explanation["features"])


def test_an_explanation_takes_a_concept_away_with_its_reward(resources, tmp_path, monkeypatch):
    member = _fitted(resources, tmp_path, reward=3.0, stored_documents=0)
    frequency = resources.graph.document_frequency
    words = [w for w in subject_words(1)[::3] if frequency[_concept(resources, w)]]
    topic = Topic("t", " ".join(words))
    rows = np.arange(resources.index.count)
    kept = member.model.concepts.links(rows)
    row = int(np.argmax(np.diff(kept.offsets)))  # the glossary, which has all concepts
    documents = resources.documents(resources.index.doc_ids([row]))
    (told,) = member.explain(topic, documents)
    matching, others = told["matching concepts"], told["other concepts"]
    assert {each["concept"] for each in matching} == {
        resources.graph.names[_concept(resources, word)] for word in words
    }
    assert len(others) == 8
    unlisted = told["other concepts that are not listed"]
    assert unlisted == np.diff(kept.offsets).max() - len(matching) - 8
    for listed in (matching, others):
        weights = [each["weight"] for each in listed]
        assert weights == sorted(weights, reverse=True)
    plain = member.model.concepts.links
    for each in (matching[0], matching[-1], others[0]):
        gone = _concept(resources, each["concept"])

        def without(rows, gone=gone):
            links = plain(rows)
            left = links.concepts != gone
            ends = np.searchsorted(np.flatnonzero(left), links.offsets)
            return DocumentLinks(links.concepts[left], links.weights[left], ends)

        monkeypatch.setattr(member.model.concepts, "links", without)
        (score,) = member.score(topic, documents)
        assert each["score without it"] == pytest.approx(score, abs=1e-5)
        assert each["score without it"] != pytest.approx(told["score"], abs=1e-5)


def _concept(resources, word):
    return int(resources.graph.find(word)[0])


def test_sides_of_all_documents_are_stored_with_the_final_weights_alone(resources, tmp_path):
    own = replace(resources, folder=tmp_path / "artifacts")
    member = _fitted(own, tmp_path / "work", features=("embedding",))
    kinds = ("graphene-documents", "graphene-encodings")
    assert [len(list(own.folder.glob(f"{kind}-*"))) for kind in kinds] == [0, 0]
    scores(member, own, planted_topics([88])[0])
    assert [len(list(own.folder.glob(f"{kind}-*"))) for kind in kinds] == [1, 1]


def test_sides_in_training_are_those_that_are_stored(resources, tmp_path):
    member = _prepared(resources)
    data = planted_data(tmp_path)
    for encoder in (True, False):
        task = GrapheneTask(member.model, data, 1, encoder=encoder)
        rows = np.unique(task._rows)
        np.testing.assert_allclose(task._sides(rows), member.model.sides(rows), atol=1e-6)


def test_features_join_in_the_last_layer(resources, tmp_path):
    (tmp_path / "pre").mkdir()
    before = _fitted(resources, tmp_path / "work-1")
    before.save(tmp_path / "pre")
    member = _prepared(resources, features=("embedding",))
    member.load(tmp_path / "pre")
    member.fit(planted_data(tmp_path / "work-2"))
    (tmp_path / "saved").mkdir()
    member.save(tmp_path / "saved")
    again = _prepared(replace(resources, seed=9), features=("embedding",))
    again.load(tmp_path / "saved")
    (topic,) = planted_topics([88])
    assert np.array_equal(scores(again, resources, topic), scores(member, resources, topic))
    weights = member.model.network.feature_weights
    assert weights.abs().sum() > 0
    other = _prepared(resources, features=("lexical", "embedding"))
    with pytest.raises(InputError):
        other.load(tmp_path / "saved")
