"""Word vectors as models read them, and published ones in four formats.

Vectors are a memory-mapped matrix. As in Severyn and Moschitti (SIGIR 2015) and both Delta papers,
all words without a vector are the one word UNK, drawn from U[-0.25, 0.25]. Published vectors come
as word2vec, GloVe or fastText. Each entry goes through the platform's tokenizer; those that make
one word are kept, and the first of several entries for a word counts.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from codecs import BOM_UTF8
from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from irplatform.errors import InputError, PlatformError
from irplatform.files.formats import read_own_json
from irplatform.files.reading import open_bytes
from irplatform.files.writing import write_json
from irplatform.system.console import notice, progress
from irplatform.text.string_table import UNKNOWN, StringTable, StringTableWriter
from irplatform.text.tokenizer import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.text.arrays import Float32, Int32, Int64
    from irplatform.text.string_table import Vocabulary


VECTORS_FORMAT = 1
"""Of the folder's files. Raise it to make cached vectors anew."""
IMPORTED_FORMAT = 2
"""The same, of published vectors alone: raise it where their files are read otherwise."""
UNK_RANGE = 0.25
_FACTS = "vectors.json"
_MATRIX = "vectors.npy"
_CHUNK = 100_000
_SAMPLE = 4096
_SEED = 1
"""Of UNK's vector."""
_NOTHING = 1e-12
"""Shorter rows count as 0, and stay unchanged."""
Kind = Literal["word2vec-binary", "word2vec-text", "glove", "fasttext-binary"]
Entry = tuple[bytes, "Float32", int | None]
"""A word as its file has it, its vector, and its line."""
_FASTTEXT_MAGIC = struct.pack("<i", 793_712_314)
_FIRST_BYTES = 1 << 16
_MARK = re.compile(rb"<[^<>\s]+>")


