"""Distinct words: of a topic's candidates, and of every document of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.text.arrays import Int32, Int64
    from irplatform.text.forward_index import Field, ForwardIndex

_BLOCK = 20_000
"""Documents at once."""


def distinct_per_document(
    index: ForwardIndex, number_of: Int32, field: Field = "text"
) -> Iterator[tuple[Int64, Int64, Int64]]:
    """What stands for words, each once for every document that has it.

    Args:
        index: the documents.
        number_of: int32 [words], what stands for each word, from 0: its stem, say.
        field: of the documents.

    Yields:
        Rows of a block of documents, all of them in their order; and for each pair of a document
        and a distinct number its document, counted within the block, and the number.
    """
    size = max(int(number_of.max(initial=0)) + 1, 1)
    for start in range(0, index.count, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, index.count))
        words, offsets = index.tokens(rows, field)
        documents = np.repeat(np.arange(len(rows)), np.diff(offsets))
        pairs = np.unique(documents * size + number_of[words])
        yield rows, pairs // size, pairs % size


def distinct_words(tokens: Int32 | Int64, vocabulary: int) -> tuple[Int64, Int64]:
    """Distinct token ids in ascending order, and each token's position among them.

    Marking the vocabulary beats sorting the tokens while it is not much larger than they are.

    Args:
        tokens: of any shape; -1 is padding, whose position is the number of distinct ids.
        vocabulary: how many ids there are.
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
