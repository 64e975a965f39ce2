"""The test subsets hold the queries that the paper describes."""

import pytest

from irplatform.building.clicks import with_matching_negatives, with_new_words
from irplatform.plugin import Document


def test_new_words_are_those_of_no_training_or_validation_query():
    queries = {"a": "lung cancer", "b": "lung fibrosis", "c": "pulmonary fibrosis", "d": "..."}
    any_new, all_new = with_new_words(queries, {"lung", "cancer"})
    assert any_new == {"b", "c"}
    assert all_new == {"c"}


def test_words_are_the_same_in_both_spellings_of_a_name():
    any_new, _ = with_new_words({"a": "IL-6"}, {"il6"})
    assert not any_new


@pytest.mark.parametrize("pairs_at_a_time", [1_000, 7])
def test_neg20_needs_twenty_non_relevant_documents_with_all_words_in_the_title(pairs_at_a_time):
    documents = [
        Document(f"d{i}", "Cancer of the lung" if i < 25 else "Lungs", "lung cancer")
        for i in range(60)
    ]
    queries = {"enough": "lung cancer", "few": "lung cancer", "other": "lung fibrosis", "none": "-"}
    negatives = [
        *(("enough", f"d{i}") for i in range(20)),
        *(("few", f"d{i}") for i in range(6, 60)),  # 19 of them match
        *((name, f"d{i}") for name in ("other", "none") for i in range(60)),
        ("enough", "nowhere"),
    ]
    matches = with_matching_negatives(
        queries, negatives, lambda: documents, pairs_at_a_time=pairs_at_a_time
    )
    assert matches == {"enough"}
