"""Indexes of sparse vectors: those that a model makes, and those in files of other programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from irplatform.kit import SparseIndex, digests
from irplatform.plugin import InputError
from irplatform_encoders.sparse import ciff
from irplatform_encoders.sparse.json_vectors import files_of, read_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from scipy.sparse import csr_matrix

    from irplatform.kit import Int64
    from irplatform.plugin import Resources
    from irplatform_encoders.sparse.model import SparseTextEncoder

LARGEST_CODE = 255
"""The largest weight that a byte holds."""
_KIND = "sparse-index"
_FORMAT = 1
_MOST_UNKNOWN = 0.5
"""Share of a file's documents that may be unknown to the collection."""
_BLOCK = 10_000
_PART = re.compile(r"#[1-9][0-9]*$")
"""The end of the name of a document's part, as `export` writes it."""
_MANY = 100_000
"""Vectors whose index is so large that a line says how large."""
_NUMBER = 4
"""Bytes of a document's number, or of an exact weight."""


def is_ciff(name: str) -> bool:
    """Tell by its name if a file is in CIFF; others have JSON vectors."""
    return name.endswith((".ciff", ".ciff.gz"))


def of_model(encoder: SparseTextEncoder, resources: Resources, *, rounded: bool) -> SparseIndex:
    """The index of the vectors that a model makes of a collection's documents, from the cache."""
    from irplatform_encoders.sparse.store import SparseVectorStore

    store = SparseVectorStore(resources, encoder)

    def build(folder: Path) -> None:
        store.fill("encoding documents")
        sizes, largest, words = np.empty(store.count, dtype=np.int64), 0.0, 0
        for start in range(0, store.count, _BLOCK):
            block = slice(start, min(start + _BLOCK, store.count))
            parts = store.rows(np.arange(block.start, block.stop))
            sizes[block] = np.diff(parts.offsets)
            largest = max(largest, float(parts.vectors.max()))
            words += parts.vectors.nnz
        owners = np.repeat(np.arange(store.count), sizes)
        firsts = np.cumsum(sizes) - sizes

        def vectors(places: Int64) -> csr_matrix:
            documents, of = np.unique(owners[places], return_inverse=True)
            parts = store.rows(documents)
            return parts.vectors[parts.offsets[of] + places - firsts[owners[places]]]

        doc_ids = resources.forward_index().doc_ids(owners)
        step = largest / LARGEST_CODE or 1.0 if rounded else None
        _write(folder, doc_ids, encoder.words, vectors, words, step, resources)

    depends_on = {"of": dict(encoder.identity), "rounded": rounded}
    # Resumable, since what takes long, the vectors, is kept by the store.
    return _cached(resources, depends_on, build, resumable=True)


def of_file(path: Path, resources: Resources, *, rounded: bool) -> SparseIndex:
    """The index of the vectors in a file or folder, without those of documents elsewhere."""

    def build(folder: Path) -> None:
        if is_ciff(path.name):
            _of_ciff(path, folder, resources, rounded=rounded)
        else:
            _of_json(path, folder, resources, rounded=rounded)

    files = [path] if is_ciff(path.name) else files_of(path)
    depends_on = {"format": _FORMAT, "of": digests(files), "rounded": rounded}
    return _cached(resources, depends_on, build)


def _cached(
    resources: Resources,
    depends_on: Mapping[str, object],
    build: Callable[[Path], None],
    *,
    resumable: bool = False,
) -> SparseIndex:
    depends_on = {"index": SparseIndex.FORMAT, **depends_on}
    folder = resources.artifact(_KIND, depends_on, build, of_vectors=False, resumable=resumable)
    return SparseIndex(folder)


def _write(
    folder: Path,
    doc_ids: Sequence[str],
    words: Sequence[str],
    vectors: Callable[[Int64], csr_matrix],
    size: int,
    step: float | None,
    resources: Resources,
) -> None:
    """Write an index of vectors with so many words in all; say how large it will be."""
    if len(doc_ids) >= _MANY:
        on_disk = size * (_NUMBER + (1 if step else _NUMBER)) / 1e9
        resources.notice(
            f"the index of {len(doc_ids):,} sparse vectors takes {on_disk:.1f} GB on disk, which "
            "searches map into memory that the system may take back"
        )
    with resources.progress("indexing vectors", 2 * len(doc_ids), "vectors") as advance:
        SparseIndex.write(folder, doc_ids, words, vectors, step=step, advance=advance)


