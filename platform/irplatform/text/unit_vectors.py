"""Vectors of length 1, whose inner products are cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from irplatform.text.arrays import Float32
    from irplatform.text.vectors import WordVectors

_NOTHING = 1e-12
"""Rows that are shorter are as good as 0, and stay it."""


def unit_rows(matrix: Float32) -> Float32:
    """Each row of a matrix, divided by its length; a row of zeros stays one."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(lengths, _NOTHING), dtype=np.float32)


def unit_vectors(vectors: WordVectors) -> Float32:
    """The rows of word vectors with length 1, for sums and cosines of words that are known.

    Returns:
        float32 [words + 1, dimensions]; the row of unknown words is 0, which adds nothing.
    """
    matrix = np.array(vectors.matrix, dtype=np.float32)
    matrix[vectors.unk] = 0
    return unit_rows(matrix)
