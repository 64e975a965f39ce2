"""Word vectors as models read them, and published ones in four formats.

Vectors are a memory-mapped matrix with a row for unknown words. As in Severyn and Moschitti (SIGIR
2015) and both Delta papers (Mohan et al. 2017, 2018), every word without a vector of its own, rare
or unseen, is the one word UNK, whose vector is drawn from U[-0.25, 0.25].

Published vectors come as word2vec (.bin, .txt), GloVe (.txt) or fastText (.vec, .bin). word2vec's
text and fastText's `.vec` begin with a line of two counts, GloVe's text does not. Text is read line
by line: a word may contain spaces (there are such in GloVe's largest file), and a damaged line is
named. gensim reads the binary formats. All but fastText's .bin may be compressed with gzip. Python
pickles, which could run code, are refused.

Every imported word goes through the platform's tokenizer, which lower-cases and spells
abbreviations and numbers in one way. Entries that make no single word (phrases, punctuation) are
left out. Where several make the same word ("IL-6" and "il6", all integers), the first one, in
published files the most frequent, gives its vector.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError, PlatformError
from irplatform.system.console import notice, progress
from irplatform.system.formats import read_own_json
from irplatform.system.reading import open_bytes
from irplatform.system.writing import write_json
from irplatform.text.forward_index import UNKNOWN, StringTable, StringTableWriter
from irplatform.text.tokenizer import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.text.arrays import Float32, Int32, Int64
    from irplatform.text.forward_index import Vocabulary


VECTORS_FORMAT = 1
"""Of the folder's files. A new number makes cached vectors be made again under another name."""
UNK_RANGE = 0.25
_FACTS = "vectors.json"
_MATRIX = "vectors.npy"
_CHUNK = 100_000
_SEED = 1
"""Of the vector of UNK."""
_NOTHING = 1e-12
"""Shorter rows count as 0, and stay unchanged."""
Kind = Literal["word2vec-binary", "word2vec-text", "glove", "fasttext-binary"]
Entry = tuple[str, "npt.NDArray[np.float32]"]
_FASTTEXT_MAGIC = struct.pack("<i", 793_712_314)
_FIRST_BYTES = 1 << 16
_BEST_COMPRESSION = 1_100
"""No gzip file is denser."""


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
        """Vectors [len(words), dimensions] of distinct words, with a vector drawn for UNK."""
        generator = np.random.default_rng(seed)
        unk = generator.uniform(-UNK_RANGE, UNK_RANGE, size=(1, vectors.shape[1]))
        return cls(words, np.concatenate([vectors, unk.astype(np.float32)]), facts)

    @classmethod
    def open(cls, folder: Path) -> WordVectors:
        """Memory-map the vectors in a folder; PlatformError if there are none."""
        if not (folder / _FACTS).exists():
            raise PlatformError(f"{folder}: there are no word vectors here.")
        facts = read_own_json(folder / _FACTS)
        matrix = np.load(folder / _MATRIX, mmap_mode="r", allow_pickle=False)
        return cls(StringTable.open(folder, "words"), np.asarray(matrix), facts)

    def save(self, folder: Path) -> None:
        """Write the vectors into a folder, made if missing; PlatformError if a word comes twice."""
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
        """The rows of words, UNK's for words without a vector: int32 [len(words)]."""
        rows = self.words.find(words)
        rows[rows == UNKNOWN] = self.unk
        return rows.astype(np.int32)

    def known_rows(self, words: Sequence[str]) -> Int64:
        """The rows of the words that have a vector, in their order: int64, without the others."""
        rows = self.words.find(words)
        known: Int64 = rows[rows != UNKNOWN].astype(np.int64)
        return known

    def align(self, vocabulary: Vocabulary) -> Int32:
        """The row of every word of a vocabulary, UNK's for words without a vector: int32 [words].

        `matrix[align(vocabulary)[ids]]` are then the vectors of word ids. Map -1, the id of words
        that the collection lacks, before.
        """
        if len(vocabulary) <= len(self.words):
            return self.rows(list(vocabulary))
        aligned = np.full(len(vocabulary), self.unk, dtype=np.int32)
        ids = vocabulary.ids(list(self.words))
        rows = np.arange(len(ids), dtype=np.int32)
        aligned[ids[ids != UNKNOWN]] = rows[ids != UNKNOWN]
        return aligned

    def align_known(self, vocabulary: Vocabulary) -> Int64:
        """The row of every word of a vocabulary, -1 for words without a vector: int64 [words]."""
        aligned = self.align(vocabulary).astype(np.int64)
        aligned[aligned == self.unk] = UNKNOWN
        return aligned

    def coverage(self, vocabulary: Vocabulary, frequency: Int64) -> tuple[float, float]:
        """The shares of a collection's words, and of their occurrences, that have a vector.

        Each is from 0 to 1; 0 for an empty collection. `frequency` is how often each word occurs.
        """
        if not len(vocabulary):
            return 0.0, 0.0
        known = self.align(vocabulary) != self.unk
        return float(known.mean()), float(frequency[known].sum() / frequency.sum())


