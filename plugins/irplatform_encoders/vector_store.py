"""Vectors of documents in the cache, each encoded when it is first asked for.

A reranker needs the vectors of some thousand candidates, a retriever those of all documents, and a
transformer takes hours for millions. So they are kept one by one, in a file that has room for all
of them and takes up the space of those that are there. What was encoded stays when a process is
interrupted, and several processes of a machine may fill one store.
"""

from __future__ import annotations

import errno
import os
import zlib
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.text.forward_index import FORWARD_INDEX_FORMAT
from irplatform_encoders.pretrained import tell_how_slow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.plugin import Resources
    from irplatform.text.arrays import Float32, Int64
    from irplatform_encoders.biencoder_model import Encoder


_BLOCK = 128
"""Documents that are encoded before they are kept."""
_VECTORS = "vectors.float32"
_PRESENT = "present.uint8"
_CHECKS = "checks.uint32"
"""A checksum of every vector; stores of earlier versions have none."""


class VectorStore:
    """Vectors of a collection's documents."""

    def __init__(self, resources: Resources, encoder: Encoder) -> None:
        self._resources = resources
        self._encoder = encoder
        for note in encoder.notes:
            resources.notice(note)
        self._index = resources.forward_index()
        self.count = self._index.count
        self._folder = resources.artifact(
            "bi-encoder",
            {**encoder.identity, "width": encoder.width, "rows": FORWARD_INDEX_FORMAT},
            self._make,
            of_vectors=False,
            filled_later=True,
        )
        self._vectors = np.memmap(
            self._folder / _VECTORS, np.float32, "r", shape=(self.count, encoder.width)
        )
        self._present = np.memmap(self._folder / _PRESENT, np.uint8, "r", shape=(self.count,))
        self._checks: npt.NDArray[np.uint32] | None = None
        if (self._folder / _CHECKS).exists():
            self._checks = np.memmap(self._folder / _CHECKS, np.uint32, "r", shape=(self.count,))

    def of(self, doc_ids: Sequence[str]) -> Float32:
        """Vectors of documents, float32 [n, width]."""
        return self.rows(self._index.rows(doc_ids))

    def rows(self, rows: Int64) -> Float32:
        """Vectors of the documents in some rows of the forward index."""
        # What is present is asked for first: another process may be adding vectors.
        present = self._present[rows] != 0
        vectors: Float32 = np.array(self._vectors[rows])
        if self._checks is not None:
            damaged = present & (self._checks[rows] != _checksums(vectors))
            if damaged.any():
                self._resources.notice(
                    f"{damaged.sum():,} vectors of documents are damaged, and made again"
                )
                present &= ~damaged
        missing = np.flatnonzero(~present)
        for places, encoded in self._encoded(rows, missing, "encoding documents"):
            vectors[places] = encoded
        return vectors

    def fill(self, label: str) -> None:
        """Encode all documents that are not there yet, with progress."""
        missing = np.flatnonzero(self._present == 0)
        for _ in self._encoded(np.arange(self.count), missing, label):
            pass

    def _encoded(self, rows: Int64, missing: Int64, label: str) -> Iterator[tuple[Int64, Float32]]:
        """Encode and keep what is missing, with progress; yields places in `rows`, with vectors."""
        if not len(missing):
            return
        tell_how_slow(self._resources, len(missing))
        try:
            with self._resources.progress(label, len(missing), "documents") as advance:
                for start in range(0, len(missing), _BLOCK):
                    places = missing[start : start + _BLOCK]
                    documents = self._resources.documents(self._index.doc_ids(rows[places]))
                    vectors = self._encoder.documents([document.text for document in documents])
                    self._keep(rows[places], vectors)
                    yield places, vectors
                    advance(len(places))
        except KeyboardInterrupt as error:
            error.add_note("The vectors of documents that were encoded are kept.")
            raise

    def _make(self, folder: Path) -> None:
        for name, size in (
            (_VECTORS, self.count * self._encoder.width * 4),
            (_PRESENT, self.count),
            (_CHECKS, self.count * 4),
        ):
            with (folder / name).open("wb") as file:
                file.truncate(size)  # takes up no space yet

    def _keep(self, rows: Int64, vectors: Float32) -> None:
        try:
            self._write(_VECTORS, rows, np.ascontiguousarray(vectors))
            if self._checks is not None:
                self._write(_CHECKS, rows, _checksums(vectors)[:, None])
            self._write(_PRESENT, rows, np.ones((len(rows), 1), np.uint8))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            # a cache that others lend cannot be added to

    def _write(self, name: str, rows: Int64, values: npt.NDArray[np.generic]) -> None:
        # Written and not mapped: a full disk is an error then, and no signal.
        path = self._folder / name
        file = os.open(path, os.O_WRONLY)
        try:
            for row, value in zip(rows.tolist(), values, strict=True):
                # The last bytes that a disk has room for are written without an error.
                if os.pwrite(file, value.tobytes(), row * value.nbytes) < value.nbytes:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(file)
        finally:
            os.close(file)


def _checksums(vectors: Float32) -> npt.NDArray[np.uint32]:
    return np.array([zlib.crc32(vector.tobytes()) for vector in vectors], np.uint32)
