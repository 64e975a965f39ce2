"""The words and names that a topic asks for, and the passage that has most of them."""

from hypothesis import given
from hypothesis import strategies as st

from irplatform.reports.html.passages import TopicWords

words = st.lists(st.sampled_from(["lung", "cancers", "of", "ERBB2", "treated", "…", "x" * 30]))
texts = words.map(" ".join)


def found(query, text):
    return [(text[m.start : m.end], m.is_name) for m in query.matches(text)]


def test_words_match_in_other_forms_and_names_as_phrases():
    query = TopicWords("treated lung cancers", ["carcinoma of the lung", "HER2"])
    assert found(query, "Treating a CANCER: carcinoma of the lungs, Carcinoma of the lung") == [
        ("Treating", False),
        ("CANCER", False),
        ("lungs", False),
        ("Carcinoma of the lung", True),
    ]


def test_short_names_match_only_as_they_are_written():
    query = TopicWords("gastric", ["MET", "c-met proto-oncogene"])
    assert found(query, "We met MET and C-MET proto-oncogene") == [
        ("MET", True),
        ("C-MET proto-oncogene", True),
    ]


def test_small_words_and_parts_of_words_do_not_match():
    assert found(TopicWords("cancer of the lung"), "of the plunge and incancer") == []


def test_a_name_of_the_query_is_a_word():
    assert found(TopicWords("EGFR lung", ["EGFR"]), "EGFR") == [("EGFR", False)]


def test_the_passage_is_where_most_different_words_are():
    filler = "Nothing is said here about it. " * 10
    text = f"A lung. {filler}The lung cancer had ERBB2. {filler}"
    passage = TopicWords("lung cancer ERBB2").passage(text, 80)
    assert "The lung cancer had ERBB2." in passage
    assert (passage[0], passage[-1], len(passage) <= 80) == ("…", "…", True)


def test_a_short_text_is_whole_and_without_matches_it_begins_at_the_beginning():
    assert TopicWords("lung").passage("Of  a\nheart.") == "Of a heart."
    assert TopicWords("lung").passage("heart " * 100, 20) == "heart heart heart…"


@given(texts, texts, st.integers(40, 200))
def test_a_passage_is_short_and_a_part_of_its_text(query, text, length):
    passage = TopicWords(query).passage(text, length)
    assert len(passage) <= length
    plain = " ".join(text.split())
    assert passage == plain or passage.removeprefix("…").removesuffix("…") in plain
