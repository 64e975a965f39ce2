"""A word is searched in one way to write it; our own tokenizer sees no difference."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.text import tokenize
from irplatform.text.tokenizer import composed, is_folded


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Amyloid ﬁbrils, inﬂamed, oﬃce", "Amyloid fibrils, inflamed, office"),
        ("chole\u00adsterol mela\u200bnoma \ufeffa\u200d", "cholesterol melanoma a"),
        ("ＢＲＡＦ：Ｖ６００Ｅ（ｎ＝１．５）", "BRAF:V600E(n=1.5)"),
        ("ｶﾞﾝ 𝐁𝐑𝐀𝐅 Ⅲ CO₂ ĳ 5㎎", "ガン BRAF III CO2 ij 5mg"),
        ("\u00b5-opioid 10\u202fmg", "\u03bc-opioid 10 mg"),
        ("e\u0301", "\u00e9"),
    ],
)
def test_forms_of_letters_are_these_letters(text, form):
    assert composed(text) == form
    assert is_folded(text) == (form != "\u00e9")


@pytest.mark.parametrize(
    "text", ["patients¹ 10⁵ ½ Herceptin™ a\u00a0b ´x ℃ ①a 1…2", "β-cells, naïve", "ASCII"]
)
def test_superscripts_and_what_parts_words_stay(text):
    assert composed(text) == text
    assert not is_folded(text)


CHARACTERS = st.characters(max_codepoint=0x1FFFF, exclude_categories=["Cs", "Cn"])


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from("aZ5.-' %,²™") | st.sampled_from("ﬁ\u00adＡ₂µⅢ\u200bé") | CHARACTERS)
)
def test_what_is_composed_has_the_same_words_and_is_composed(characters):
    text = unicodedata.normalize("NFC", "".join(characters))
    form = composed(text)
    assert tokenize(form) == tokenize(text)
    assert composed(form) == form
    assert is_folded(text) == any(map(is_folded, text))
