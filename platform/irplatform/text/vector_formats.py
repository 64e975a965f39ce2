"""The file formats in which word vectors are published, and how to tell and read them.

word2vec text and fastText's `.vec` begin with a line of two counts, GloVe's text does not. The text
formats are read here, line by line: a word may itself contain spaces (there are such in GloVe's
largest file), and a damaged line is named. The binary ones are read by gensim.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import TYPE_CHECKING, Literal

import numpy as np

from irplatform.console import notice
from irplatform.errors import InputError
from irplatform.text_files import open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import numpy.typing as npt

Kind = Literal["word2vec-binary", "word2vec-text", "glove", "fasttext-binary"]
Entry = tuple[str, "npt.NDArray[np.float32]"]

_FASTTEXT_MAGIC = struct.pack("<i", 793_712_314)
_FIRST_BYTES = 1 << 16
_BEST_COMPRESSION = 1_100
"""No gzip file is denser."""


def recognize(path: Path) -> Kind:
    """Tell the kind of a file of vectors from its beginning.

    Raises:
        InputError: it is of none of the kinds, or cannot be read.
    """
    with open_bytes(path) as file:
        head = file.read(_FIRST_BYTES)
        packed = isinstance(file, gzip.GzipFile)
    if head.startswith(_FASTTEXT_MAGIC):
        if packed:
            raise InputError("fastText's binary format must be decompressed first.", path=path)
        return "fasttext-binary"
    if head.startswith((b"\x80", b"\x93NUMPY")):
        raise InputError(
            "is a Python pickle or array, which could run code. Export the vectors in word2vec's "
            "format (in gensim: KeyedVectors.save_word2vec_format).",
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
            raise InputError("is compressed with gzip: let its name end in '.gz'.", path=path)
        return "word2vec-binary"
    if len(fields) > 2 and _numbers(fields[1:]):
        return "glove"
    raise InputError(
        "is no file of word vectors. Known are word2vec (.bin, .txt), GloVe (.txt) and fastText "
        "(.vec, .bin).",
        path=path,
    )


def read_entries(path: Path, kind: Kind) -> Iterator[Entry]:
    """Stream the words of a file and their vectors, in the order of the file.

    Raises:
        InputError: the file is cut short or damaged.
    """
    if kind in ("glove", "word2vec-text"):
        return _read_text(path, has_header=kind == "word2vec-text")
    return _read_binary(path, kind)


def _numbers(fields: Iterable[bytes]) -> list[float] | None:
    try:
        return [float(field) for field in fields] or None
    except ValueError:
        return None


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
                    f"needs a word and {dimensions} numbers. Fetch it again.",
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
        raise InputError(f"is no complete {kind} file. Fetch it again.", path=path) from error
    except (OSError, NotImplementedError) as error:
        raise InputError(f"cannot be read as {kind}: {error}", path=path) from error
    entries = zip(vectors.index_to_key, vectors.vectors, strict=True)
    # Of a word that comes again, gensim passes over the vector but keeps its place.
    yield from ((word, vector) for word, vector in entries if word is not None)
