import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.text import tokenize
from irplatform.text.tokenizer import NUMBER_CLASSES, fold


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Statin use, and breast-cancer survival.", "statin use and breast cancer survival"),
        ("IL-6, il6 and Il-6", "il6 il6 and il6"),
        ("HER-2/neu; HER2/neu", "her2 neu her2 neu"),
        ("p53 BRCA1 5-HT 5-HT2A 5-FU miR-34a", "p53 brca1 5ht 5ht2a 5fu mir34a"),
        ("omega-3, ω-3 and n-3", "omega3 omega3 and n3"),
        ("COVID-19 SARS-CoV-2 LY-294002", "covid19 sars cov2 ly294002"),
        ("e.g. given i.v. in the U.S.A.", "eg given iv in the usa"),
        ("p.V600E in E. coli", "p v600e in e coli"),
        ("Alzheimer’s and Crohn's disease", "alzheimer and crohn disease"),
        ("CD8+ cells, Na+", "cd8 cells na"),
        ("snake_case", "snake case"),
        ("", ""),
        (" \n\t.,;:!?—…", ""),
    ],
)
def test_words_and_abbreviations_stay_whole_and_punctuation_goes(text, words):
    assert tokenize(text) == words.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("type-2 diabetes", "type <int> diabetes"),
        ("5-day 10-yr-old", "<int> day <int> yr old"),
        ("mid-1990s", "mid <19xx>"),
        ("interleukin-6", "interleukin <int>"),
        ("pH-7.4", "ph <real>"),
        ("up-5%", "up <percent>"),
    ],
)
def test_everyday_words_and_numbers_around_a_hyphen_are_no_abbreviation(text, words):
    assert tokenize(text) == words.split()


@pytest.mark.parametrize(
    ("number", "word"),
    [
        ("7", "<int>"),
        ("0", "<int>"),
        ("31,236", "<int>"),
        ("12345", "<int>"),
        ("0.46", "<fraction>"),
        (".05", "<fraction>"),
        ("0·46", "<fraction>"),
        ("0.0", "<real>"),
        ("1.0", "<real>"),
        ("3.25", "<real>"),
        ("5,000.50", "<real>"),
        ("1.2.3", "<real>"),
        ("1899", "<int>"),
        ("1900", "<19xx>"),
        ("1990s", "<19xx>"),
        ("2099", "<20xx>"),
        ("2100", "<int>"),
        ("60%", "<percent>"),
        ("60.2 %", "<percent>"),
        ("1999%", "<percent>"),
        ("60％", "<percent>"),
        ("$500", "<dollar>"),
        ("$ 1,200.50", "<dollar>"),
    ],
)
def test_a_number_becomes_its_class(number, word):
    assert tokenize(number) == [word]
    assert tokenize(f"of ({number}), and") == ["of", word, "and"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1995–2003", "<19xx> <20xx>"),
        ("5-10", "<int> <int>"),
        ("(1,2)", "<int> <int>"),
        ("P<0.05", "p <fraction>"),
        ("n=25", "n <int>"),
        ("-5", "<int>"),
        ("1.5mg or 5mg", "<real> mg or 5mg"),
        ("22q11.2", "22q11 <int>"),
        ("US$5", "us <dollar>"),
    ],
)
def test_numbers_beside_other_signs(text, words):
    assert tokenize(text) == words.split()


@pytest.mark.parametrize(
    ("spellings", "words"),
    [
        (["TNF-α", "TNFα", "TNF-alpha", "TNF‐Α"], "tnf alpha"),
        (["IL-1β", "IL-1beta"], "il1 beta"),
        (["TGF-β1", "TGFβ1", "TGF-beta1"], "tgf beta1"),
        (["β-catenin", "beta-catenin", "βcatenin"], "beta catenin"),
        (["5 μg", "5 µg"], "<int> ug"),
        (["μ-opioid", "mu-opioid"], "mu opioid"),
        (["Sjögren", "Sjo\u0308gren", "SJÖGREN"], "sjogren"),
        (["CO₂", "CO2", "ＣＯ２"], "co2"),
        (["Herceptin™", "Herceptin®", "herceptin"], "herceptin"),
        (["well\u00adknown", "wellknown"], "wellknown"),
        (["ﬁbrosis", "fibrosis"], "fibrosis"),
        (["non‑small", "non-small", "non small"], "non small"),
    ],
)
def test_typographic_variants_are_one_spelling(spellings, words):
    assert {" ".join(tokenize(spelling)) for spelling in spellings} == {words}


def test_words_of_other_scripts_are_kept():
    assert tokenize("белок ПРОТЕИН 蛋白 πρωτεΐνη") == ["белок", "протеин", "蛋白", "πρωτεινη"]


WORD = re.compile(r"[^\W_]+")


@given(st.text())
def test_every_word_is_alphanumeric_or_a_class_of_numbers(text):
    for word in tokenize(text):
        assert word in NUMBER_CLASSES or (WORD.fullmatch(word) and word == word.lower())


@given(st.lists(st.from_regex(r"[a-z]{1,8}|[a-z]{1,4}[0-9]{1,3}", fullmatch=True)))
def test_words_come_back_whatever_stands_between_them(words):
    assert tokenize(" ".join(words)) == words
    assert tokenize(";  ".join(words) + ".") == words


@given(st.text(st.characters(codec="ascii")))
def test_plain_text_is_folded_to_lower_case_only(text):
    assert fold(text) == text.lower()


@given(st.text(), st.text())
def test_a_blank_line_between_texts_separates_them(left, right):
    # Combining marks at the start of a text belong to what is before them.
    assert tokenize(f"{left}\n\n|{right}") == tokenize(left) + tokenize(f"|{right}")
