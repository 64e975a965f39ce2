"""Columns of text tables: cells, numbers, and keys."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.files.columns import changes, codes, packed, split, texts_of, words

CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\v\f\0"), min_size=1
)


def test_cells_are_those_of_the_lines():
    table = split(b"1 Q0 d7\n12\tQ0 document-40\n1 Q0 d7", 3)
    assert len(table) == 3
    assert table.column(0).tolist() == [b"1", b"12", b"1"]
    assert table.column(2).tolist() == [b"d7", b"document-40", b"d7"]
    assert table.cell(0, 0) == b"1"
    assert table.cell(1, 2) == b"document-40"
    assert table.is_plain


@pytest.mark.parametrize(
    "block", [b"1 2\n3\n", b"1 2 3\n", b" 1 2\n", b"1  2\n", b"1 2\n\n", b"1 2 \n", b"1 2\r\n"]
)
def test_other_lines_make_no_table(block):
    assert split(block, 2) is None


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1))
def test_any_texts_come_back(rows):
    table = split("".join(f"{first} {second}\n" for first, second in rows).encode(), 2)
    for number, texts in enumerate(zip(*rows, strict=True)):
        assert texts_of(table.column(number)) == list(texts)
        assert texts_of(packed(texts)) == list(texts)


@given(texts=st.lists(st.one_of(st.sampled_from(["a", "b", "x" * 70]), CELLS), min_size=1))
def test_order_codes_and_changes_are_those_of_the_texts(texts):
    cells = packed(texts)
    if (keys := words(cells)) is not None:
        order = np.lexsort(keys.T[::-1])
        assert texts_of(cells[order]) == sorted(texts)
    assert len({*codes(cells).tolist()}) == len({*texts})
    differ = [0, *(n for n in range(1, len(texts)) if texts[n] != texts[n - 1])]
    assert changes(cells).tolist() == differ


@given(texts=st.lists(st.text("x", min_size=1, max_size=80), min_size=1))
def test_a_text_has_the_same_code_in_columns_of_any_width(texts):
    narrow = np.concatenate([codes(packed([text])) for text in texts])
    assert narrow.tolist() == codes(packed(texts)).tolist()


@given(numbers=st.lists(st.integers(0, 99_999_999), min_size=1))
def test_whole_numbers_are_read(numbers):
    table = split("".join(f"{number}\n" for number in numbers).encode(), 1)
    assert table.whole_numbers(0).tolist() == numbers


@pytest.mark.parametrize("text", ["1.0", "-1", "1e3", "123456789", "1a", ":", "/", "٣"])
def test_other_texts_are_no_whole_numbers(text):
    assert split(f"7\n{text}\n".encode(), 1).whole_numbers(0) is None


@pytest.mark.parametrize("text", ["1_0", "null", "1,2", "1],[2", "nan1", "true"])
def test_texts_that_are_no_numbers_are_refused(text):
    with pytest.raises(ValueError, match=r"number|float"):
        split(f"7\n{text}\n".encode(), 1).numbers(0)


def test_numbers_are_the_nearest_of_64_bits_however_they_are_written():
    texts = ["1.5", "-0", "+2", ".5", "7.", "007", "1e5", "0.1000000000000000055", "1" * 70]
    numbers = split("".join(f"{text}\n" for text in texts).encode(), 1).numbers(0)
    assert [repr(number) for number in numbers.tolist()] == [repr(float(text)) for text in texts]
