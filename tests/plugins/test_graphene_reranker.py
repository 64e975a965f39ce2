"""GRAPHENE as a reranker: checkpoints, graphs, rewards and features."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from concept_data import ARTICLES, Articles
from fitted_graphene import fit_graphene, prepare_graphene
from graph_resources import graph_resources
from planted import planted_data, planted_topics, saved, scores
from small import small_resources

from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import open_graph
from irplatform.errors import InputError
from irplatform.plugin import Topic
from irplatform.training.weights import WeightFile
from irplatform_graphene.options import GrapheneOptions
from irplatform_graphene.reading import refuse_another
from irplatform_graphene.reranker import Graphene
from irplatform_graphene.task import GrapheneTask


@pytest.fixture(scope="module")
def fitted(planted_graph, tmp_path_factory):
    return fit_graphene(planted_graph, tmp_path_factory.mktemp("work"))


def test_a_pretrained_encoder_stays_unless_told_otherwise(fitted, planted_graph, tmp_path):
    fitted.save(tmp_path)
    before = fitted.model.network.state_dict()
    for tuned in (False, True):
        member = prepare_graphene(replace(planted_graph, seed=7), tune_encoder=tuned)
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
    planted_graph, tmp_path, file, name, message
):
    member = fit_graphene(
        planted_graph, tmp_path / "work", features=("embedding",), loop={"epochs": 1}
    )
    saved(member, tmp_path / "saved")
    path = tmp_path / "saved" / f"{file}.safetensors"
    state = WeightFile(path).load()
    if name is None:
        state["strange"] = state["scale"].clone()
    else:
        del state[name]
    sizes = member.model.sizes() if file == "graphene" else member._feature_identity()
    WeightFile(path).save(state, sizes)
    with pytest.raises(InputError, match=f"saved: {message}"):
        prepare_graphene(planted_graph, features=("embedding",)).load(tmp_path / "saved")


def test_topics_without_a_known_concept_are_scored_without_reward_and_the_first_one_told(
    planted_graph,
):
    resources = replace(planted_graph, told=[])
    member = prepare_graphene(resources)
    (topic,) = planted_topics([85])
    for topic_id in ("t-none", "t-nothing"):
        unknown = replace(topic, topic=Topic(topic_id, "nothing known here"))
        assert np.isfinite(scores(member, resources, unknown)).all()
    (notice,) = (line for line in resources.told if "no concept" in line)
    assert "t-none" in notice


def test_a_field_that_no_topic_has_is_told(planted_graph, tmp_path):
    resources = replace(planted_graph, told=[])
    brief = {"epochs": 1}
    fit_graphene(resources, tmp_path / "misspelt", loop=brief, query_fields=("diseas", "gene"))
    assert resources.told == [
        "query_fields: no training topic has a field diseas. They have: no fields."
    ]
    resources.told.clear()
    fit_graphene(resources, tmp_path / "usual", loop=brief)
    assert resources.told == []


@pytest.mark.parametrize("switched_off", [{"reward": 1.0}, {"graph": False}])
def test_where_nothing_is_ever_rewarded_it_is_not_told(planted_graph, switched_off):
    resources = replace(planted_graph, told=[])
    member = prepare_graphene(resources, **switched_off)
    (topic,) = planted_topics([85])
    scores(member, resources, replace(topic, topic=Topic("t-none", "nothing known here")))
    assert resources.told == []


def test_a_document_without_words_has_a_score(tmp_path, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    resources = graph_resources(tmp_path)
    texts = {"full": "bobo", "empty": ""}
    random = np.random.default_rng(1)
    small = small_resources(tmp_path / "empty", texts, {"bobo": random.normal(size=16)})
    graph = open_graph(
        Articles([(i, "", t) for i, t in texts.items()]), ConceptOptions(), workers=1
    )
    lent = replace(
        resources, texts=texts, index=small.index, word_vectors=small.word_vectors, graph=graph
    )
    reranker = prepare_graphene(lent)
    values = reranker.score(Topic("t", "bobo"), lent.documents(["empty", "full"]))
    assert np.isfinite(values).all()
    assert values[0] != values[1]


def test_a_graph_of_another_collection_is_refused(planted_graph, tmp_path):
    other = open_graph(Articles(ARTICLES), ConceptOptions(knowledge=("planted",)), workers=1)
    with pytest.raises(InputError, match="built for other documents"):
        prepare_graphene(replace(planted_graph, graph=other))


def test_a_graph_of_as_many_other_documents_is_refused(planted_graph):
    doc_ids = [*planted_graph.graph.doc_ids][::-1]
    other = SimpleNamespace(document_count=len(doc_ids), doc_ids=doc_ids, folder=Path("other"))
    with pytest.raises(InputError, match="built for other documents"):
        refuse_another(other, planted_graph.index)


def test_what_was_computed_by_other_weights_is_forgotten(planted_graph, tmp_path):
    """Scores before training, or before weights are read, leave nothing behind."""
    (topic,) = planted_topics([88])
    member = prepare_graphene(planted_graph)
    before = scores(member, planted_graph, topic)
    member.fit(planted_data(tmp_path / "work"))
    trained = scores(member, planted_graph, topic)
    assert not np.allclose(trained, before)
    saved(member, tmp_path / "saved")
    fresh, scorer = (prepare_graphene(replace(planted_graph, seed=9)) for _ in range(2))
    scores(scorer, planted_graph, topic)
    for reranker in (fresh, scorer):
        reranker.load(tmp_path / "saved")
        assert np.array_equal(scores(reranker, planted_graph, topic), trained)


def test_what_a_model_depends_on(monkeypatch):
    """The graph's knowledge where it is used, and what its features read."""
    monkeypatch.setattr(
        "irplatform.concepts.graph.ConceptGraph.identity", lambda options: options.kinds
    )
    kinds = ("gene",)
    for changed, expected in [
        ({}, kinds),
        ({"graph": False}, kinds),
        ({"expansion": False}, kinds),
        ({"graph": False, "expansion": False}, None),
    ]:
        options = GrapheneOptions.model_validate({"concepts": {"kinds": kinds}, **changed})
        assert Graphene(options).reads().more.get("concepts") == expected


