"""Writes an index of sparse vectors for other programs: JSON vectors or CIFF.

Weights become whole numbers up to 255, which Lucene, Anserini and others search.
"""

from __future__ import annotations

import gzip
from collections import Counter
from contextlib import nullcontext
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from irplatform.kit import require
from irplatform.plugin import InputError
from irplatform_encoders.sparse.ciff import write_ciff
from irplatform_encoders.sparse.indexing import LARGEST_CODE, is_ciff
from irplatform_encoders.sparse.json_vectors import write_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.kit import Float32, Int64, SparseIndex

_AT_ONCE = 20_000
"""Vectors that are read at a time."""


def check_name(name: str) -> None:
    """Refuse a file's name that does not say in which format it is."""
    if not name.removesuffix(".gz").endswith((".jsonl", ".ciff")):
        raise InputError(
            f"the name '{name}' says no format: end it with .jsonl, .ciff, .jsonl.gz or .ciff.gz."
        )
    if is_ciff(name):
        require("writing CIFF", "google.protobuf")


def export(index: SparseIndex, name: str, file: IO[bytes]) -> Mapping[str, object]:
    """Write an index to a file in the format of its name; return facts about it.

    The parts of a document are called "id#1", "id#2" and so on. Weights that become 0 are left out.
    """
    unit = index.scale or index.largest / LARGEST_CODE or 1.0
    codes = 1.0 if index.scale else 1 / unit
    names = _names(index)
    zipped = gzip.GzipFile(fileobj=file, mode="wb", mtime=0) if name.endswith(".gz") else None
    with zipped or nullcontext():
        out: Any = zipped or file
        if is_ciff(name):

            def postings() -> Iterator[tuple[str, Int64, Int64]]:
                for word, numbers, weights in index.postings():
                    integers = _round(weights * codes)
                    yield word, numbers[integers > 0].astype(np.int64), integers[integers > 0]

            description = f"sparse vectors of irplatform: a weight of 1 stands for {unit:.9g}"
            write_ciff(out, names, postings, description=description)
        else:
            write_vectors(out, _vectors(index, names, codes))
    return {
        "vectors": index.count,
        "words": len(index.words),
        "a weight of 1 stands for": float(f"{unit:.9g}"),
    }


def _vectors(
    index: SparseIndex, names: list[str], codes: float
) -> Iterator[tuple[str, dict[str, int]]]:
    words = [*index.words]
    for start in range(0, index.count, _AT_ONCE):
        block = index.vectors(start, min(start + _AT_ONCE, index.count))
        for name, vector in zip(names[start:], block, strict=False):
            weights = _round(vector.data * codes).tolist()
            pairs = zip(vector.indices.tolist(), weights, strict=True)
            yield name, {words[column]: weight for column, weight in pairs if weight}


def _round(weights: Float32) -> Int64:
    integers: Int64 = np.rint(weights).astype(np.int64)
    return integers


def _names(index: SparseIndex) -> list[str]:
    """The names of vectors: their documents' ids, or those of their parts."""
    ids = index.ids()
    times = Counter(ids)
    counts: Counter[str] = Counter()
    names = []
    for doc_id in ids:
        counts[doc_id] += 1
        names.append(doc_id if times[doc_id] == 1 else f"{doc_id}#{counts[doc_id]}")
    return names
