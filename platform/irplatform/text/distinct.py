"""The distinct words of a topic's candidates, for what depends on a word alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from irplatform.text.arrays import Int32, Int64


def distinct_words(tokens: Int32, vocabulary: int) -> tuple[Int64, Int64]:
    """Distinct token ids, and each token's position among them (their number for padding).

    Marking the vocabulary beats sorting the tokens while it is not much larger than they are.
    """
    if vocabulary > 64 * tokens.size:
        flat, inverse = np.unique(tokens, return_inverse=True)
        padded = int(flat[:1].tolist() == [-1])
        positions = inverse.reshape(tokens.shape) - padded
        return flat[padded:].astype(np.int64), np.where(
            positions < 0, len(flat) - padded, positions
        )
    seen = np.zeros(vocabulary + 1, dtype=np.bool_)
    seen[tokens] = True  # padding, -1, marks the last entry
    seen[vocabulary] = False
    distinct = np.flatnonzero(seen)
    place = np.full(vocabulary + 1, len(distinct), dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[tokens]
