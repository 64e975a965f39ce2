"""An index of vectors by FAISS (Johnson, Douze and Jégou, IEEE Trans. Big Data 2021).

All vectors are compared, exactly; or those of the clusters nearest to the query (an inverted file),
with 16 bits a number. Documents are added in blocks, and the index is memory-mapped when searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import faiss
import numpy as np

from irplatform.plugin import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from irplatform.kit import Float32, Int64
    from irplatform.plugin import Resources


FORMAT = 1
BLOCK = 4096  # documents that are encoded and added at once
_SAMPLE_PER_CLUSTER = 64
_LEAST_PER_CLUSTER = 39  # below, FAISS warns that clusters are poor
_EQUAL = 64  # more documents than asked for: FAISS cuts through equal ones anywhere
_FILE = "vectors.faiss"


def indexed(
    resources: Resources,
    kind: str,
    depends_on: Mapping[str, object],
    count: int,
    width: int,
    encode: Callable[[Int64], Float32],
    *,
    exact: bool,
    of_vectors: bool = True,
) -> Path:
    """The folder of an index of all documents, from the cache or built now; see `build_index`."""

    def build(folder: Path) -> None:
        with resources.progress("indexing vectors", count, "documents") as advance:
            build_index(folder, count, width, encode, exact=exact, advance=advance)

    depends_on = {"format": FORMAT, "exact": exact, **depends_on}
    return resources.artifact(kind, depends_on, build, of_vectors=of_vectors)


def build_index(
    folder: Path,
    count: int,
    width: int,
    encode: Callable[[Int64], Float32],
    *,
    exact: bool,
    advance: Callable[[int], None],
) -> None:
    """Write an index of documents; `encode` gives the vectors [n, width] of some rows."""
    if exact:
        index: Any = faiss.IndexFlatIP(width)
    else:
        clusters = max(1, min(round(4 * count**0.5), count // _LEAST_PER_CLUSTER))
        index = faiss.index_factory(width, f"IVF{clusters},SQfp16", faiss.METRIC_INNER_PRODUCT)
        size = min(count, _SAMPLE_PER_CLUSTER * clusters)
        sample = np.sort(np.random.default_rng(clusters).choice(count, size, replace=False))
        index.train(np.concatenate([encode(part) for part in _blocks(sample)]))
    for rows in _blocks(np.arange(count)):
        index.add(encode(rows))
        advance(len(rows))
    faiss.write_index(index, str(folder / _FILE))


def open_index(folder: Path, probes: int) -> Any:
    """Memory-map an index; `probes` clusters are looked at per query where it has some."""
    index: Any = faiss.read_index(str(folder / _FILE), faiss.IO_FLAG_MMAP_IFC)
    if hasattr(index, "nprobe"):
        index.nprobe = min(probes, index.nlist)
    return index


def nearest(
    index: Any,
    queries: Float32,
    depth: int,
    threads: int,
    doc_ids: Callable[[Int64], Sequence[str]],
) -> list[Ranking]:
    """Per query [width] the documents of the largest inner products; none where it is all 0.

    Of up to 64 documents that are equal at the end, the order of runs decides.
    """
    faiss.omp_set_num_threads(threads)
    most = min(depth + _EQUAL, max(index.ntotal, 1))
    scores_and_rows = index.search(np.ascontiguousarray(queries), most)
    rankings = []
    for query, scores, rows in zip(queries, *scores_and_rows, strict=True):
        valid = (rows >= 0) & query.any()  # row −1 is nothing
        rankings.append(Ranking.of(doc_ids(rows[valid]), scores[valid]).top(depth))
    return rankings


def _blocks(rows: Int64) -> list[Int64]:
    return [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
