"""What a training step of GRAPHENE compares."""

from dataclasses import replace

import pytest
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
        found = []
        plain = task._against_others
        monkeypatch.setattr(
            task,
            "_against_others",
            lambda best, worse, which: found.append(len(worse)) or plain(best, worse, which),
        )
        batches = list(task.batches(0))
        for batch in batches:
            task.loss(batch)
        return sum(found), batches

    return count


def test_relevant_documents_of_other_topics_are_negatives(compared):
    assert compared(planted_topics([0, 1]))[0] > 0


def test_those_that_are_relevant_to_the_topic_as_well_are_not(compared):
    topic, other = planted_topics([0, 1])
    twin = replace(topic, topic=other.topic)
    assert compared([topic, twin])[0] == 0
    shared = replace(other, judgments={**other.judgments, **topic.judgments})
    shared = replace(shared, candidates=(*other.candidates, *topic.candidates))
    assert 0 < compared([topic, shared])[0] < compared([topic, other])[0]


def test_a_step_weighs_by_its_pairs(compared):
    _, batches = compared(planted_topics([0, 1]))
    assert [batch.weight.sum() for batch in batches] == [b.pairs.weight.sum() for b in batches]
