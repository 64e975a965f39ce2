"""Imports published word vectors: word2vec (.bin, .txt), GloVe (.txt), fastText (.vec, .bin).

The kind is told from the file's first bytes, and the file is read with gensim's loaders for that
kind. Files of these kinds hold numbers and words only; Python pickles, which could run code when
they are read, are refused. A file may be compressed with gzip, fastText's .bin excepted.

Every word of the file goes through the platform's tokenizer, which lower-cases and spells
abbreviations and numbers in one way. Entries that make no single word (phrases, punctuation) are
left out. Where several make the same word ("IL-6" and "il6", all integers), the first of them, the
most frequent in all published files, gives its vector.
"""

from __future__ import annotations

import gzip
import struct
import warnings
import zlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from irplatform.console import notice
from irplatform.errors import InputError
from irplatform.text.tokenizer import tokenize
from irplatform.text.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Kind = Literal["word2vec-binary", "word2vec-text", "glove", "fasttext-binary"]

_FASTTEXT_MAGIC = struct.pack("<i", 793_712_314)
_FIRST_BYTES = 1 << 16


def import_vectors(path: Path, folder: Path, *, seed: int = 1) -> None:
    """Read published vectors and write them where `WordVectors.open` finds them.

    Args:
        path: the file.
        folder: made if it is missing.
        seed: of the vector of UNK.

    Raises:
        InputError: the file is of no known kind, broken, or a pickle.
    """
    kind = recognize(path)
    try:
        found = _load(path, kind)
    except (ValueError, EOFError, IndexError, struct.error, zlib.error, MemoryError) as error:
        raise InputError(f"is no complete {kind} file ({error}).", path=path) from error
    except (OSError, NotImplementedError) as error:
        raise InputError(f"cannot be read as {kind}: {error}", path=path) from error
    if not np.isfinite(found.vectors).all():
        raise InputError("has a vector with a number that is not finite.", path=path)
    words, rows = _as_our_words(found.index_to_key)
    if not words:
        raise InputError(f"no entry of this {kind} file is a word.", path=path)
    notice(f"{path.name}: {kind}, {len(found.index_to_key):,} entries, {len(words):,} words kept.")
    facts = {
        "source": "imported",
        "file": path.name,
        "kind": kind,
        "entries": len(found.index_to_key),
        "seed": seed,
    }
    vectors = found.vectors[rows].astype(np.float32, copy=False)
    WordVectors.with_unk(words, vectors, seed=seed, facts=facts).save(folder)


def recognize(path: Path) -> Kind:
    """Tell the kind of a file of vectors from its beginning.

    Raises:
        InputError: it is of none of the kinds, or cannot be read.
    """
    head = _head(path)
    if head.startswith(_FASTTEXT_MAGIC):
        if path.suffix == ".gz":
            raise InputError("fastText's binary format must be decompressed first.", path=path)
        return "fasttext-binary"
    if head.startswith((b"\x80", b"\x93NUMPY", b"PK")):
        raise InputError(
            "is a Python pickle or archive, which could run code. Export the vectors in word2vec's "
            "format (in gensim: KeyedVectors.save_word2vec_format).",
            path=path,
        )
    first, _, rest = head.partition(b"\n")
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        _check_size(path, int(fields[0]), int(fields[1]))
        second = rest.partition(b"\n")[0].split()
        binary = not _are_numbers(second[1:]) or len(second) != int(fields[1]) + 1
        return "word2vec-binary" if binary and path.suffix != ".vec" else "word2vec-text"
    if len(fields) > 2 and _are_numbers(fields[1:]):
        return "glove"
    raise InputError(
        "is no file of word vectors. Known are word2vec (.bin, .txt), GloVe (.txt) and fastText "
        "(.vec, .bin).",
        path=path,
    )


def _head(path: Path) -> bytes:
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as file:
            return file.read(_FIRST_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError("is cut short or no gzip file. Fetch it again.", path=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", path=path) from error


def _are_numbers(fields: Iterable[bytes]) -> bool:
    try:
        return bool(np.isfinite([float(field) for field in fields]).all())
    except ValueError:
        return False


def _check_size(path: Path, entries: int, dimensions: int) -> None:
    # A reader allocates what the header claims before it reads on. A number takes two bytes or
    # more in every format.
    if entries == 0 or dimensions == 0:
        raise InputError("its header says that it holds no vectors.", path=path)
    claimed = entries * dimensions * 2
    compression = 1100 if path.suffix == ".gz" else 1  # no gzip file is denser
    if claimed > path.stat().st_size * compression:
        raise InputError(
            f"its header claims {entries:,} vectors of {dimensions:,} numbers, more than it can "
            "hold. Fetch it again.",
            path=path,
        )


def _load(path: Path, kind: Kind) -> Any:
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "fasttext-binary":
            return load_facebook_vectors(str(path))
        return KeyedVectors.load_word2vec_format(
            str(path),
            binary=kind == "word2vec-binary",
            no_header=kind == "glove",
            unicode_errors="replace",
        )


def _as_our_words(entries: Iterable[str]) -> tuple[list[str], list[int]]:
    rows: dict[str, int] = {}
    for row, entry in enumerate(entries):
        words = tokenize(entry)
        if len(words) == 1:
            rows.setdefault(words[0], row)
    return list(rows), list(rows.values())
