"""Files of pairs, and the pairs that topics know: models would remember what they are judged on."""

import pytest

from irplatform.errors import InputError
from irplatform.plugin import TextPair, Topic
from irplatform.training.text_pairs import PairsOfTopics, TextPairs

KNOWN = PairsOfTopics.of(
    [
        Topic("a", "a  query"),
        Topic("b", "other", {"citing_id": "a7"}),
        Topic("c", "more", {"citing_id": ""}),
        Topic("d", "Others, in vitro."),
    ],
    "citing_id",
)


def test_pairs_with_their_queries_or_of_their_sources():
    assert TextPair("a query", "text", "a1") in KNOWN
    assert TextPair("a sentence", "text", "a7") in KNOWN
    assert TextPair("a sentence", "text", "a1") not in KNOWN


def test_other_spellings_are_of_the_same_topics():
    assert TextPair("in vitro , others .", "text", "a1") in KNOWN
    assert TextPair("a sentence", "text", " A7") in KNOWN


def test_pairs_without_a_source_are_of_no_topic():
    assert TextPair("a sentence", "text", "") not in KNOWN


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tc\nx\ty\n", "pairs.tsv:1: there is no column 'b'; the columns: a, c."),
        ("a\tb\nx\t\nx\n", "pairs.tsv: no line has both 'a' and 'b'."),
    ],
)
def test_a_file_without_pairs_is_seen_by_its_beginning(tmp_path, content, message):
    path = tmp_path / "pairs.tsv"
    path.write_text(content)
    with pytest.raises(InputError) as raised:
        TextPairs(path, "a", "b").check()
    assert message in str(raised.value)


def test_a_file_with_a_pair_is_read_no_further(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"a\tb\nx\ty\n" + b"x\ty\n" * 50_000 + b"\xff")
    TextPairs(path, "a", "b").check()


def test_a_column_of_sources_that_is_named_has_to_be_there(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\tsource\nx\ty\ts1\n", encoding="utf-8")
    TextPairs(path, "a", "b", "source").check()
    with pytest.raises(InputError, match=r"1: there is no column 'sorce'; the columns: a, b, s"):
        TextPairs(path, "a", "b", "sorce").check()