def unit_rows(matrix: Float32) -> Float32:
    """Each row of a matrix, divided by its length; a row of zeros stays zero."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(lengths, _NOTHING), dtype=np.float32)


def unit_vectors(vectors: WordVectors) -> Float32:
    """Word vectors of length 1, for sums and cosines: float32 [words + 1, dimensions].

    The row of unknown words is 0, which adds nothing.
    """
    matrix = np.array(vectors.matrix, dtype=np.float32)
    matrix[vectors.unk] = 0
    return unit_rows(matrix)


def import_vectors(path: Path, folder: Path) -> None:
    """Read published vectors and write them where `WordVectors.open` finds them."""
    kind = recognize(path)
    by_word: dict[str, npt.NDArray[np.float32]] = {}
    entries = 0
    with progress("importing word vectors", unit="words") as advance:
        for entry, vector in read_entries(path, kind):
            entries += 1
            words = tokenize(entry)
            if len(words) == 1:
                by_word.setdefault(words[0], vector)
            advance(1)
    if not by_word:
        raise InputError(f"no entry of this {kind} file is a word.", path=path)
    vectors = np.stack(list(by_word.values())).astype(np.float32, copy=False)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        word = list(by_word)[int(np.argmin(finite))]
        raise InputError(f"the vector of '{word}' has a number that is not finite.", path=path)
    notice(f"{path.name}: {kind}, {len(by_word):,} of its {entries:,} entries are words and kept.")
    facts = {"source": "imported", "file": path.name, "kind": kind, "entries": entries}
    facts["seed"] = _SEED
    WordVectors.with_unk(list(by_word), vectors, seed=_SEED, facts=facts).save(folder)


def recognize(path: Path) -> Kind:
    """The kind of a file of vectors, by its beginning; InputError if it is of none."""
    with open_bytes(path) as file:
        head = file.read(_FIRST_BYTES)
        packed = isinstance(file, gzip.GzipFile)
    if head.startswith(_FASTTEXT_MAGIC):
        if packed:
            raise InputError("fastText's binary format must be decompressed first.", path=path)
        return "fasttext-binary"
    if head.startswith((b"\x80", b"\x93NUMPY")):
        raise InputError(
            "this is a Python pickle or array, which could run code. Export the vectors in "
            "word2vec's format (in gensim: KeyedVectors.save_word2vec_format).",
            path=path,
        )
    first, _, rest = head.partition(b"\n")
    fields = first.split()
    if len(fields) == 2 and fields[0].isdigit() and fields[1].isdigit():
        dimensions = int(fields[1])
        _check_size(path, int(fields[0]), dimensions, packed=packed)
        second = rest.partition(b"\n")[0].split()
        if _numbers(second[-dimensions:]):
            return "word2vec-text"
        if packed and path.suffix != ".gz":  # gensim goes by the name
            raise InputError("this is compressed with gzip: let its name end in '.gz'.", path=path)
        return "word2vec-binary"
    if len(fields) > 2 and _numbers(fields[1:]):
        return "glove"
    raise InputError(
        "this is not a file of word vectors. Known: word2vec (.bin, .txt), GloVe (.txt), fastText "
        "(.vec, .bin).",
        path=path,
    )


def _check_size(path: Path, entries: int, dimensions: int, *, packed: bool) -> None:
    # A reader allocates what the header claims before it reads on. A number takes two bytes or
    # more in every format.
    if entries == 0 or dimensions == 0:
        raise InputError("its header says that it holds no vectors.", path=path)
    compression = _BEST_COMPRESSION if packed else 1
    if entries * dimensions * 2 > path.stat().st_size * compression:
        raise InputError(
            f"its header claims {entries:,} vectors of {dimensions:,} numbers, more than it can "
            "hold. Fetch it again.",
            path=path,
        )


def read_entries(path: Path, kind: Kind) -> Iterator[Entry]:
    """Stream the words of a file and their vectors; InputError if it is cut short or damaged."""
    if kind in ("glove", "word2vec-text"):
        return _read_text(path, has_header=kind == "word2vec-text")
    return _read_binary(path, kind)


def _read_text(path: Path, *, has_header: bool) -> Iterator[Entry]:
    with open_bytes(path) as file:
        first = file.readline().split()
        expected = int(first[0]) if has_header else None
        dimensions = int(first[1]) if has_header else len(first) - 1
        if not has_header:
            file.seek(0)
        count, line = 0, b""
        for number, line in enumerate(file, start=2 if has_header else 1):
            if not line.strip():
                continue
            fields = line.rsplit(maxsplit=dimensions)
            numbers = _numbers(fields[1:])
            if numbers is None or len(numbers) != dimensions:
                raise InputError(
                    f"this line needs a word and {dimensions} numbers. Fetch it again.",
                    path=path,
                    line=number,
                )
            count += 1
            yield fields[0].decode("utf-8", "replace"), np.array(numbers, dtype=np.float32)
    if expected is None or count == expected:
        return
    told = f"its header claims {expected:,} vectors, but it holds {count:,}"
    if abs(count - expected) > 1 or not line.endswith(b"\n"):
        raise InputError(f"{told}. Fetch it again, or correct the header.", path=path)
    notice(f"{path.name}: {told}, all of them whole; they are read")


def _numbers(fields: Iterable[bytes]) -> list[float] | None:
    try:
        return [float(field) for field in fields] or None
    except ValueError:
        return None


def _read_binary(path: Path, kind: Kind) -> Iterator[Entry]:
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    try:
        if kind == "fasttext-binary":
            vectors = load_facebook_vectors(str(path))
        else:
            vectors = KeyedVectors.load_word2vec_format(
                str(path), binary=True, unicode_errors="replace"
            )
    except (ValueError, EOFError, IndexError, struct.error, zlib.error, MemoryError) as error:
        raise InputError(
            f"this is not a complete {kind} file. Fetch it again.", path=path
        ) from error
    except (OSError, NotImplementedError) as error:
        raise InputError(f"this cannot be read as {kind}: {error}", path=path) from error
    entries = zip(vectors.index_to_key, vectors.vectors, strict=True)
    # Of a word that comes again, gensim passes over the vector but keeps its place.
    yield from ((word, vector) for word, vector in entries if word is not None)
