"""Spellings that analysis tells apart and no knowledge base lists."""

import pytest

from irplatform.expansion.names import full_name_spellings, symbol_spellings, tumor_spellings


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
    assert list(symbol_spellings(symbol)) == [other]


@pytest.mark.parametrize("symbol", ["PTEN", "PIK3CA", "TIAF", "123", "RAS", "RAF", ""])
def test_no_hyphen_where_texts_put_none(symbol):
    assert not list(symbol_spellings(symbol))


def test_the_letter_at_the_end_is_greek_where_the_full_name_says_so():
    name = "platelet derived growth factor receptor beta"
    spellings = list(full_name_spellings("PDGFRB", [name]))
    assert spellings == ["PDGFRβ", "PDGFR-β", "PDGFRbeta", "PDGFR-beta"]
    assert not list(full_name_spellings("PDGFRA", [name])), "another letter"
    assert not list(full_name_spellings("ALPHA", ["a thing of alphabets"]))


def test_proto_oncogenes_are_cellular():
    name = "MET proto-oncogene, receptor tyrosine kinase"
    assert list(full_name_spellings("MET", [name])) == ["cMET"]


def test_tumors_have_many_words():
    assert "lung carcinoma" in tumor_spellings("lung cancer")
    assert not list(tumor_spellings("melanoma"))
