import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.text import sentences
from irplatform.text import vector_training as sentence_splitter


@pytest.mark.parametrize(
    "sentence",
    [
        "We gave statins (e.g. Simvastatin) to mice.",
        "As in Fig. 1 and Refs. 3 and 4, it fell.",
        "E. coli grew by 3.5 mg.",
        "J. R. Smith wrote it.",
        "Smith et al. found it.",
        "P was <0.05. no more",
        "It rose, cf. Table 2, approx. 5 fold.",
        "A vs. B",
    ],
)
def test_a_sentence_stays_whole(sentence):
    assert sentences(sentence) == [sentence]


@pytest.mark.parametrize(
    "expected",
    [
        ["It rose.", "It fell."],
        ["Did it rise?", "Yes!", "It did."],
        ["It was 3.5.", "Then 4."],
        ["As shown by Smith et al.", "We agree."],
        ['He said "no."', "(It was a lie.)", "[Really.]"],
        ["BACKGROUND: A.B is known.", "METHODS: We looked."],
    ],
)
def test_sentences_are_parted(expected):
    assert sentences(" ".join(expected)) == expected
    assert sentences("\n".join(expected)) == expected


def test_a_blank_line_ends_a_sentence():
    assert sentences("A title without a stop\n\nand its text") == [
        "A title without a stop",
        "and its text",
    ]


@given(st.text(st.sampled_from("aB1 .?!\n(\"'")))
def test_nothing_is_lost_but_space(text):
    parts = sentences(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(parts)


@given(st.text(st.sampled_from("aB1. \n([,;/")))
def test_the_last_word_is_what_stands_behind_the_last_space_or_bracket(text):
    plain = re.split(r"[\s(\[,;/]", text)[-1]
    match = sentence_splitter._LAST_WORD.match(text)
    assert (match[1] if match else "") == plain
