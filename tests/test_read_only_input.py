"""What systems are given is theirs to read: others are given the same, and are scored by it."""

import copy
import pickle
from dataclasses import dataclass, replace

import pytest

from irplatform.plugin import Document, Documents, LabelledTopic, Topic, TrainingData

TOPIC = Topic("t", "query", {"gene": "BRAF"})
LABELLED = LabelledTopic(TOPIC, ("a", "b"), {"a": 1})


def test_judgments_that_a_fold_learns_from_stay_as_they_are():
    with pytest.raises(TypeError, match="does not support item assignment"):
        LABELLED.judgments["b"] = 0
    assert LABELLED.judgments == {"a": 1}


def test_so_do_the_fields_of_topics():
    with pytest.raises(TypeError, match="does not support item assignment"):
        TOPIC.fields["gene"] = "KRAS"


def test_and_those_of_documents():
    document = Document("a", fields={"mesh": ("Lung",)})
    for case in (document, Document("b")):
        with pytest.raises(TypeError, match="does not support item assignment"):
            case.fields["mesh"] = ()
    assert document.values("mesh") == ("Lung",)


def test_and_the_topics_to_learn_from(tmp_path):
    examples = [LABELLED]
    data = TrainingData(examples, examples, tmp_path, [TOPIC])
    for topics in (data.training, data.validation, data.unseen):
        with pytest.raises(AttributeError, match="clear"):
            topics.clear()
    examples.clear()
    assert list(data.training) == [LABELLED]


def test_and_the_ids_of_candidates():
    documents = Documents.of([Document("a"), Document("b")])
    with pytest.raises(AttributeError):
        documents.ids = ("b", "a")
    assert documents.ids == ("a", "b")


@pytest.mark.parametrize(
    "original", [LABELLED, Document("a", "b", "c", {"mesh": ("d",)})], ids=["topic", "document"]
)
def test_all_can_be_sent_to_another_process_and_copied(original):
    for duplicate in (pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
        assert duplicate == original


@dataclass(frozen=True)
class Dated(Topic):
    """A plugin's topic."""

    year: int = 0


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda topic: pickle.loads(pickle.dumps(topic))]
)
def test_a_topic_of_another_class_stays_one(duplicate):
    dated = Dated("t", "query", {"gene": "BRAF"}, 1999)
    assert duplicate(dated) == dated
    with pytest.raises(TypeError, match="does not support item assignment"):
        duplicate(dated).fields["gene"] = "KRAS"


@pytest.mark.parametrize("original", [TOPIC, Document("a", fields={"mesh": ("d",)}), Document("b")])
def test_what_is_made_of_another_is_printed_as_that_one(original):
    assert repr(replace(original, id=original.id)) == repr(original)
