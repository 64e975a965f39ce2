"""Vectors of documents in the cache, each encoded when it is first asked for.

A reranker needs the vectors of some thousand candidates, a retriever those of all documents, and a
transformer takes hours for millions. So they are kept one by one, in a file that has room for all
of them and takes up the space of those that are there. What was encoded stays when a process is
interrupted, and several processes may fill one store: what they write is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Resources

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_BLOCK = 512
"""Documents that are encoded before they are kept."""
_VECTORS = "vectors.npy"
_PRESENT = "present.npy"


class VectorStore:
    """Vectors of a collection's documents.

    Args:
        resources: the harness's resources.
        depends_on: what vectors depend on beside the documents.
        encode: vectors [n, width] of texts.
        width: numbers of a vector.
    """

    def __init__(
        self,
        resources: Resources,
        depends_on: Mapping[str, object],
        encode: Callable[[Sequence[str]], Float32],
        width: int,
    ) -> None:
        self._resources = resources
        self._encode = encode
        self._index = resources.forward_index()
        self.count = self._index.count
        folder = resources.artifact(
            "bi-encoder", {**depends_on, "width": width}, lambda place: self._make(place, width)
        )
        self._vectors, self._present = _open(folder)

    def of(self, doc_ids: Sequence[str]) -> Float32:
        """Vectors of documents, float32 [n, width]."""
        return self.rows(self._index.rows(doc_ids))

    def rows(self, rows: Int64) -> Float32:
        """Vectors of the documents in some rows of the forward index."""
        held: Float32 = np.array(self._vectors[rows])
        missing = np.flatnonzero(self._present[rows] == 0)
        for start in range(0, len(missing), _BLOCK):
            places = missing[start : start + _BLOCK]
            documents = self._resources.documents(self._index.doc_ids(rows[places]))
            held[places] = self._encode([document.text for document in documents])
            self._keep(rows[places], held[places])
        return held

    def _make(self, folder: Path, width: int) -> None:
        open_memmap: Any = np.lib.format.open_memmap
        open_memmap(folder / _VECTORS, "w+", np.float32, (self.count, width)).flush()
        open_memmap(folder / _PRESENT, "w+", np.uint8, (self.count,)).flush()

    def _keep(self, rows: Int64, vectors: Float32) -> None:
        if not self._vectors.flags.writeable:  # a cache that others lend
            return
        for file, values in ((self._vectors, vectors), (self._present, 1)):
            file[rows] = values
            file.flush()  # a vector is there before it counts as present


def _open(folder: Path) -> tuple[Any, Any]:
    """The files, to be written to if that can be."""
    for mode in ("r+", "r"):
        try:
            return tuple(np.load(folder / name, mmap_mode=mode) for name in (_VECTORS, _PRESENT))
        except PermissionError:
            if mode == "r":
                raise
    raise AssertionError
