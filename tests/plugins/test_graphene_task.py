"""What a training step of GRAPHENE compares."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from planted import planted_topics

from irplatform.plugin import TrainingData
from irplatform_graphene.model import Model
from irplatform_graphene.options import GrapheneOptions
from irplatform_graphene.task import GrapheneTask

SMALL = {
    "projection": 8,
    "hidden": 8,
    "graph_width": 8,
    "vector": 16,
    "filters": 8,
    "decoder": {"on": False},
}


@pytest.fixture
def compared(planted_graph, tmp_path, monkeypatch):
    """How many documents of other topics a step's relevant ones are compared with."""
    model = Model(planted_graph, GrapheneOptions.model_validate(SMALL))

    def count(topics):
        task = GrapheneTask(model, TrainingData(topics, [], tmp_path), 1, encoder=False)
        counts = []
        plain = task._of_in_batch_negatives
        monkeypatch.setattr(
            task,
            "_of_in_batch_negatives",
            lambda best, worse, pair: counts.append(len(worse)) or plain(best, worse, pair),
        )
        batches = list(task.batches(0))
        for batch in batches:
            task.loss(batch)
        return sum(counts), batches

    return count


def test_relevant_documents_of_other_topics_are_negatives(compared):
    assert compared(planted_topics([0, 1]))[0] > 0


def test_those_that_are_relevant_to_the_topic_as_well_are_not(compared):
    topic, other = planted_topics([0, 1])
    twin = replace(topic, topic=other.topic)
    assert compared([topic, twin])[0] == 0
    shared = replace(other, judgments={**other.judgments, **topic.judgments})
    not_found = compared([topic, shared])[0]  # its first stage missed what it shares
    shared = replace(shared, candidates=(*other.candidates, *topic.candidates))
    assert 0 < compared([topic, shared])[0] < compared([topic, other])[0]
    assert 0 < not_found < compared([topic, other])[0]


def test_a_relevant_document_far_behind_still_learns(planted_graph, tmp_path):
    model = Model(planted_graph, GrapheneOptions.model_validate(SMALL))
    task = GrapheneTask(model, TrainingData(planted_topics([0, 1]), [], tmp_path), 1, encoder=False)
    best = torch.zeros(2, requires_grad=True)
    loss = task._of_in_batch_negatives(best, torch.tensor([60.0, 0.5]), torch.tensor([0, 1]))
    loss.backward()
    assert torch.allclose(best.grad, -torch.sigmoid(torch.tensor([60.0, 0.5])) / 2)


def test_a_step_weighs_by_its_pairs(compared):
    _, batches = compared(planted_topics([0, 1]))
    assert [batch.weight.sum() for batch in batches] == [b.pairs.weight.sum() for b in batches]


def _softplus(value):
    return np.log1p(np.exp(value))


@pytest.mark.parametrize("loss", ["softmax", "hinge"])
@pytest.mark.parametrize("others", [0, 4])
def test_the_loss_of_a_step_is_that_of_its_pairs_and_of_its_others(
    planted_graph, tmp_path, monkeypatch, loss, others
):
    """Pair by pair, with the scores that documents are ranked by."""
    options = {**SMALL, "dropout": 0, "loss": loss, "margin": 0.3, "others": others}
    model = Model(planted_graph, GrapheneOptions.model_validate(options))
    compared = []
    plain = GrapheneTask._in_batch_negatives
    monkeypatch.setattr(
        GrapheneTask,
        "_in_batch_negatives",
        lambda *arguments: compared.append(plain(*arguments)) or compared[-1],
    )
    data = TrainingData(planted_topics([0, 1, 2]), [], tmp_path)
    task = GrapheneTask(model, data, 1, encoder=False)
    step = next(iter(task.batches(0)))
    weight = np.random.default_rng(1).uniform(0.5, 2, len(step.pairs)).astype(np.float32)
    step = replace(step, pairs=replace(step.pairs, weight=weight))
    total = task.loss(step).item()

    topics = [task._topics[number] for number in step.pairs.topic]
    better, worse = np.split(task._rows[step.pairs.rows(task.sampler.starts)], 2)

    def score(topic, row):
        return model.scores(topic, np.array([row]), None).item()

    cost = _softplus if loss == "softmax" else lambda value: max(0, 0.3 + value)
    best = [score(topic, row) for topic, row in zip(topics, better, strict=True)]
    pairs = [
        cost(score(topic, row) - above)
        for topic, row, above in zip(topics, worse, best, strict=True)
    ]
    expected = np.average(pairs, weights=weight)
    differences = {}
    for one, other in zip(*compared[0], strict=True):
        if f"{step.pairs.topic[one]} {better[other]}" not in _relevant(task):
            differences.setdefault(one, []).append(score(topics[one], better[other]) - best[one])
    assert bool(differences) is bool(others)
    if loss == "softmax":
        sums = [np.log1p(np.exp(differences.get(n, [])).sum()) for n in range(len(best))]
        expected += np.mean(sums)
    elif differences:
        expected += np.mean([cost(value) for values in differences.values() for value in values])
    assert total == pytest.approx(expected, rel=1e-4)


def _relevant(task):
    """Topics by number with the rows of their relevant documents."""
    pools = task.sampler.pools
    rows = np.split(task._rows, np.cumsum([len(pool.doc_ids) for pool in pools])[:-1])
    return {
        f"{number} {row}"
        for number, pool in enumerate(pools)
        for row, grade in zip(rows[number], pool.grades, strict=True)
        if grade > 0
    }


def test_validation_is_by_the_weights_as_they_are(planted_graph, tmp_path, monkeypatch):
    model = Model(planted_graph, GrapheneOptions.model_validate(SMALL))
    data = TrainingData(planted_topics([0, 1]), planted_topics([2]), tmp_path)
    task = GrapheneTask(model, data, 1, encoder=False)
    (topic,) = data.validation
    rows = planted_graph.index.rows(topic.candidates)
    results = []
    monkeypatch.setattr(task, "_validator", lambda score: results.append(score(0)) or 0.0)
    for _ in range(2):
        task.validate()
        with torch.no_grad():
            model.network.concept_layer.weight.mul_(-3)  # a step of training
    model.changed()
    for changed in results[::-1]:
        with torch.no_grad():
            model.network.concept_layer.weight.div_(-3)
        model.changed()
        expected = model.scores(model.topics.read(topic.topic), rows, None)
        np.testing.assert_allclose(changed, expected, atol=1e-5)
    assert not np.allclose(*results, atol=1e-3)
