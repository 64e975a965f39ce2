"""Texts that are too long for a model are split where a reader would split them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from irplatform_encoders.parts import parts


def _words(texts):
    return [len(text.split()) for text in texts]


def _characters(texts):
    return [len(text.replace(" ", "")) for text in texts]


def test_a_text_that_fits_is_one_part_as_it_is():
    assert parts(["  One two.\n Three. ", ""], _words, 3) == [["  One two.\n Three. "], [""]]


def test_a_text_is_split_at_the_ends_of_sentences_into_parts_of_similar_length():
    text = "A b c. D e f. G h i. J k l. M n o. P q r."
    assert parts([text], _words, 9) == [["A b c. D e f. G h i.", "J k l. M n o. P q r."]]
    assert parts([text], _words, 6) == [["A b c. D e f.", "G h i. J k l.", "M n o. P q r."]]


def test_a_long_sentence_is_split_between_words_and_a_long_word_within():
    assert parts(["one two three four five six seven"], _words, 3)[0] == [
        "one two three",
        "four five",
        "six seven",
    ]
    assert parts(["abcdefghij"], _characters, 4) == [["abc", "defg", "hij"]]


def test_a_part_ends_with_a_sentence_if_one_ends_anywhere():
    long = "Then " + " ".join(["word"] * 19)
    assert parts([f"Short. {long}"], _words, 20)[0] == ["Short.", long]


@given(text=st.text(alphabet="ab. \n", max_size=80), most=st.integers(1, 9))
def test_parts_fit_and_have_all_of_the_text(text, most):
    (pieces,) = parts([text], _characters, most)
    assert all(length <= most for length in _characters(pieces)) or text == pieces[0]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert pieces == parts([text], _characters, most)[0]


def test_texts_are_counted_together():
    counts = []

    def count(texts):
        counts.append(len(texts))
        return _words(texts)

    read = [" ".join(["w"] * n) for n in np.random.default_rng(1).integers(1, 9, 50)]
    parts(read, count, 8)
    assert counts == [50]
