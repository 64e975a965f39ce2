"""The Lucene index: searches whole topic sets on all cores and hands out documents by id.

Python threads search, one topic at a time each; PyJNIus lets go of the GIL while Lucene works. A
query is a bag of words, analyzed as the documents were: nothing in it is syntax.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.errors import InputError, PlatformError
from irplatform.lucene.dates import limited
from irplatform.lucene.java import (
    heap_error,
    in_threads,
    java_class,
    java_text,
    lacks_heap,
    making,
    refuse_fork,
)
from irplatform.lucene.queries import RM3Expansion, bag_of_words, lucene_similarity
from irplatform.lucene.records import from_record
from irplatform.lucene.results import best_first, ranking, stored_records
from irplatform.lucene.similarity import BM25, RM3, Similarity
from irplatform.system.console import LAST, progress
from irplatform.system.workers import available_cores, batched

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.data import Document
    from irplatform.runs import Ranking

_DOCUMENTS_AT_ONCE = 1000
_DEEPEST = 2**31 - 1
"""What a number of Lucene's holds; no index has more documents."""

QueryBuilder: TypeAlias = Callable[["LuceneIndex"], Any]
"""Makes a Lucene `Query` (boosts, phrases, disjunctions…), from classes of `java_class`."""


class LuceneIndex:
    """An index that is open for searching; made by `LuceneIndex.open`."""

    def __init__(self, path: Path, anserini: Any, reader: Any) -> None:
        self.path = path
        self._reader = reader
        self.analyzer = anserini.get_analyzer()
        self._anserini = anserini

    @classmethod
    def open(cls, path: Path) -> LuceneIndex:
        """Open an index.

        Raises:
            InputError: there is none in this folder, or it cannot be read.
        """
        # Anserini takes the name of a missing folder for an index to download; this rules it out.
        if not any(path.glob("segments_*")):
            raise InputError("there is no Lucene index in this folder.", path=path)
        searcher = java_class("io.anserini.search.SimpleSearcher")
        from jnius import JavaException

        try:
            reader = java_class("io.anserini.index.IndexReaderUtils").getReader(str(path))
            return cls(path, searcher(str(path)), reader)
        except JavaException as error:
            raise InputError(
                "the Lucene index cannot be read. Delete its folder, and it is built again.",
                path=path,
            ) from error

    @property
    def reader(self) -> Any:
        """The Lucene reader."""
        refuse_fork()
        return self._reader

    @property
    def count(self) -> int:
        """How many documents it holds."""
        return int(self.reader.numDocs())

    def stats(self) -> dict[str, int]:
        """Lucene's counts of the searched field: documents, non_empty_documents, total_terms."""
        counts = java_class("io.anserini.index.IndexReaderUtils").getIndexStats(self.reader)
        names = ("documents", "non_empty_documents", "total_terms")
        return {name: int(counts.get(name)) for name in names}

    def documents_with(self, field: str) -> int:
        """How many documents have words in a field: "title", "abstract", or one of their own."""
        return int(self.reader.getDocCount(field))

    def contains(self, doc_id: str) -> bool:
        """Whether it holds a document."""
        return (
            int(self.reader.docFreq(java_class("org.apache.lucene.index.Term")("id", doc_id))) > 0
        )

    def search(
        self,
        queries: Mapping[str, str | QueryBuilder],
        depth: int,
        *,
        similarity: Similarity | None = None,
        feedback: RM3 | None = None,
        before: Mapping[str, str] | None = None,
        threads: int | None = None,
    ) -> dict[str, Ranking]:
        """Rank documents for every topic.

        Args:
            queries: topic id to its words, or to a builder of a Lucene query.
            depth: how many documents to find at most.
            similarity: how to score; by default BM25 with its defaults.
            feedback: expand the queries (those made of words) by pseudo-relevance feedback.
            before: topic id to the year from which on documents are not found; see `dates`.
            threads: how many topics at once; by default all cores.

        Returns:
            A ranking per topic, in the order of the topics; an empty one where nothing is found
            or no word is left to search for.

        Raises:
            InputError: the depth is not positive.
        """
        if depth < 1:
            raise InputError(f"the depth is {depth}; it must be 1 or more.")
        depth = min(depth, _DEEPEST)
        searcher = self._searcher(similarity or BM25())
        expand = RM3Expansion(searcher, self.analyzer, feedback) if feedback else None
        order = best_first()

        def find(topic: tuple[str, str | QueryBuilder]) -> Ranking:
            topic_id, query = topic
            year = (before or {}).get(topic_id)

            def in_time(unlimited: Any) -> Any:
                return limited(unlimited, year) if year else unlimited

            if callable(query):
                with making:
                    lucene_query = query(self)
                return ranking(searcher.search(in_time(lucene_query), depth, order))
            words = java_text(query)
            parsed = in_time(bag_of_words(self.analyzer, words))
            if expand is not None:
                parsed = in_time(expand(parsed, words))
            return ranking(searcher.search(parsed, depth, order))

        with progress("searching", len(queries), "topics", part=LAST) as advance:
            rankings = in_threads(
                find, queries.items(), threads or available_cores(), lambda _: advance(1)
            )
        return dict(zip(queries, rankings, strict=True))

    def documents(self, doc_ids: Sequence[str], *, threads: int | None = None) -> list[Document]:
        """The documents with these ids, in their order, as they went into the index.

        Args:
            doc_ids: which; one that comes twice is returned twice.
            threads: how many read at once; all cores by default.

        Raises:
            PlatformError: an id is not in the index, or Java's heap is too small for a document.
        """
        records: dict[str, str] = {}
        for batch in batched(dict.fromkeys(doc_ids), _DOCUMENTS_AT_ONCE):
            records |= self._records(batch, threads or available_cores())
        missing = [doc_id for doc_id in doc_ids if doc_id not in records]
        if missing:
            raise PlatformError(
                f"{len(missing):,} of {len(doc_ids):,} documents are not in the index, such as "
                f"'{missing[0]}'."
            )
        return [from_record(records[doc_id]) for doc_id in doc_ids]

    def _records(self, doc_ids: Sequence[str], threads: int) -> dict[str, str]:
        """Stored records; where Java's heap is too small for all at once, those of each half."""
        from jnius import JavaException

        try:
            return stored_records(self._anserini, doc_ids, threads)
        except JavaException as error:
            if not lacks_heap(error):
                raise
            if len(doc_ids) == 1:
                raise heap_error() from error
        middle = len(doc_ids) // 2
        first = self._records(doc_ids[:middle], threads)
        return first | self._records(doc_ids[middle:], threads)

    def close(self) -> None:
        """Let go of the index's files."""
        self.reader.close()
        self._anserini.close()

    def _searcher(self, similarity: Similarity) -> Any:
        searcher = java_class("org.apache.lucene.search.IndexSearcher")(self.reader)
        searcher.setSimilarity(lucene_similarity(similarity))
        return searcher
