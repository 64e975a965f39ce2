"""Vectors of length 1."""

import numpy as np

from irplatform.text.vectors import WordVectors


def test_rows_have_length_1_or_are_zeros():
    rows = WordVectors.unit_rows(np.array([[3, 4], [0, 0], [0, -2]], dtype=np.float32))
    assert rows.tolist() == [[np.float32(0.6), np.float32(0.8)], [0, 0], [0, -1]]
    assert rows.dtype == np.float32


def test_unknown_words_have_a_vector_of_zeros():
    vectors = WordVectors.with_unk(["a", "b"], np.array([[2, 0], [0, 9]], dtype=np.float32), seed=1)
    assert vectors.unit().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert np.abs(vectors.matrix[vectors.unk]).sum() > 0, "as they were"
