"""Texts as bags of words with vectors: what both encoders read.

Words are rows of the word vectors. Those without a vector are left out: they tell nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from irplatform.text.arrays import Int64, ragged, without
from irplatform.text.tokenizer import normalize, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    import numpy.typing as npt
    from torch import Tensor

    from irplatform.text import ForwardIndex, WordVectors


UNKNOWN = -1


@dataclass(frozen=True)
class Bags:
    """The words of some texts, one text behind the other.

    Attributes:
        words: int64, rows of the word vectors.
        offsets: int64 [texts + 1], where each text begins.
    """

    words: Int64
    offsets: Int64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, numbers: Int64) -> Bags:
        """Some of the texts."""
        starts, lengths = self.offsets[numbers], np.diff(self.offsets)[numbers]
        places, offsets = ragged(starts, lengths)
        return Bags(self.words[places], offsets)

    def distinct(self, device: str) -> tuple[Tensor, Tensor, Tensor]:
        """The distinct words, the place of every word among them, and where each text begins."""
        words, places = np.unique(self.words, return_inverse=True)
        arrays = (words, places.astype(np.int64), self.offsets[:-1])
        first, second, third = (torch.from_numpy(array).to(device) for array in arrays)
        return first, second, third


def joined(first: Bags, second: Bags) -> Bags:
    """Texts of one behind those of the other."""
    offsets = np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]])
    return Bags(np.concatenate([first.words, second.words]), offsets)


class Reader:
    """Makes bags of texts and of a collection's documents."""

    def __init__(self, index: ForwardIndex, vectors: WordVectors) -> None:
        self.index = index
        self._row_of_word = vectors.align_known(index.vocabulary)
        self._row_of_piece = _Rows(vectors)

    def texts(self, texts: Iterable[str]) -> Bags:
        """Bags of texts."""
        words: list[int] = []
        ends = [0]
        for text in texts:
            rows = map(self._row_of_piece.__getitem__, pieces(text))
            words += [row for row in rows if row != UNKNOWN]
            ends.append(len(words))
        return Bags(np.array(words, dtype=np.int64), np.array(ends, dtype=np.int64))

    def documents(self, rows: Int64, field: Literal["title", "abstract"]) -> Bags:
        """Bags of a field of documents, which are named by their rows of the forward index."""
        ids, offsets = self.index.tokens(rows, field)
        words = self._row_of_word[ids]
        return Bags(*without(words, offsets, words == UNKNOWN))


class _Rows(dict[str, int]):
    """The row of every piece of text; each distinct one is looked up once."""

    def __init__(self, vectors: WordVectors) -> None:
        super().__init__()
        self._vectors = vectors

    def __missing__(self, piece: str) -> int:
        (row,) = self._vectors.rows([normalize(piece)])
        self[piece] = entry = UNKNOWN if row == self._vectors.unk else int(row)
        return entry


def inverse_frequencies(index: ForwardIndex, vectors: WordVectors) -> npt.NDArray[np.float32]:
    """The IDF of every word that has a vector; 0 for UNK.

    A word that the collection lacks counts as the rarest ones do.
    """
    idf = index.idf("text").astype(np.float32)
    ids = index.vocabulary.ids(list(vectors.words))
    row_idf = np.full(len(vectors.matrix), idf.max(initial=0.0), dtype=np.float32)
    row_idf[:-1][ids >= 0] = idf[ids[ids >= 0]]
    row_idf[-1] = 0
    return row_idf
