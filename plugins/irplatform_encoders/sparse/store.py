"""Sparse vectors of a collection's documents, kept in the cache as they are encoded."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irplatform.plugin import Options
from irplatform_encoders.records import DocumentRecords
from irplatform_encoders.sending import encoded
from irplatform_encoders.sparse.model import NAME, SparseTextEncoder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scipy.sparse import csr_matrix

    from irplatform.kit import Float32, Int64
    from irplatform.plugin import Resources

_SHORT = 1 << 16  # words that have numbers of 16 bits
_MANY = 4000  # words of a document, where SPLADE gives some hundred


class DocumentVectors(NamedTuple):
    """Vectors of the parts of documents: float32 [parts, words].

    Those of document i are rows `offsets[i]` up to `offsets[i + 1]`: one, or several if it is
    longer than the model reads.
    """

    vectors: csr_matrix
    offsets: Int64


class SparseVectorStore:
    """Vectors of a collection's documents, each encoded when it is first asked for.

    An interruption keeps what was encoded, and several processes may fill one store. A word of a
    vector takes 6 bytes, 8 if the vocabulary has more than 65,536.

    Example:
        >>> store = SparseVectorStore(resources, encoder)
        >>> store.fill("encoding documents")
        >>> store.rows(np.arange(2)).vectors.shape
        (2, 30522)
    """

    def __init__(self, resources: Resources, encoder: SparseTextEncoder) -> None:
        self._resources = resources
        self._encoder = encoder
        for note in encoder.notes:
            resources.notice(note)
        identity = {**encoder.identity, "columns": len(encoder.words)}
        self._records = DocumentRecords(resources, NAME, identity, self._encoded)
        self.count = self._records.count
        self._is_told = False

    def of(self, doc_ids: Sequence[str]) -> DocumentVectors:
        """Vectors of documents, in order."""
        return self.rows(self._records.rows(doc_ids))

    def rows(self, rows: Int64) -> DocumentVectors:
        """The same by the documents' numbers, from 0 up to `count`: the collection's order."""
        from scipy.sparse import csr_matrix

        width = len(self._encoder.words)
        documents = [_EMPTY] * len(rows)
        for block in self._records.get(rows):
            for place, begin, size in zip(block.places, block.begins, block.sizes, strict=True):
                documents[place] = _unpacked(block.data[begin : begin + size].tobytes(), width)
        offsets = np.cumsum([0, *(len(document.words) for document in documents)])
        if offsets[-1] > len(rows):
            cut = Options.spelled({f"{NAME}.long": "cut"})
            self._resources.notice(
                "Documents that are longer than the model reads are split, and the best part "
                f"counts; {cut} reads their beginnings alone"
            )
        words, columns, weights = zip(_EMPTY, *documents, strict=True)
        vectors = csr_matrix(
            (
                np.concatenate(weights),
                np.concatenate(columns),
                np.cumsum(np.concatenate([[0], *words])),
            ),
            shape=(int(offsets[-1]), width),
        )
        return DocumentVectors(vectors, offsets)

    def fill(self, label: str) -> None:
        """Encode all documents that are not there."""
        self._records.fill(label=label)

    def _encoded(self, texts: Iterable[list[str]]) -> Iterator[Sequence[bytes]]:
        for records in encoded(self._encoder, packed, self._resources, texts):
            self._tell_if_not_sparse(records)
            yield records

    def _tell_if_not_sparse(self, records: Sequence[bytes]) -> None:
        """Say that documents have very many words, which take space and time, once."""
        size = _columns(len(self._encoder.words)).itemsize + 4
        words = sum(map(len, records)) / size / max(1, len(records))
        if words > _MANY and not self._is_told:
            self._is_told = True
            most = Options.spelled({f"{NAME}.most_words": 300})
            self._resources.notice(
                f"The model gives a document {words:,.0f} words on average, where models that were "
                f"trained for sparse vectors give some hundred; {most} keeps the largest weights"
            )


class _Record(NamedTuple):
    """The number of words of each part of a document; their columns and weights, part by part."""

    words: Int64
    columns: Int64
    weights: Float32


_EMPTY = _Record(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))


def packed(encoder: SparseTextEncoder, texts: list[str]) -> list[bytes]:
    """A record of each text: the number of parts, the words of each, columns, weights."""
    split = encoder.split(texts)
    vectors = encoder.documents([part for parts in split for part in parts])
    words = np.diff(vectors.indptr).astype("<u4")
    columns = vectors.indices.astype(_columns(len(encoder.words)))
    ends = np.cumsum([0, *(len(parts) for parts in split)])
    records = []
    for first, last in pairwise(ends):
        span = slice(vectors.indptr[first], vectors.indptr[last])
        parts = np.array([last - first], "<u4"), words[first:last]
        numbers = *parts, columns[span], vectors.data[span].astype("<f4")
        records.append(b"".join(part.tobytes() for part in numbers))
    return records


def _unpacked(record: bytes, width: int) -> _Record:
    kind = _columns(width)
    (parts,) = np.frombuffer(record, "<u4", 1)
    words = np.frombuffer(record, "<u4", parts, 4).astype(np.int64)
    size, start = int(words.sum()), 4 + 4 * int(parts)
    columns = np.frombuffer(record, kind, size, start).astype(np.int64)
    weights = np.frombuffer(record, "<f4", size, start + size * kind.itemsize).astype(np.float32)
    return _Record(words, columns, weights)


def _columns(width: int) -> np.dtype[Any]:
    return np.dtype("<u2" if width <= _SHORT else "<u4")
