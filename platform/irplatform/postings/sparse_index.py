"""An index of sparse vectors, such as SPLADE's, searched by inner product, exactly.

A document's score is the sum over the words of the query of the query's weight times the document's
weight. Weights of documents are kept as float32, or in a byte each, as multiples of one number. The
search is that of `search`. A folder holds:

- `doc-ids`: the ids of the vectors' documents, in descending order. A vector's place is its
  *number*, so that of two documents with the same score the one with the smaller number comes
  first. A document may have several vectors, such as those of its parts: the best counts.
- `words`: the names of the vectors' columns.
- `starts.int64` [words + 1]: where the postings of each word begin.
- `documents.int32`, `weights.uint8` or `weights.float32` [postings]: per word, numbers of documents
  in ascending order, and weights. (A document here is a vector.)
- `peaks.float32` [words]: the largest weight of each word's postings.
- `common-*`: where the documents of common words are; see `irplatform.postings.common`.
- `facts.json`: format, counts, the type of weights, and what the whole numbers are multiplied by.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from irplatform.errors import PlatformError
from irplatform.files.cache import kept_facts
from irplatform.files.columns import changes, packed, texts_of
from irplatform.files.writing import write_json
from irplatform.postings.common import open_common, write_common
from irplatform.postings.search import Postings, Queries, has_numba, search
from irplatform.runs.packed import PackedRanking
from irplatform.text.arrays import ArrayWriter, map_array, new_array, ragged, write_array
from irplatform.text.string_table import StringTable, StringTableWriter
from irplatform.workers.distribution import batched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from scipy.sparse import csr_matrix

    from irplatform.files.columns import Cells
    from irplatform.runs import Ranking
    from irplatform.text.arrays import Float32, Int32, Int64

_BLOCK = 16_384
"""Documents that are turned into postings at a time."""
_IDS_AT_ONCE = 100_000
_AT_ONCE = 1 << 24
"""Weights that are rounded at a time."""
_LARGEST_CODE = 255
_WORTH_COMPILING = 500_000_000
"""Postings and documents that searches without numba look at in some seconds."""


class SparseIndex:
    """The index in a folder, memory-mapped; PlatformError if it has another format.

    Attributes:
        words: the names of the columns of vectors.
        count: the number of vectors.
        scale: what weights in whole numbers are multiplied by; None for others.

    Example:
        >>> import tempfile, pathlib, scipy.sparse
        >>> vectors = scipy.sparse.csr_matrix([[0, 2.0], [1.0, 1.0]])
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> SparseIndex.write(folder, ["d1", "d2"], ["lung", "cancer"], vectors.__getitem__)
        >>> query = scipy.sparse.csr_matrix([[0.0, 3.0]])
        >>> SparseIndex(folder).search(query, depth=10)[0].doc_ids
        ('d1', 'd2')
    """

    FORMAT: ClassVar[int] = 2
    """Of the folder's files."""

    def __init__(self, folder: Path) -> None:
        facts = kept_facts(folder, "sparse-index", self.FORMAT)
        self._folder = folder
        self.count: int = facts["documents"]
        self.scale: float | None = facts["scale"]
        self.words = StringTable.open(folder, "words")
        self._work = 0  # postings and documents that searches have looked at
        weights = np.dtype(facts["weights"])
        self._postings = Postings(
            map_array(folder / "documents.int32", np.int32),
            map_array(folder / f"weights.{weights.name}", weights.type),
            map_array(folder / "starts.int64", np.int64),
            np.zeros(self.count, dtype=np.uint16),
            map_array(folder / "peaks.float32", np.float32),
            common=open_common(folder),
        )

    @classmethod
    def write(
        cls,
        folder: Path,
        doc_ids: Sequence[str],
        words: Sequence[str],
        vectors: Callable[[Int64], csr_matrix],
        *,
        step: float | None = None,
        advance: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Fill a folder with an index of documents' vectors.

        Args:
            folder: it exists, and is empty.
            doc_ids: the document of each vector.
            words: distinct names of the columns of vectors.
            vectors: returns some, by their places in `doc_ids`: float32 [vectors, words], of 0 or
                more. It is asked for each twice.
            step: keep a weight in a byte, as a multiple of this, up to 255; those below half of it
                are left out. None keeps weights as they are.
            advance: called with how many vectors have been read, twice in all.
        """
        order = np.array(sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=True))
        order = order.astype(np.int64)
        blocks = [order[start : start + _BLOCK] for start in range(0, len(order), _BLOCK)]
        code = _Codes(step)
        counts = np.zeros(len(words), dtype=np.int64)
        for block in blocks:
            part = code.of(vectors(block))
            counts += np.bincount(part.indices, minlength=len(words))
            advance(len(block))
        starts = np.concatenate([[0], np.cumsum(counts)])
        documents = new_array(folder / "documents.int32", np.int32, int(starts[-1]))
        weights = new_array(folder / f"weights.{code.dtype.name}", code.dtype, int(starts[-1]))
        peaks = np.zeros(len(words), dtype=np.float32)
        at = starts[:-1].copy()
        for number, block in enumerate(blocks):
            by_word = code.of(vectors(block)).tocsc()
            lengths = np.diff(by_word.indptr).astype(np.int64)
            places, _ = ragged(at, lengths)
            documents[places] = by_word.indices + number * _BLOCK
            weights[places] = by_word.data
            np.maximum(peaks, by_word.max(axis=0).toarray()[0], out=peaks)
            at += lengths
            advance(len(block))
        del documents, weights  # which writes what is left in memory to the files
        cls._finish(folder, [doc_ids[place] for place in order], words, starts, peaks, code)

    @classmethod
    def write_postings(
        cls,
        folder: Path,
        doc_ids: Sequence[str],
        postings: Iterable[tuple[str, Int64, Float32]],
        *,
        rounded: bool = False,
    ) -> None:
        """Fill a folder, given the postings of one word after the other.

        Args:
            folder: it exists, and is empty.
            doc_ids: the document of each vector.
            postings: each word once, with places in `doc_ids` and the weights, of 0 or more.
            rounded: keep weights in a byte, as multiples of 1/255 of the largest. Whole numbers up
                to 255 are kept so as they are.
        """
        order = sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=True)
        number_of = np.empty(len(order), dtype=np.int32)
        number_of[order] = np.arange(len(order))
        words, counts, peaks = [], [], []
        small = True
        with (
            ArrayWriter(folder / "documents.int32", np.int32) as documents,
            ArrayWriter(folder / "weights.float32", np.float32) as weights,
        ):
            for word, places, values in postings:
                numbers = number_of[places]
                inner = np.argsort(numbers)
                inner = inner[values[inner] > 0]
                documents.append(numbers[inner])
                weights.append(values[inner])
                words.append(word)
                counts.append(len(inner))
                peaks.append(float(values[inner].max(initial=0.0)))
                small = small and _are_small(values)
        scale = 1.0 if small else max(peaks) / _LARGEST_CODE if rounded else None
        code = _Codes(scale)
        if scale is not None:
            exact = map_array(folder / "weights.float32", np.float32)
            with ArrayWriter(folder / "weights.uint8", np.uint8) as codes:
                for start in range(0, len(exact), _AT_ONCE):
                    codes.append(code.rounded(exact[start : start + _AT_ONCE]))
            (folder / "weights.float32").unlink()
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
        ids = [doc_ids[place] for place in order]
        maxima = code.rounded(np.array(peaks, dtype=np.float32))
        cls._finish(folder, ids, words, starts, maxima, code)

    @classmethod
    def _finish(
        cls,
        folder: Path,
        doc_ids: Sequence[str],
        words: Sequence[str],
        starts: Int64,
        peaks: Float32,
        code: _Codes,
    ) -> None:
        write_array(folder / "starts.int64", starts)
        write_array(folder / "peaks.float32", peaks)
        documents = map_array(folder / "documents.int32", np.int32)
        write_common(folder, starts, documents, len(doc_ids))
        for name, strings in (("doc-ids", doc_ids), ("words", words)):
            with StringTableWriter(folder, name) as writer:
                writer.extend(strings)
            if (repeated := writer.finish()) is not None and strings is words:
                raise PlatformError(f"the word '{repeated}' comes twice in sparse vectors.")
        facts = {
            "format": cls.FORMAT,
            "documents": len(doc_ids),
            "weights": code.dtype.name,
            "scale": code.scale,
        }
        write_json(folder / "facts.json", facts)

    @property
    def largest(self) -> float:
        """The largest weight, as kept."""
        return float(self._postings.peaks.max(initial=0.0))

    @cached_property
    def doc_ids(self) -> Cells:
        """The ids of the vectors' documents by number, packed."""
        ids = StringTable.open(self._folder, "doc-ids")
        return np.concatenate([packed(part) for part in batched(ids, _IDS_AT_ONCE)] or [packed(())])

    def ids(self) -> list[str]:
        """The ids of the vectors' documents, by number."""
        return list(texts_of(self.doc_ids))

    @cached_property
    def _first(self) -> Int64 | None:
        """The first vector of each one's document; None if no document has several."""
        begins = changes(self.doc_ids)
        if len(begins) == self.count:
            return None
        return np.repeat(begins, np.diff([*begins, self.count])).astype(np.int64)

    def search(
        self,
        queries: csr_matrix,
        depth: int,
        *,
        threads: int = 1,
        compiled: bool | None = None,
        done: Callable[[int], object] = lambda _: None,
    ) -> list[Ranking]:
        """Rank documents for vectors of queries.

        Args:
            queries: float32 [queries, words], of 0 or more.
            depth: most documents per query; those of score 0 are not found.
            threads: how many search at once.
            compiled: search with numba; by default where it is installed and searches so far have
                taken longer than to compile it, which takes ten seconds once on a machine.
            done: called with the number of queries that have just been finished.
        """
        weights = np.asarray(queries.data, dtype=np.float32) * np.float32(self.scale or 1)
        ends, columns = queries.indptr.astype(np.int64), queries.indices.astype(np.int64)
        terms = [
            (columns[start:stop], weights[start:stop])
            for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ]
        if compiled is None:
            sizes = np.diff(self._postings.starts)[columns]
            self._work += int(sizes.sum()) + len(terms) * self.count
            compiled = has_numba() and self._work > _WORTH_COMPILING
        rankings: dict[int, Ranking] = {}
        remainder, deeper = list(range(len(terms))), depth
        while remainder:
            batch = Queries.of([terms[query] for query in remainder])
            order, remainder = remainder, []
            for results in search(
                self._postings, batch, deeper, threads=threads, compiled=compiled
            ):
                for query, (numbers, scores) in zip(order, results.by_topic(), strict=False):
                    best = self._best(numbers)
                    if len(best) < depth and len(numbers) == deeper < self.count:
                        remainder.append(query)
                        continue
                    first = best[:depth]
                    values = scores[first]
                    values.flags.writeable = False
                    rankings[query] = PackedRanking(self.doc_ids[numbers[first]], values)
                del order[: len(results.sizes)]
            done(len(batch.limits) - len(remainder))
            deeper *= 2
        return [rankings[query] for query in range(len(terms))]

    def _best(self, numbers: Int32) -> Int64:
        """The places of the best vector of each document, given vectors from the best on."""
        if self._first is None:
            return np.arange(len(numbers))
        _, places = np.unique(self._first[numbers], return_index=True)
        return np.sort(places)

    def postings(self) -> Iterator[tuple[str, Int32, Any]]:
        """Yield each word, in alphabetical order, with the numbers of its documents and weights.

        Numbers ascend. Weights are as kept.
        """
        words = [*self.words]
        for column in sorted(range(len(words)), key=words.__getitem__):
            places = slice(*self._postings.starts[column : column + 2].tolist())
            yield words[column], self._postings.documents[places], self._postings.values[places]

    def vectors(self, start: int, stop: int) -> csr_matrix:
        """The weights, as kept, of documents from a number to another: [documents, words]."""
        from scipy.sparse import csc_matrix

        starts = self._postings.starts
        bounds = [
            start_of + np.searchsorted(self._postings.documents[start_of:stop_of], (start, stop))
            for start_of, stop_of in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ]
        begins, ends = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
        places, offsets = ragged(begins, ends - begins)
        parts = self._postings.values[places], self._postings.documents[places] - start, offsets
        return csc_matrix(parts, shape=(stop - start, len(starts) - 1)).tocsr()


class _Codes:
    """How weights are kept: as multiples of `scale` in a byte, or without one as float32."""

    def __init__(self, scale: float | None) -> None:
        self.scale = None if scale is None else float(scale)
        self.dtype = np.dtype(np.float32 if scale is None else np.uint8)

    def of(self, vectors: csr_matrix) -> csr_matrix:
        """Vectors with weights as they are kept, those above 0 only."""
        matrix = vectors.astype(np.float32)
        matrix.data = self.rounded(matrix.data)
        matrix.eliminate_zeros()
        return matrix

    def rounded(self, weights: Float32) -> Float32:
        """Weights as they are kept, as float32."""
        if self.scale is None:
            return weights
        codes: Float32 = np.rint(weights / np.float32(self.scale)).clip(0, _LARGEST_CODE)
        return codes


def _are_small(weights: Float32) -> bool:
    return bool(((weights == np.rint(weights)) & (weights <= _LARGEST_CODE)).all())
