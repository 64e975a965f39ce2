"""What systems are given is theirs to read: others are given the same, and are scored by it."""

import pickle

import pytest

from irplatform.plugin import Document, Documents, LabelledTopic, Topic

TOPIC = Topic("t", "query", {"gene": "BRAF"})
LABELLED = LabelledTopic(TOPIC, ("a", "b"), {"a": 1})


def test_judgments_that_a_fold_learns_from_stay_as_they_are():
    with pytest.raises(TypeError, match="does not support item assignment"):
        LABELLED.judgments["b"] = 0
    assert LABELLED.judgments == {"a": 1}


def test_so_do_the_fields_of_topics():
    with pytest.raises(TypeError, match="does not support item assignment"):
        TOPIC.fields["gene"] = "KRAS"


def test_and_the_ids_of_candidates():
    documents = Documents.of([Document("a"), Document("b")])
    with pytest.raises(AttributeError):
        documents.ids = ("b", "a")
    assert documents.ids == ("a", "b")


def test_both_can_be_sent_to_another_process():
    assert pickle.loads(pickle.dumps(LABELLED)) == LABELLED
