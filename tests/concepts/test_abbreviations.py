"""What an article's abbreviations stand for: every rule by an example that breaks without it."""

import pytest

from irplatform.concepts.matcher import NameMatcher
from irplatform.concepts.pipeline import definitions

NOTHING_KNOWN = "something else"
NOT_DEFINED = "whatever the knowledge bases say"


@pytest.mark.parametrize(
    ("short", "long_form", "meaning"),
    [
        ("LC", "lung cancer", "lung cancer"),
        ("LC", "metastatic castration-resistant lung cancer", "lung cancer"),
        ("LC", "advanced metastatic castration-resistant lung cancer", NOTHING_KNOWN),
        ("SM", "skin melanoma", NOTHING_KNOWN),  # one word of two
        ("LC", "lung cancer cells", NOTHING_KNOWN),  # what it ends in counts
        ("AR", "androgen receptor", "AR"),
        ("AR", "inpatients", "inpatients"),  # no protein, so not the gene's
        ("AR", "protein S", "protein S"),  # whose names have neither AR nor a word of its names
        ("BRAF", "protein S", "BRAF"),  # four characters are no coincidence
        ("BRAF", "rapidly accelerated fibrosarcoma", NOT_DEFINED),
        ("BRAF-mut", "mutation of the oncogene", NOT_DEFINED),  # but a part of it is known
        ("BRAF V600E", "BRAF with glutamic acid", NOT_DEFINED),
        ("BRAF V600E", "mutation of the oncogene", NOTHING_KNOWN),
        ("AR", "hepatocyte growth factor receptor", "MET"),  # another gene
        ("HGFR", "protein S", "protein S"),  # an alias is no symbol
        ("AR", "androgen response element", NOTHING_KNOWN),  # one word of three
        ("AR", "androgen receptor antagonist", NOT_DEFINED),  # two words of three
        ("AR", "new gen", NOTHING_KNOWN),  # three letters tell nothing
        ("AR", "allergic rhinitis", NOTHING_KNOWN),
        ("XYZ", "nothing of the kind", NOTHING_KNOWN),
    ],
)
def test_what_an_abbreviation_stands_for(table, short, long_form, meaning):
    abbreviations = definitions(NameMatcher(table), {short: long_form})
    meanings = {s: NOTHING_KNOWN if c is None else table.names[c] for s, c in abbreviations.items()}
    assert meanings.get(short, NOT_DEFINED) == meaning
