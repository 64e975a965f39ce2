"""Spellings that analysis tells apart and no knowledge base lists."""

import pytest

from irplatform.expansion import names as spellings


@pytest.mark.parametrize(
    ("symbol", "other"),
    [
        ("HER2", "HER-2"),
        ("HER-2", "HER2"),
        ("KRAS", "K-RAS"),
        ("B-raf", "Braf"),
        ("IGF1R", "IGF-1R"),
        ("IGF-1R", "IGF1R"),
    ],
)
def test_a_symbol_is_written_with_and_without_a_hyphen(symbol, other):
    assert list(spellings.of_a_symbol(symbol)) == [other]


@pytest.mark.parametrize("symbol", ["PTEN", "PIK3CA", "TIAF", "123", "RAS", "RAF", ""])
def test_no_hyphen_where_texts_put_none(symbol):
    assert not list(spellings.of_a_symbol(symbol))


def test_the_letter_at_the_end_is_greek_where_the_full_name_says_so():
    name = "platelet derived growth factor receptor beta"
    found = list(spellings.by_full_names("PDGFRB", [name]))
    assert found == ["PDGFRβ", "PDGFR-β", "PDGFRbeta", "PDGFR-beta"]
    assert not list(spellings.by_full_names("PDGFRA", [name])), "another letter"
    assert not list(spellings.by_full_names("ALPHA", ["a thing of alphabets"]))


def test_proto_oncogenes_are_cellular():
    name = "MET proto-oncogene, receptor tyrosine kinase"
    assert list(spellings.by_full_names("MET", [name])) == ["cMET"]


def test_tumors_have_many_words():
    assert "lung carcinoma" in spellings.of_a_tumor("lung cancer")
    assert not list(spellings.of_a_tumor("melanoma"))
