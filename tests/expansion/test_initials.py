"""Abbreviations of names of several words."""

import pytest

from irplatform.expansion.names import fits


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("CRC", "colorectal cancer"),
        ("HNSCC", "head and neck squamous cell carcinoma"),
        ("MTC", "medullary thyroid carcinoma"),
        ("NSCLC", "non-small cell lung cancer"),
    ],
)
def test_an_abbreviation_has_the_first_letter_of_each_word_and_others_in_order(short, name):
    assert fits(short, name)
    assert not fits(short[1:], name)
    assert not fits(short, f"{name} syndrome")
    assert not fits(f"{short}X", name)
    assert not fits(short, name.split()[0])
