"""Training GRAPHENE: its losses, negatives and words."""

import numpy as np
import pytest
from fitted_graphene import SMALL, fit_graphene, prepare_graphene
from planted import planted_topics, precision_at_1, scores

from irplatform.plugin import TrainingData
from irplatform_graphene.options import GrapheneOptions, for_pretraining
from irplatform_graphene.task import GrapheneTask, with_random_candidates


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
def test_every_switch_learns(planted_graph, tmp_path, changed):
    loop = {**SMALL["loop"], "epochs": 6}
    assert (
        precision_at_1(fit_graphene(planted_graph, tmp_path, loop=loop, **changed), planted_graph)
        >= 0.9
    )


def _loss(resources, folder, topics=(0, 1), **changed):
    """The loss of a first step over topics, without dropout."""
    member = prepare_graphene(resources, **{"dropout": 0.0, "decoder": {"on": False}, **changed})
    folder.mkdir(exist_ok=True)
    data = TrainingData(planted_topics(topics), planted_topics([70]), folder)
    task = GrapheneTask(member.model, data, 1, encoder=True)
    return task.loss(next(iter(task.batches(1)))).item()


def test_relevant_documents_are_compared_with_those_of_other_topics(planted_graph, tmp_path):
    with_others, without = (_loss(planted_graph, tmp_path, others=count) for count in (8, 0))
    assert with_others > without
    alone = [_loss(planted_graph, tmp_path, [0], others=count) for count in (8, 0)]
    assert alone[0] == alone[1]


def test_titles_have_their_share_of_the_loss(planted_graph, tmp_path):
    weighted = [
        _loss(planted_graph, tmp_path, decoder={**SMALL["decoder"], "weight": weight})
        for weight in (0, 0.25, 1)
    ]
    assert weighted[0] == pytest.approx(_loss(planted_graph, tmp_path))
    assert weighted[1] == pytest.approx(0.75 * weighted[0] + 0.25 * weighted[2])
    assert weighted[2] > 1  # a guess among 51 symbols costs ln 51


def test_links_of_a_document_weigh_1_or_add_up_to_1(planted_graph):
    weights = {}
    for kind in ("shares", "ones"):
        links = prepare_graphene(planted_graph, links=kind).model.concepts.links(np.arange(20))
        parts = np.split(links.weights, links.offsets[1:-1])
        weights[kind] = [float(part.sum()) for part in parts]
    counts = np.diff(links.offsets)
    np.testing.assert_allclose(weights["shares"], np.minimum(counts, 1), rtol=1e-6)
    np.testing.assert_array_equal(weights["ones"], counts)


def test_the_graphs_first_layer_has_its_penalty(planted_graph, tmp_path):
    plain, penalized = (_loss(planted_graph, tmp_path, graph_l2=l2) for l2 in (0.0, 0.5))
    weight = prepare_graphene(planted_graph).model.network.concept_layer.weight
    assert penalized - plain == pytest.approx(0.25 * weight.square().sum().item(), rel=1e-5)


def test_random_negatives_are_any_documents_that_were_not_judged(planted_graph):
    topics = planted_topics([0, 1])
    sampled = with_random_candidates(topics, planted_graph.forward_index(), 1)
    assert sampled == with_random_candidates(topics, planted_graph.forward_index(), 1)
    for topic, other in zip(topics, sampled, strict=True):
        judged = [doc_id for doc_id in other.candidates if doc_id in topic.judgments]
        assert set(judged) == {*topic.candidates} & {*topic.judgments}
        assert not {*other.candidates} <= {*topic.candidates}
        assert other.first_stage == ()


def test_trained_words_are_saved_and_read_again(planted_graph, tmp_path):
    member = fit_graphene(planted_graph, tmp_path / "work", train_words=True)
    before = prepare_graphene(planted_graph).model.reader.vectors
    assert not np.array_equal(before, member.model.reader.vectors.detach())
    again = prepare_graphene(planted_graph, train_words=True)
    member.save(tmp_path)
    again.load(tmp_path)
    topic = planted_topics([88])[0]
    np.testing.assert_array_equal(
        scores(again, planted_graph, topic), scores(member, planted_graph, topic)
    )


def test_pretraining_does_not_change_with_what_follows_it():
    options = GrapheneOptions()
    later = options.model_copy(
        update={"tune_encoder": True, "features": ("fields",), "loop": options.pretraining}
    )
    assert for_pretraining(later) == for_pretraining(options)
    assert for_pretraining(options).loop == options.pretraining
    other = options.model_copy(update={"hidden": 3})
    assert for_pretraining(other) != for_pretraining(options)
