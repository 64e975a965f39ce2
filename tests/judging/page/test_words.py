"""The words of a topic in texts, by analysis and not by letters."""

import pytest
from judged_pools import plain_words

from irplatform.judging.page.words import Words


def test_a_word_is_marked_in_all_its_forms_and_never_inside_another():
    words = plain_words()
    terms = words.terms(["lung cancers"])
    assert words.marked("Cancer, CANCERS; cancerous lungs.", terms) == [
        *("", "Cancer", ", ", "CANCERS", "; cancerous ", "lungs", "."),
    ]
    assert words.marked("", terms) == [""]
    assert words.marked("gene_cancer <cancer>", terms) == ["gene_", "cancer", " <", "cancer", ">"]


def test_a_word_without_terms_is_not_marked():
    words = Words(lambda pieces: [[] if piece == "the" else [piece] for piece in pieces])
    assert words.marked("the lung", words.terms(["the lung"])) == ["the ", "lung", ""]


def test_a_word_is_analyzed_once():
    requests = []
    words = Words(lambda pieces: requests.extend(pieces) or [[piece] for piece in pieces])
    words.marked("a b a b", words.terms(["a"]))
    assert sorted(requests) == ["a", "b"]


@pytest.mark.java
def test_marks_are_what_the_index_matches():
    from irplatform.lucene.java import java_class
    from irplatform.lucene.queries import analyzed_pieces

    analyzer = java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()
    words = Words(lambda pieces: analyzed_pieces(analyzer, pieces))
    terms = words.terms(["to treat the BRAF gene"])
    text = "They treated general genes of BRAF-mutant cells; the brafs."
    assert words.marked(text, terms)[1::2] == ["treated", "genes", "BRAF", "brafs"]
