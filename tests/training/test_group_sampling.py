"""Groups hold a relevant document, negatives of the candidates, and negatives from elsewhere."""

import numpy as np
import pytest
from small import labelled

from irplatform.errors import InputError
from irplatform.plugin import Document
from irplatform.text import ForwardIndex, build_forward_index
from irplatform.training.list_samplers import GroupSampler, GroupSettings

DOCUMENTS = [f"d{n}" for n in range(100)]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forward")
    build_forward_index((Document(doc_id, "", "word") for doc_id in DOCUMENTS), folder, workers=1)
    return ForwardIndex.open(folder)


def _topic(name="t", **judgments):
    return labelled(name, DOCUMENTS[:20], judgments or {"d3": 1, "d50": 1, "d4": 0})


def _groups(sampler, epoch=0):
    groups = sampler.epoch(epoch)
    return [
        [sampler.pools[t].doc_ids[i] for i in members]
        for t, members in zip(groups.topic, groups.documents, strict=True)
    ]


def test_a_group_is_a_relevant_document_candidates_and_others(index):
    settings = GroupSettings(inside=3, outside=2)
    (group,) = _groups(GroupSampler([_topic()], settings, index, 1))
    assert group[0] == "d3"
    assert set(group[1:4]) <= set(DOCUMENTS[:20]) - {"d3"}
    assert set(group[4:]) <= set(DOCUMENTS[20:]) - {"d50"}
    assert len(set(group)) == 6


def test_relevant_documents_that_were_not_found_teach_only_when_told(index):
    settings = GroupSettings(relevant="judged")
    groups = _groups(GroupSampler([_topic()], settings, index, 1))
    assert sorted(group[0] for group in groups) == ["d3", "d50"]


def test_groups_without_negatives_are_refused():
    assert GroupSettings(inside=0).outside == 1
    with pytest.raises(ValueError, match="a group needs a negative, but inside is 0, too"):
        GroupSettings(inside=0, outside=0)


def test_the_same_seed_and_epoch_draw_the_same(index):
    topics = [_topic(f"t{n}") for n in range(5)]
    first, again = (GroupSampler(topics, GroupSettings(), index, 1) for _ in range(2))
    assert _groups(first, 3) == _groups(again, 3)
    assert _groups(first, 3) != _groups(first, 4)
    assert _groups(first, 3) != _groups(GroupSampler(topics, GroupSettings(), index, 2), 3)


def test_topics_without_a_relevant_document_or_a_negative_are_left_out(index):
    nothing = _topic("nothing", d4=0)
    alone = labelled("alone", ["d1"], {"d1": 1})
    sampler = GroupSampler([nothing, alone, _topic()], GroupSettings(outside=0), index, 1)
    assert [topic.topic.id for topic in sampler.topics] == ["t"]
    with pytest.raises(InputError, match="no training topic has a relevant document and another"):
        GroupSampler([nothing, alone], GroupSettings(outside=0), index, 1)


def test_one_side_stands_in_for_the_other(index):
    """A topic with one candidate still has groups of the same size as the others."""
    alone = labelled("alone", ["d1"], {"d1": 1})
    (group,) = _groups(GroupSampler([alone], GroupSettings(inside=2, outside=1), index, 1))
    assert len(group) == 4
    assert "d1" not in group[1:]


def test_batches_count_documents(index):
    topics = [_topic(f"t{n}") for n in range(7)]
    groups = GroupSampler(topics, GroupSettings(inside=1, outside=1), index, 1).epoch(0)
    assert [len(batch) for batch in groups.batches(9)] == [3, 3, 1]
    assert [len(batch) for batch in groups.batches(1)] == [1] * 7
    assert np.array_equal(np.concatenate([b.topic for b in groups.batches(9)]), groups.topic)
