"""Vectors of documents that do not depend on the query: computed once per model, kept on disk.

What a model makes of a document alone is the same for every topic, so it is made for the whole
collection, kept as an artifact named by the model's weights, and read back row by row through a
memory map.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.registry.sources import module_of
from irplatform.text.arrays import Float32, new_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from torch import Tensor

    from irplatform.plugin.resources import Resources
    from irplatform.text import WordVectors


_FILE = "documents.npy"
_BLOCK = 512
"""Documents that are computed at once."""
_SAMPLE = 4096


def stored_documents(
    resources: Resources,
    kind: str,
    depends_on: Mapping[str, object],
    compute: Callable[[npt.NDArray[np.int64]], Float32],
    width: int,
) -> Float32:
    """Vectors of all documents of the collection, from the cache or computed now.

    Args:
        resources: the harness's resources.
        kind: the kind of the artifact, unique to the plugin.
        depends_on: what the vectors depend on beside the documents; see `weights_digest`.
        compute: vectors [n, width] of the documents in some rows of the forward index.
        width: numbers per document.

    Returns:
        float32 [documents, width], memory-mapped, in the order of the forward index.
    """
    count = resources.forward_index().count

    def build(folder: Path) -> None:
        vectors = new_matrix(folder / _FILE, (count, width))
        with resources.progress("computing document vectors", count, "documents") as advance:
            for start in range(0, count, _BLOCK):
                rows = np.arange(start, min(start + _BLOCK, count))
                vectors[rows] = compute(rows)
                advance(len(rows))
        vectors.flush()

    build.__module__ = module_of(compute)  # whose code makes the vectors, and is named with them
    folder = resources.artifact(kind, {**depends_on, "width": width}, build)
    vectors: Float32 = np.load(folder / _FILE, mmap_mode="r", allow_pickle=False)
    return vectors


def weights_digest(tensors: Mapping[str, Tensor]) -> str:
    """Stands for weights: names, shapes and every bit of their values."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        values = np.ascontiguousarray(tensor.detach().cpu().numpy())
        digest.update(f"{name} {values.dtype} {values.shape} ".encode())
        digest.update(values.data)
    return digest.hexdigest()


def vectors_digest(vectors: WordVectors) -> str:
    """Stands for word vectors: how many, and the values of some thousands of them."""
    step = max(1, len(vectors.matrix) // _SAMPLE)
    sample = np.ascontiguousarray(vectors.matrix[::step])
    digest = hashlib.sha256(f"{vectors.matrix.shape} ".encode())
    digest.update(sample.data)
    return digest.hexdigest()
