"""Searches the postings of `postings` for many topics, with the rankings of Lucene's BM25 and RM3.

A document's score is the sum over the query's terms of

    w - w / (1 + tf / (k1 (1 - b + b dl / avgdl))),  w = boost · log(1 + (N - n + 0.5) / (n + 0.5))

in 32 bits, as `org.apache.lucene.search.similarities.BM25Similarity` computes it, with lengths `dl`
as Lucene's byte has them. Lucene adds the terms up in 64 bits and rounds the sum to 32. In 64 bits
the sum of a few dozen 32-bit scores is exact in any order, so scores and rankings here are those of
Lucene to the bit.

`words` analyzes the topics, and `irplatform.postings.search` searches. With numba they do so in
compiled code; without, Lucene and NumPy do the same, at a small part of the speed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irplatform.files.cache import kept_facts
from irplatform.files.columns import packed
from irplatform.lucene.feedback import addable, expanded
from irplatform.lucene.java import java_class
from irplatform.lucene.postings import POSTINGS_FORMAT
from irplatform.lucene.queries import lucene_similarity
from irplatform.lucene.structured import NOTHING, Scores, StructuredSearch
from irplatform.lucene.words import Bags, TermTable
from irplatform.postings.common import open_common
from irplatform.postings.search import NO_LIMIT, Postings, Queries, Results, has_numba, search
from irplatform.runs.packed import PackedRanking
from irplatform.text.arrays import Float32, Int32, Int64, map_array
from irplatform.text.string_table import UNKNOWN, StringTable
from irplatform.workers.distribution import available_cores, batched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from irplatform.files.columns import Cells
    from irplatform.lucene.queries import BM25, RM3
    from irplatform.runs import Ranking

_AT_ONCE = 16
"""Topics of one call of compiled code."""
_WITH_FEEDBACK = 4_096
"""Topics whose feedback documents are read in one pass over the postings."""
_IDS_AT_ONCE = 100_000
_REMEMBERED = 4
"""Similarities whose bounds are kept."""


class ImpactIndex:
    """Searches the postings in a folder, memory-mapped; PlatformError if they have another format.

    `count` is the number of documents.
    """

    def __init__(self, folder: Path) -> None:
        facts = kept_facts(folder, "postings", POSTINGS_FORMAT)
        self._folder = folder
        self.count: int = facts["documents"]
        self._non_empty: int = facts["non_empty_documents"]
        self._total_terms: int = facts["total_terms"]
        self._terms = TermTable(folder)
        self._postings = Postings(
            map_array(folder / "documents.int32", np.int32),
            map_array(folder / f"codes.{facts['codes']}", np.dtype(facts["codes"]).type),
            map_array(folder / "starts.int64", np.int64),
            map_array(folder / "latest.uint16", np.uint16),
            np.empty(0, np.float32),
            common=open_common(folder),
        )
        self._scored = lru_cache(_REMEMBERED)(self._scored_by)
        self._structured: dict[BM25, StructuredSearch] = {}

    @cached_property
    def _doc_ids(self) -> Cells:
        ids = StringTable.open(self._folder, "doc-ids")
        return np.concatenate([packed(part) for part in batched(ids, _IDS_AT_ONCE)] or [packed(())])

    @cached_property
    def _pairs(self) -> Int64:
        """Frequency and length that each code stands for."""
        return map_array(self._folder / "pairs.int64", np.int64).reshape(-1, 2)

    @cached_property
    def _addable(self) -> npt.NDArray[np.bool_]:
        text = map_array(self._folder / "terms.utf8", np.uint8)
        ends = map_array(self._folder / "terms.ends", np.int64)
        return addable(text, ends, np.diff(self._postings.starts), self.count)

    @cached_property
    def _length_table(self) -> Float32:
        """The length that each value of Lucene's byte stands for: float32 [256]."""
        small = java_class("org.apache.lucene.util.SmallFloat")
        signed = [value - 256 if value > 127 else value for value in range(256)]
        return np.array([small.byte4ToInt(value) for value in signed], dtype=np.float32)

    def search(
        self,
        queries: Mapping[str, str],
        depth: int,
        similarity: BM25,
        analyzer: Any,
        *,
        feedback: RM3 | None = None,
        before: Mapping[str, str] | None = None,
        threads: int | None = None,
        compiled: bool | None = None,
        advance: Callable[[int], None] = lambda _: None,
        added: Callable[[int], None] = lambda _: None,
    ) -> dict[str, Ranking]:
        """Rank documents for every topic, as `LuceneIndex.search` does.

        Args:
            queries: topic id to its words.
            depth: most documents per topic.
            similarity: BM25 with its parameters.
            analyzer: Lucene's English analyzer, as the index has it.
            feedback: expands queries.
            before: topic id to the year from which on documents are left out; see `dates`.
            threads: by default one per core.
            compiled: search with numba; by default where it is installed.
            advance: called with the number of topics that have just been finished.
            added: called with the number of words that feedback adds to some topics.

        Returns:
            A ranking per topic, in the order of the topics; empty if nothing is found.
        """
        limits = {topic: int(year) for topic, year in (before or {}).items()}
        postings = self._scored(similarity)
        compiled = has_numba() if compiled is None else compiled
        options: Any = {"threads": threads or available_cores(), "compiled": compiled}
        rankings: dict[str, Ranking] = {}
        for part in batched(queries, _WITH_FEEDBACK if feedback else max(1, len(queries))):
            years = np.array([limits.get(topic, NO_LIMIT) for topic in part], dtype=np.uint16)
            texts = [queries[topic] for topic in part]
            bags = self._terms.bags(texts, analyzer, compiled=compiled)
            if feedback:
                parts = search(postings, self._weighted(bags, years), feedback.documents, **options)
                first = [best for results in parts for best in results.by_topic()]
                length = len(bags.rows)
                bags = expanded(
                    bags, first, self._postings, self._pairs[:, 0], self._addable, feedback
                )
                added(len(bags.rows) - length)
            topics = iter(part)
            for results in search(postings, self._weighted(bags, years), depth, **options):
                count = len(results.sizes)
                best = zip(islice(topics, count), self._rankings(results), strict=True)
                rankings.update(best)
                advance(count)
        return rankings

    def search_structured(
        self,
        queries: Mapping[str, Any],
        depth: int,
        similarity: BM25,
        reader: Any,
        *,
        before: Mapping[str, str] | None = None,
        advance: Callable[[int], None] = lambda _: None,
    ) -> dict[str, Ranking]:
        """Rank documents for Lucene's queries, given the reader of the index; see `structured`."""
        if similarity not in self._structured:
            number_of = map_array(self._folder / "number-of.int32", np.int32)
            terms = partial(self._term_scores, self._saturation(similarity, self._pairs))
            search = StructuredSearch(reader, lucene_similarity(similarity), number_of, terms)
            self._structured = {similarity: search}  # only the last: it takes much memory
        rankings = {}
        for part in batched(queries, _AT_ONCE):
            results = self._structured[similarity]([queries[topic] for topic in part])
            for topic, scores in zip(part, results, strict=True):
                year = int((before or {}).get(topic, NO_LIMIT))
                in_time = scores.only(self._postings.latest[scores.numbers] <= year)
                rankings[topic] = self._ranking(*in_time.best(depth))
            advance(len(part))
        return rankings

    def _term_scores(self, saturation: Float32, term: str, boost: np.float32) -> Scores:
        rows = self._terms.find([term])
        if rows[0] == UNKNOWN:
            return NOTHING
        places = slice(*self._postings.starts[rows[0] : rows[0] + 2].tolist())
        (weight,) = boost * self._idf(rows)
        values = weight - weight / saturation
        return Scores(self._postings.documents[places], values[self._postings.values[places]])

    def _ranking(self, numbers: Int32, scores: Float32) -> Ranking:
        scores.flags.writeable = False
        return PackedRanking(self._doc_ids[numbers], scores)

    def _rankings(self, results: Results) -> Iterator[Ranking]:
        cells = self._doc_ids[results.numbers]
        scores = results.scores
        scores.flags.writeable = False
        for place in results.places():
            yield PackedRanking(cells[place], scores[place])

    def _weighted(self, bags: Bags, limits: npt.NDArray[np.uint16]) -> Queries:
        """The topics with w of each term."""
        return Queries(bags.ends, bags.rows, bags.boosts * self._idf(bags.rows), limits)

    def _idf(self, rows: Int64) -> Float32:
        frequency = self._postings.starts[rows + 1] - self._postings.starts[rows]
        present = self._non_empty
        idf = np.log(1 + (present - frequency + 0.5) / (frequency + 0.5))
        return np.asarray(idf, dtype=np.float32)

    def _scored_by(self, similarity: BM25) -> Postings:
        """The postings, to be scored by BM25."""
        peaks = map_array(self._folder / "peaks.int32", np.int32).reshape(-1, 2)
        return replace(
            self._postings,
            saturation=self._saturation(similarity, self._pairs),
            peaks=self._saturation(similarity, peaks),
        )

    def _saturation(self, similarity: BM25, pairs: Int32 | Int64) -> Float32:
        """1 + tf / (k1 (1 - b + b dl / avgdl)) for frequencies and lengths, as Lucene rounds it."""
        one, k1, b = np.float32(1), np.float32(similarity.k1), np.float32(similarity.b)
        mean = np.float32(self._total_terms / max(self._non_empty, 1))
        frequencies, lengths = pairs.T
        with np.errstate(divide="ignore"):  # k1 may be 0
            inverse = one / (k1 * ((one - b) + b * self._length_table / mean))
        return np.asarray(one + frequencies.astype(np.float32) * inverse[lengths])
