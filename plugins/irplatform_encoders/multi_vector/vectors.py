"""Vectors of documents' tokens, compressed and kept in the cache as they are encoded.

A record has the number of parts of a document, the number of tokens of each, their vectors, and for
int8 a scale for each vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irplatform.plugin import InputError, Options
from irplatform_encoders.multi_vector.maxsim import StoredVectors
from irplatform_encoders.multi_vector.model import NAME, TokenEncoder
from irplatform_encoders.records import DocumentRecords
from irplatform_encoders.sending import encoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.kit import Float32, Int64
    from irplatform.plugin import Resources
    from irplatform_encoders.multi_vector.maxsim import Numbers
    from irplatform_encoders.records import RecordBlock

_LARGEST = 127  # of int8
_ALIGNED = 8  # bytes at whose multiples vectors begin
_NO_SCALES = np.empty(0, np.float32)


class PartsOfDocuments(NamedTuple):
    """Vectors of documents' parts; part *i* is of the document at `places[i]` of those asked for.

    The parts of a document follow each other. One without words has none.
    """

    places: Int64
    vectors: StoredVectors


class TokenVectorStore:
    """Vectors of a collection's documents, each encoded when it is first asked for.

    An interruption keeps what was encoded, and several processes may fill one store.

    Example:
        >>> store = TokenVectorStore(resources, encoder)
        >>> [parts.vectors.tokens.tolist() for parts in store.of(["d1", "d2"])]
        [[141, 208]]
    """

    def __init__(self, resources: Resources, encoder: TokenEncoder) -> None:
        self._resources = resources
        self._encoder = encoder
        self._kind = np.dtype(encoder.options.compression)
        self._is_told = False
        options = encoder.options
        self._records = DocumentRecords(
            resources,
            NAME,
            {**encoder.identity, "width": encoder.width, "compression": options.compression},
            self._encoded,
            most_bytes=int(options.cache_gigabytes * 1e9),
            option=f"{NAME}.cache_gigabytes={options.cache_gigabytes:g}",
        )

    def fill(self, doc_ids: Sequence[str]) -> None:
        """Encode the documents that are not in the cache and fit there."""
        self._records.fill(self._records.rows(doc_ids))

    def of(self, doc_ids: Sequence[str]) -> list[PartsOfDocuments]:
        """Vectors of documents: those in the cache, and those that do not fit there."""
        blocks = self._records.get(self._records.rows(doc_ids))
        return [unpacked(block, self._kind, self._encoder.width) for block in blocks]

    def _encoded(self, texts: Iterable[list[str]]) -> Iterator[list[bytes]]:
        encoder = self._encoder
        documents = long = 0
        for block in encoded(encoder, TokenEncoder.documents, self._resources, texts):
            documents += len(block)
            long += sum(len(parts) > 1 for parts in block)
            yield [packed(parts, self._kind) for parts in block]
        if long and not self._is_told:
            self._is_told = True
            self._resources.notice(
                f"{long:,} of {documents:,} documents that were encoded are longer than the "
                f"{encoder.longest:,} tokens that the model reads: they are split, and their best "
                f"part counts ({NAME}.long)"
            )


def packed(parts: Sequence[Float32], kind: np.dtype[np.generic]) -> bytes:
    """The record of a document: its parts' vectors [tokens, width] as float32, float16 or int8.

    Raises:
        InputError: a number is too large for float16.
    """
    if not parts:
        return b""
    lengths = np.array([len(parts), *map(len, parts)], np.uint32)
    rows: npt.NDArray[Any] = np.concatenate(parts)
    scales = _NO_SCALES
    if kind == np.int8:
        rows, scales = to_int8(rows)
    elif kind == np.float16:
        with np.errstate(over="ignore"):
            rows = rows.astype(kind)
        if not np.isfinite(rows).all():
            larger = Options.spelled({f"{NAME}.compression": "float32"})
            raise InputError(f"its vectors have numbers that are too large for 16 bits: {larger}.")
    return b"".join(_aligned(array.tobytes()) for array in (lengths, rows, scales))


def unpacked(block: RecordBlock, kind: np.dtype[np.generic], width: int) -> PartsOfDocuments:
    """The vectors in records, where they are."""
    data = np.asarray(block.data)
    words = data[: data.size // 4 * 4].view(np.uint32)
    full = np.flatnonzero(block.sizes > 0)
    begins = block.begins[full]
    counts = words[begins // 4].astype(np.int64)
    ends = np.cumsum(counts)
    number = np.arange(counts.sum())  # of a part; that in its document is `inside`
    inside = number - np.repeat(ends - counts, counts)
    tokens = words[np.repeat(begins // 4 + 1, counts) + inside].astype(np.int64)
    before = np.cumsum(tokens) - tokens
    before -= np.repeat(before[ends - counts], counts)  # vectors of the document's earlier parts
    first = begins + _up((1 + counts) * 4)
    size = kind.itemsize
    totals = np.add.reduceat(tokens, ends - counts) if len(tokens) else tokens
    scales = (first + _up(totals * width * size)) // 4
    numbers: npt.NDArray[Any] = data[: data.size // size * size].view(kind)
    vectors = StoredVectors(
        numbers=numbers,
        begins=np.repeat(first // size, counts) + before * width,
        tokens=tokens,
        scales=words.view(np.float32) if kind == np.int8 else _NO_SCALES,
        scale_begins=np.repeat(scales, counts) + before,
    )
    return PartsOfDocuments(block.places[np.repeat(full, counts)], vectors)


def to_int8(rows: Float32) -> tuple[Numbers, Float32]:
    """Vectors [n, width] as whole numbers up to 127, and the scale of each [n]."""
    largest = np.abs(rows).max(axis=1, initial=0)
    scales = (np.where(largest > 0, largest, 1) / np.float32(_LARGEST)).astype(np.float32)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def _up(size: Int64) -> Int64:
    return -(-size // _ALIGNED) * _ALIGNED


def _aligned(data: bytes) -> bytes:
    return data.ljust(-(-len(data) // _ALIGNED) * _ALIGNED, b"\0")