def test_without_graph_and_expansion_no_graph_is_needed(planted_graph):
    prepare_graphene(replace(planted_graph, graph=None), graph=False, expansion=False)


def test_sides_of_all_documents_are_stored_with_the_final_weights_alone(planted_graph, tmp_path):
    resources = replace(planted_graph, folder=tmp_path / "artifacts")
    member = fit_graphene(resources, tmp_path / "work", features=("embedding",))
    kinds = ("graphene-documents", "graphene-encodings")
    assert [len(list(resources.folder.glob(f"{kind}-*"))) for kind in kinds] == [0, 0]
    scores(member, resources, planted_topics([88])[0])
    assert [len(list(resources.folder.glob(f"{kind}-*"))) for kind in kinds] == [1, 1]


def test_sides_in_training_are_those_that_are_stored(planted_graph, tmp_path):
    member = prepare_graphene(planted_graph)
    data = planted_data(tmp_path)
    for encoder in (True, False):
        task = GrapheneTask(member.model, data, 1, encoder=encoder)
        rows = np.unique(task._rows)
        np.testing.assert_allclose(task._sides(rows), member.model.sides(rows), atol=1e-6)


def test_features_join_in_the_last_layer(planted_graph, tmp_path):
    (tmp_path / "pre").mkdir()
    before = fit_graphene(planted_graph, tmp_path / "work-1")
    before.save(tmp_path / "pre")
    member = prepare_graphene(planted_graph, features=("embedding",))
    member.load(tmp_path / "pre")
    member.fit(planted_data(tmp_path / "work-2"))
    (tmp_path / "saved").mkdir()
    member.save(tmp_path / "saved")
    again = prepare_graphene(replace(planted_graph, seed=9), features=("embedding",))
    again.load(tmp_path / "saved")
    (topic,) = planted_topics([88])
    assert np.array_equal(scores(again, planted_graph, topic), scores(member, planted_graph, topic))
    weights = member.model.network.feature_weights
    assert weights.abs().sum() > 0
    other = prepare_graphene(planted_graph, features=("lexical", "embedding"))
    with pytest.raises(InputError):
        other.load(tmp_path / "saved")
