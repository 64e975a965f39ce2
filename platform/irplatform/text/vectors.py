"""Word vectors as models read them: a memory-mapped matrix with a row for unknown words.

As in Severyn and Moschitti (SIGIR 2015) and both Delta papers (Mohan et al. 2017, 2018), every word
without a vector of its own, rare or unseen, is the one word UNK, whose vector is drawn from
U[-0.25, 0.25]. Vectors are made by `train_vectors` or `import_vectors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.errors import PlatformError
from irplatform.json_io import read_own_json
from irplatform.storage import write_json
from irplatform.text.string_table import UNKNOWN, StringTable, StringTableWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.text.arrays import Int32, Int64
    from irplatform.text.forward_index import Vocabulary

VECTORS_FORMAT = 1
"""Of the folder's files. A new one makes cached vectors be made again under another name."""
UNK_RANGE = 0.25

_FACTS = "vectors.json"
_MATRIX = "vectors.npy"
_CHUNK = 100_000


class WordVectors:
    """Words and their vectors.

    Attributes:
        words: the words that have a vector; their row is their place.
        matrix: float32 [len(words) + 1, dimensions]; the last row is the vector of UNK.
        facts: how they were made: options, size of the text, source.
    """

    def __init__(
        self,
        words: Sequence[str],
        matrix: npt.NDArray[np.float32],
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        if matrix.shape[0] != len(words) + 1:
            raise ValueError(f"{len(words)} words and UNK, but {matrix.shape[0]} vectors")
        self.words = words if isinstance(words, StringTable) else StringTable.of(words)
        self.matrix = matrix
        self.facts = dict(facts or {})

    @classmethod
    def with_unk(
        cls,
        words: Sequence[str],
        vectors: npt.NDArray[np.float32],
        *,
        seed: int,
        facts: Mapping[str, Any] | None = None,
    ) -> WordVectors:
        """Vectors in memory, with a vector for UNK drawn with a seed.

        Args:
            words: distinct words.
            vectors: [len(words), dimensions].
            seed: of the draw.
            facts: see the class.
        """
        generator = np.random.default_rng(seed)
        unk = generator.uniform(-UNK_RANGE, UNK_RANGE, size=(1, vectors.shape[1]))
        return cls(words, np.concatenate([vectors, unk.astype(np.float32)]), facts)

    @classmethod
    def open(cls, folder: Path) -> WordVectors:
        """Memory-map the vectors in a folder.

        Raises:
            PlatformError: there are none.
        """
        if not (folder / _FACTS).exists():
            raise PlatformError(f"{folder}: there are no word vectors here.")
        facts = read_own_json(folder / _FACTS)
        matrix = np.load(folder / _MATRIX, mmap_mode="r", allow_pickle=False)
        return cls(StringTable.open(folder, "words"), np.asarray(matrix), facts)

    def save(self, folder: Path) -> None:
        """Write the vectors into a folder, which is made if it is missing.

        Raises:
            PlatformError: a word has two vectors.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with StringTableWriter(folder, "words") as table:
            for start in range(0, len(self.words), _CHUNK):
                stop = min(len(self.words), start + _CHUNK)
                table.extend([self.words[row] for row in range(start, stop)])
        if (twice := table.finish()) is not None:
            raise PlatformError(f"the word '{twice}' has two vectors.")
        np.save(folder / _MATRIX, np.ascontiguousarray(self.matrix), allow_pickle=False)
        write_json(folder / _FACTS, self.facts)

    @property
    def unk(self) -> int:
        """The row of UNK."""
        return len(self.words)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self.matrix.shape[1])

    def rows(self, words: Sequence[str]) -> Int32:
        """The rows of words, UNK's for those without a vector: int32 [len(words)]."""
        rows = self.words.find(words)
        rows[rows == UNKNOWN] = self.unk
        return rows.astype(np.int32)

    def known_rows(self, words: Sequence[str]) -> Int64:
        """The rows of the words that have a vector, in their order: int64, as many as there are."""
        rows = self.words.find(words)
        known: Int64 = rows[rows != UNKNOWN].astype(np.int64)
        return known

    def align(self, vocabulary: Vocabulary) -> Int32:
        """The row of every word of a vocabulary, UNK's for those without a vector.

        `matrix[align(vocabulary)[ids]]` are then the vectors of word ids; -1, the id of words
        that the collection lacks, has to be mapped before.

        Returns:
            int32 [len(vocabulary)].
        """
        if len(vocabulary) <= len(self.words):
            return self.rows(list(vocabulary))
        aligned = np.full(len(vocabulary), self.unk, dtype=np.int32)
        ids = vocabulary.ids(list(self.words))
        rows = np.arange(len(ids), dtype=np.int32)
        aligned[ids[ids != UNKNOWN]] = rows[ids != UNKNOWN]
        return aligned

    def align_known(self, vocabulary: Vocabulary) -> Int64:
        """The row of every word of a vocabulary, -1 where it has none: int64 [len(vocabulary)]."""
        aligned = self.align(vocabulary).astype(np.int64)
        aligned[aligned == self.unk] = UNKNOWN
        return aligned

    def coverage(self, vocabulary: Vocabulary, frequency: Int64) -> tuple[float, float]:
        """How much of a collection has a vector.

        Args:
            vocabulary: its words.
            frequency: how often each occurs, int64 [len(vocabulary)].

        Returns:
            The shares of its words, and of their occurrences, from 0 to 1; 0 where it has none.
        """
        if not len(vocabulary):
            return 0.0, 0.0
        known = self.align(vocabulary) != self.unk
        return float(known.mean()), float(frequency[known].sum() / frequency.sum())
