"""Distinct words: of a topic's candidates, and of every document of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.data import FieldValue
    from irplatform.text.arrays import Float32, Int32, Int64
    from irplatform.text.forward_index import Field, ForwardIndex
    from irplatform.text.vectors import WordVectors


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


# MeSH headings as a document's field has them.


def main_headings(value: FieldValue | None) -> list[str]:
    """Headings without their qualifiers and the stars of major topics, each once.

    Args:
        value: several texts, or one with semicolons; `*Melanoma / drug therapy` is *Melanoma*.
    """
    if value is None:
        return []
    values: Sequence[str] = value.split(";") if isinstance(value, str) else value
    names = (" ".join(text.replace("*", "").partition("/")[0].split()) for text in values)
    return [name for name in dict.fromkeys(names) if name.strip(" ,")]


# Vectors of length 1, whose inner products are cosines.

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


_SHOUTED = 0.7
"""Share of capitals among a line's letters from which on they say nothing."""
_FEWEST_WORDS = 4
"""Of a line, to tell."""


class Capitals:
    """Whether a line of a text is written in capitals throughout, so that they say nothing."""

    def __init__(self, text: str) -> None:
        self._loud: list[tuple[int, bool]] = []
        end = 0
        for line in text.split("\n"):
            end += len(line) + 1
            capitals = sum(map(str.isupper, line))
            letters = capitals + sum(map(str.islower, line))
            self._loud.append(
                (end, len(line.split()) >= _FEWEST_WORDS and capitals > _SHOUTED * letters)
            )

    def say_nothing(self, place: int) -> bool:
        """Whether a character stands in such a line."""
        return next(loud for end, loud in self._loud if place < end)
