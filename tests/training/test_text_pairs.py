"""Pairs that topics know, which are left out: models would remember what they are judged on."""

from irplatform.plugin import Topic
from irplatform.training.text_pairs import PairsOfTopics, TextPair

KNOWN = PairsOfTopics.of(
    [
        Topic("a", "a  query"),
        Topic("b", "other", {"citing_id": "a7"}),
        Topic("c", "more", {"citing_id": ""}),
    ],
    "citing_id",
)


def test_pairs_with_their_queries_or_of_their_sources():
    assert TextPair("a query", "text", "a1") in KNOWN
    assert TextPair("a sentence", "text", "a7") in KNOWN
    assert TextPair("a sentence", "text", "a1") not in KNOWN


def test_pairs_without_a_source_are_of_no_topic():
    assert TextPair("a sentence", "text", "") not in KNOWN