def _of_ciff(path: Path, folder: Path, resources: Resources, *, rounded: bool) -> None:
    source = ciff.CiffFile(path)
    vector_places, owners = _match_documents(source.doc_ids, path, resources)
    place_of = np.full(len(source.doc_ids), -1, dtype=np.int64)
    place_of[vector_places] = np.arange(len(vector_places))
    postings = (
        (word, place_of[places[mask]], weights[mask])
        for word, places, weights in source.postings()
        for mask in (place_of[places] >= 0,)
    )
    SparseIndex.write_postings(folder, owners, postings, rounded=rounded)


def _of_json(path: Path, folder: Path, resources: Resources, *, rounded: bool) -> None:
    """Copy vectors to files first, which may be larger than memory."""
    from scipy.sparse import csr_matrix

    doc_ids: list[str] = []
    ends = [0]
    place_of: dict[str, int] = {}
    columns_file, weights_file = folder / "columns.int32", folder / "weights.read"
    is_whole, largest = True, 0.0
    with columns_file.open("wb") as columns, weights_file.open("wb") as weights:
        for doc_id, vector in read_vectors(path):
            doc_ids.append(doc_id)
            places = [place_of.setdefault(word, len(place_of)) for word in vector]
            values = np.fromiter(vector.values(), np.float32, len(vector))
            columns.write(np.array(places, dtype=np.int32).tobytes())
            weights.write(values.tobytes())
            ends.append(ends[-1] + len(values))
            is_whole = is_whole and bool((values == np.rint(values)).all())
            largest = max(largest, float(values.max(initial=0.0)))
    vector_places, owners = _match_documents(doc_ids, path, resources)
    filled = ends[-1] > 0
    everything = csr_matrix(
        (
            np.memmap(weights_file, np.float32, "r") if filled else np.empty(0, np.float32),
            np.memmap(columns_file, np.int32, "r") if filled else np.empty(0, np.int32),
            np.array(ends),
        ),
        shape=(len(doc_ids), len(place_of)),
    )
    step = 1.0 if is_whole and largest <= LARGEST_CODE else None
    if step is None and rounded:
        step = largest / LARGEST_CODE

    def vectors(rows: Int64) -> csr_matrix:
        return everything[vector_places[rows]]

    _write(folder, owners, [*place_of], vectors, ends[-1], step, resources)
    columns_file.unlink()
    weights_file.unlink()


def _match_documents(
    doc_ids: Sequence[str], path: Path, resources: Resources
) -> tuple[Int64, list[str]]:
    """The places of vectors whose documents the collection has, and these documents.

    A vector called "ID#1" is of a part of document ID, unless there is a document of that name. A
    line tells of parts, of other vectors, and of documents without any. InputError if most are
    unknown.
    """
    index = resources.forward_index()
    owners = np.array([_PART.sub("", doc_id) for doc_id in doc_ids], dtype=object)
    rows, of_parts = index.find(doc_ids), index.find(owners.tolist())
    owners[rows >= 0] = np.array(doc_ids, dtype=object)[rows >= 0]
    parts = int(((rows < 0) & (of_parts >= 0)).sum())
    rows = np.where(rows >= 0, rows, of_parts)
    vector_places = np.flatnonzero(rows >= 0)
    unknown = len(doc_ids) - len(vector_places)
    if unknown > _MOST_UNKNOWN * len(doc_ids):
        example = doc_ids[int(np.argmin(rows))]
        raise InputError(
            f"{unknown:,} of its {len(doc_ids):,} documents are not in the collection, such as "
            f"'{example}'. Are these vectors of another collection?",
            path=path,
        )
    missing = index.count - len(np.unique(rows[vector_places]))
    facts = (
        (parts, f"{parts:,} vectors are of parts of documents (ID#1), whose best part counts"),
        (
            unknown,
            f"{unknown:,} of {len(doc_ids):,} vectors are of no document of the collection "
            "and are left out",
        ),
        (missing, f"{missing:,} documents have no vector and are not found"),
    )
    if message := "; ".join(text for count, text in facts if count):
        resources.notice(f"{path.name}: {message}")
    return vector_places, owners[vector_places].tolist()
