"""When a name counts: every condition on either side of where it begins."""

import pytest

from irplatform.concepts.ambiguity import Condition, condition, is_acronym_of_nothing, shared

ALWAYS, CAPITALS, SUPPORT = Condition.NONE, Condition.CAPITALS, Condition.SUPPORT
WHOLE, BOTH = Condition.WHOLE, Condition.CAPITALS | Condition.SUPPORT


@pytest.mark.parametrize(
    ("text", "name_kind", "kind", "requirement"),
    [
        ("melanoma", "preferred", "disease", ALWAYS),
        ("melanoma", "narrow", "disease", ALWAYS),
        ("melanoma", "broad", "disease", None),
        ("melanoma", "related", "disease", None),
        ("x", "synonym", "disease", None),
        ("5-10", "synonym", "drug", None),
        ("ox", "synonym", "disease", WHOLE),
        ("lung cancer", "synonym", "disease", ALWAYS),
        ("ab cd2", "synonym", "drug", ALWAYS),
        ("ab c2", "synonym", "drug", BOTH),
        ("and 1", "synonym", "drug", WHOLE),
        ("AND-1", "synonym", "drug", CAPITALS),
        ("AN-1", "synonym", "drug", WHOLE),
        ("an inhibitor", "synonym", "drug", WHOLE),
        ("AN inhibitor", "synonym", "drug", CAPITALS),
        ("A-T Protein", "synonym", "drug", CAPITALS),
        ("a t protein", "synonym", "drug", WHOLE),
        ("C E antigen", "synonym", "drug", ALWAYS),
        ("AND", "synonym", "drug", BOTH),
        ("And", "synonym", "drug", WHOLE),
        ("culture", "preferred", "other", WHOLE),
        ("Cultures", "preferred", "other", WHOLE),
        ("cold", "preferred", "disease", SUPPORT),
        ("tea", "preferred", "drug", SUPPORT),
        ("teas", "preferred", "variant", SUPPORT),
        ("opium", "preferred", "drug", ALWAYS),
        ("gout", "preferred", "disease", ALWAYS),
        ("ALL", "abbreviation", "disease", BOTH),
        ("COLD", "abbreviation", "disease", BOTH),
        ("GIST", "abbreviation", "disease", CAPITALS),
        ("T790M", "preferred", "variant", ALWAYS),
    ],
)
def test_names_of_what_is_no_gene(text, name_kind, kind, requirement):
    assert condition(text, name_kind, kind) == requirement


@pytest.mark.parametrize(
    ("text", "name_kind", "symbol", "requirement"),
    [
        ("insulin", "preferred", "INS", ALWAYS),
        ("versican", "synonym", "VCAN", ALWAYS),
        ("titin", "synonym", "TTN", SUPPORT),
        ("maintenance", "synonym", "X1", SUPPORT),
        ("versican", "alias", "VCAN", SUPPORT),
        ("BID", "preferred", "BID", BOTH | Condition.ALONE),
        ("BID", "previous", "X1", BOTH | Condition.ALONE),
        ("BID", "alias", "X1", BOTH),
        ("AR", "preferred", "AR", BOTH),
        ("MET", "preferred", "MET", CAPITALS),
        ("F12", "preferred", "F12", CAPITALS),
        ("CD59", "preferred", "CD59", ALWAYS),
        ("AR", "previous", "X1", WHOLE),
        ("ABCD", "previous", "X1", BOTH),
        ("ABCDE", "previous", "X1", CAPITALS),
        ("F12", "previous", "X1", BOTH),
        ("F123", "previous", "X1", ALWAYS),
        ("beta-3", "previous", "X1", SUPPORT),
        ("beta-3", "preferred", "X1", ALWAYS),
        ("PD-1", "previous", "X1", CAPITALS),
        ("PDA-1", "previous", "X1", ALWAYS),
        ("ABCDE", "alias", "X1", BOTH),
        ("ABCDEF", "alias", "X1", CAPITALS),
        ("AB123", "alias", "X1", SUPPORT),
        ("HER2", "alias", "ERBB2", ALWAYS),
        ("p53", "alias", "TP53", CAPITALS),
        ("p53", "alias", "X1", BOTH),
    ],
)
def test_names_of_genes(text, name_kind, symbol, requirement):
    assert condition(text, name_kind, "gene", symbol) == requirement


def test_a_name_of_two_is_ambiguous_where_it_is_short_or_both_are_genes():
    assert shared("gene", "drug", "abc")
    assert not shared("gene", "drug", "abcd")  # a gene and its protein
    assert not shared("other", "gene", "abcd")
    assert shared("gene", "disease", "abcde")
    assert not shared("gene", "disease", "abcdef")
    assert shared("gene", "gene", "abcdefgh")
    assert not shared("drug", "drug", "abcdef")


def test_what_is_written_as_an_acronym_where_the_name_is_a_word():
    assert is_acronym_of_nothing("PET", "pet")
    assert not is_acronym_of_nothing("PET", "PET")
    assert not is_acronym_of_nothing("Pet", "pet")
    assert not is_acronym_of_nothing("CD4", "cd4")
    assert not is_acronym_of_nothing("PATIENT", "patient")