class WordVectors:
    """Words and their vectors.

    Attributes:
        words: the words that have a vector; their row is their place.
        matrix: float32 [len(words) + 1, dimensions]; the last row is the vector of UNK.
        facts: options, size of the text and source.
    """

    def __init__(
        self, words: Sequence[str], matrix: Float32, facts: Mapping[str, Any] | None = None
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
        vectors: Float32,
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
        """Memory-map the vectors in a folder; PlatformError if it has none."""
        if not (folder / _FACTS).exists():
            raise PlatformError(f"{folder}: there are no word vectors here.")
        facts = read_own_json(folder / _FACTS)
        matrix = np.load(folder / _MATRIX, mmap_mode="r", allow_pickle=False)
        return cls(StringTable.open(folder, "words"), np.asarray(matrix), facts)

    def save(self, folder: Path) -> None:
        """Write the vectors into a folder; PlatformError if a word is repeated."""
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

    @staticmethod
    def unit_rows(matrix: Float32) -> Float32:
        """Each row of a matrix, divided by its length; a row of zeros stays zero."""
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        return np.asarray(matrix / np.maximum(lengths, _NOTHING), dtype=np.float32)

    def unit(self) -> Float32:
        """The vectors with length 1: float32 [words + 1, dimensions]. The row of UNK is 0."""
        matrix = np.array(self.matrix, dtype=np.float32)
        matrix[self.unk] = 0
        return self.unit_rows(matrix)

    def digest(self) -> str:
        """A digest of their number, and of the values of some thousands."""
        step = max(1, len(self.matrix) // _SAMPLE)
        digest = hashlib.sha256(f"{self.matrix.shape} ".encode())
        digest.update(np.ascontiguousarray(self.matrix[::step]).data)
        return digest.hexdigest()

    def rows(self, words: Sequence[str]) -> Int32:
        """The rows of words, int32 [len(words)]; UNK's for words without a vector."""
        rows = self.words.find(words)
        rows[rows == UNKNOWN] = self.unk
        return rows.astype(np.int32)

    def known_rows(self, words: Sequence[str]) -> Int64:
        """The rows of the words that have a vector, in their order: int64."""
        rows = self.words.find(words)
        vector_rows: Int64 = rows[rows != UNKNOWN].astype(np.int64)
        return vector_rows

    def align(self, vocabulary: Vocabulary) -> Int32:
        """The row of every word of a vocabulary, int32 [words]; UNK's for words without a vector.

        `matrix[align(vocabulary)[ids]]` are the vectors of word ids other than -1.
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
        """The shares of a collection's words, and of their occurrences, with a vector: 0 to 1.

        `frequency` is how often each word occurs. Both shares of an empty collection are 0.
        """
        if not len(vocabulary):
            return 0.0, 0.0
        mask = self.align(vocabulary) != self.unk
        return float(mask.mean()), float(frequency[mask].sum() / frequency.sum())


def import_vectors(path: Path, folder: Path) -> None:
    """Read published vectors and write them where `WordVectors.open` finds them."""
    kind = recognize(path)
    by_word: dict[str, Float32] = {}
    entries = 0
    odd: Counter[str] = Counter()
    with progress("importing word vectors", unit="words") as advance:
        if kind in ("glove", "word2vec-text"):
            read = _read_text(path, has_header=kind == "word2vec-text")
        else:
            read = _read_binary(path, kind)
        for raw, vector, line in read:
            entries += 1
            try:
                entry = raw.decode("utf-8")
            except UnicodeDecodeError:
                entry = raw.decode("latin-1")
                odd["not in UTF-8, read as Latin-1"] += 1
            words = tokenize(entry) if not (mark := _MARK.fullmatch(raw)) else []
            odd["that are marks, such as </s>"] += mark is not None
            odd["without a word"] += not raw.strip()
            if b" " in raw and _numbers(raw.split()[-1:]):
                odd["that end in a number, or have a number too many"] += 1
            elif len(words) == 1 and words[0] in by_word:
                odd["whose word came before, in any spelling"] += 1
            elif len(words) == 1:
                if not np.isfinite(vector).all():
                    raise InputError(
                        f"the vector of '{words[0]}' has a number that is not finite.",
                        path=path,
                        line=line,
                    )
                by_word[words[0]] = vector
            advance(1)
    if not by_word:
        raise InputError(f"no entry of this {kind} file is a word.", path=path)
    vectors = np.stack(list(by_word.values())).astype(np.float32, copy=False)
    notice(f"{path.name}: {kind}, {len(by_word):,} of its {entries:,} entries are words and kept.")
    if remarks := [f"{count:,} {oddity}" for oddity, count in odd.items() if count]:
        notice(f"{path.name}: odd entries: {'; '.join(remarks)}.")
    facts: dict[str, Any] = {"source": "imported", "file": path.name, "kind": kind}
    facts |= {"entries": entries, "seed": _SEED}
    WordVectors.with_unk(list(by_word), vectors, seed=_SEED, facts=facts).save(folder)


def recognize(path: Path) -> Kind:
    """The format of a file of vectors, by its beginning; InputError for other files."""
    with open_bytes(path) as file:
        head = file.read(_FIRST_BYTES).removeprefix(BOM_UTF8)
    if head.startswith(_FASTTEXT_MAGIC):
        return "fasttext-binary"
    first, _, rest = head.partition(b"\n")
    fields = first.split()
    if len(fields) == 2 and not first[:1].isspace() and b"".join(fields).isdigit():
        second = rest.partition(b"\n")[0].split()
        return "word2vec-text" if _numbers(second[-int(fields[1]) :]) else "word2vec-binary"
    if _dimensions(head) > 1:
        return "glove"
    raise InputError(
        "this is not a file of word vectors. Use word2vec (.bin, .txt), GloVe (.txt) or fastText "
        "(.vec, .bin). gensim exports others with KeyedVectors.save_word2vec_format.",
        path=path,
    )


def _dimensions(head: bytes) -> int:
    """How many numbers most lines have after a word, which may have blanks or be a number."""
    lines = head.split(b"\n")
    counts: Counter[int] = Counter()
    for line in lines[:-1] or lines:  # the last one may go on
        fields = line.split()
        numbers = sum(1 for _ in takewhile(lambda field: _numbers([field]), reversed(fields)))
        wordless = line[:1].isspace()
        counts[numbers - (numbers == len(fields) and not wordless)] += bool(fields)
    return max(counts, key=lambda count: (counts[count], -count))


def _read_text(path: Path, *, has_header: bool) -> Iterator[Entry]:
    with open_bytes(path) as file:
        first = file.readline().removeprefix(BOM_UTF8).split() if has_header else []
        expected = int(first[0]) if has_header else None
        dimensions = int(first[1]) if has_header else _dimensions(file.read(_FIRST_BYTES))
        if not has_header:
            file.seek(0)
        count, line = 0, b""
        for number, line in enumerate(file, start=2 if has_header else 1):
            if not line.strip():
                continue
            fields = line.rsplit(maxsplit=dimensions)
            if line[:1].isspace() and len(fields) == dimensions:
                fields = [b"", *fields]
            numbers = _numbers(fields[1:])
            if numbers is None or len(numbers) != dimensions:
                raise InputError(
                    f"this line needs a word and {dimensions} numbers. Fetch it again.",
                    path=path,
                    line=number,
                )
            count += 1
            yield fields[0], np.array(numbers, dtype=np.float32), number
    if expected is None or count == expected:
        return
    difference = f"its header claims {expected:,} vectors, but it holds {count:,}"
    if abs(count - expected) > 1 or not line.endswith(b"\n"):
        raise InputError(f"{difference}. Fetch it again, or correct the header.", path=path)
    notice(f"{path.name}: {difference}. It is read: the last line is complete.")


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
                str(path), binary=True, unicode_errors="surrogateescape"
            )
    except (ValueError, EOFError, IndexError, struct.error, zlib.error, MemoryError) as error:
        raise InputError(
            f"this is not a complete {kind} file. Fetch it again.", path=path
        ) from error
    except (OSError, NotImplementedError) as error:
        raise InputError(f"this cannot be read as {kind}: {error}", path=path) from error
    entries = zip(vectors.index_to_key, vectors.vectors, strict=True)
    # gensim skips the vector of a repeated word but keeps its place.
    for word, vector in entries:
        if word is not None:
            yield word.encode("utf-8", "surrogateescape"), vector, None
