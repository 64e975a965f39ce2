"""Topics are known by what they ask: whatever their ids, capitals, order of words or templates."""

import pytest

from irplatform.plugin import Topic
from irplatform.training.topic_identity import components, families, topic_marks

PATIENT = {"disease": "Melanoma", "gene": "BRAF (V600E)", "demographic": "64-year-old male"}
TOPIC = Topic("1", "melanoma BRAF (V600E)", PATIENT)


@pytest.mark.parametrize(
    "other",
    [
        Topic("7", "Melanoma BRAF (V600E)"),
        Topic("7", "braf v600e, melanoma", {}),
        Topic("7", "BRAF (V600E) in melanoma, dabrafenib", {**PATIENT, "treatment": "dabrafenib"}),
        Topic("7", "another template", {"disease": ("melanoma",), "gene": ("BRAF", "V600E")}),
    ],
)
def test_the_same_question_has_a_mark_in_common(other):
    assert topic_marks(TOPIC) & topic_marks(other)


@pytest.mark.parametrize(
    "other",
    [
        Topic("1", "melanoma BRAF (V600K)", {**PATIENT, "gene": "BRAF (V600K)"}),
        Topic("1", "glioma BRAF (V600E)", {**PATIENT, "disease": "glioma"}),
        Topic("1", "melanoma", {"disease": "melanoma", "gene": ""}),
    ],
)
def test_another_question_has_none(other):
    assert not topic_marks(TOPIC) & topic_marks(other)


def test_sentences_of_one_article_are_a_family():
    topics = [
        Topic("1", "first sentence", {"citing_id": "10.1/A"}),
        Topic("2", "another one"),
        Topic("3", "second", {"citing_id": "10.1/a"}),
        Topic("4", "Another one", {"citing_id": "10.1/b"}),
    ]
    assert families(topics) == [0, 1, 0, 1]
    nowhere = [Topic(str(n), f"query {n}", {"citing_id": ""}) for n in range(3)]
    assert families(nowhere) == [0, 1, 2]


def test_a_topic_with_a_treatment_is_of_the_family_of_the_same_without():
    topics = [
        Topic("1", "KIT in melanoma"),
        Topic("1-imatinib", "KIT in melanoma imatinib", {"treatment": "imatinib"}),
        Topic("1-nilotinib", "KIT in melanoma nilotinib", {"treatment": "nilotinib"}),
        Topic("2", "imatinib", {"treatment": "imatinib"}),
        Topic("3", "nilotinib", {"treatment": "nilotinib"}),
    ]
    assert families(topics) == [0, 0, 0, 1, 2]


def test_families_are_those_who_share_a_mark_even_through_others():
    words = Topic("a", "melanoma braf v600e")
    fields = Topic("b", "treatment", PATIENT)
    topics = [Topic("c", "glioma"), fields, Topic("d", "melanoma"), words, TOPIC]
    assert families(topics) == [0, 1, 2, 1, 1]
    assert families([Topic(str(n), f"query {n}") for n in range(4)]) == [0, 1, 2, 3]
    assert families([]) == []


def test_components_are_those_of_items_that_share_keys_even_through_others():
    assert components(["a", "b", "bc", "", "d", "ce"]) == [0, 1, 1, 2, 3, 1]
    assert components([("a", 1), ("b", 2), ("c", 1), ("b", 3)]) == [0, 1, 0, 1]
    assert components(["", ""]) == [0, 1]
    assert components([]) == []
