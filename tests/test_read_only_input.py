"""What systems are given is theirs to read: others are given the same, and are scored by it."""

import copy
import pickle
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class Dated(Topic):
    """A plugin's topic."""

    year: int = 0


@pytest.mark.parametrize("made", [copy.deepcopy, lambda topic: pickle.loads(pickle.dumps(topic))])
def test_a_topic_of_another_class_stays_one(made):
    dated = Dated("t", "query", {"gene": "BRAF"}, 1999)
    assert made(dated) == dated
    with pytest.raises(TypeError, match="does not support item assignment"):
        made(dated).fields["gene"] = "KRAS"


def test_a_topic_that_is_made_of_another_is_printed_as_that_one():
    assert repr(replace(TOPIC, id="t")) == repr(TOPIC)
