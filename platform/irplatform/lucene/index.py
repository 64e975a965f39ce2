"""The Lucene index: it ranks documents for topics, scores given ones, and returns them by id.

Python threads search on all cores, one topic at a time each; PyJNIus releases the GIL while Lucene
works. Queries are bags of words, analyzed like the documents, without syntax.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.errors import InputError, PlatformError, counted
from irplatform.files.cache import kept_json
from irplatform.lucene.build import FACTS, build_fields, fields_beside, joined
from irplatform.lucene.dates import date_limits, limited
from irplatform.lucene.feedback import ADDABLE, NOTHING_ADDED
from irplatform.lucene.java import (
    heap_error,
    java_class,
    java_map,
    java_text,
    lacks_heap,
    refuse_fork,
)
from irplatform.lucene.many_topics import LARGEST_STRUCTURED, Engine, ManyTopics
from irplatform.lucene.queries import (
    BM25,
    RM3,
    RM3Expansion,
    Similarity,
    analyzed,
    bag_of_words,
    lucene_similarity,
)
from irplatform.lucene.stored import check_feedback, from_stored, open_reader, records_of
from irplatform.lucene.transfer import (
    CONTENTS,
    best_first,
    byte_references,
    from_record,
    ranking,
    stored_records,
)
from irplatform.system.console import LAST, notice, progress
from irplatform.workers.distribution import available_cores, batched

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Document
    from irplatform.runs import Ranking
    from irplatform.text.arrays import Float32

_DOCUMENTS_AT_ONCE = 100
_IDS_AT_ONCE = 10_000
_DEEPEST = 2**31 - 1
"""The largest depth that Lucene takes; every index has fewer documents."""


class LuceneIndex:
    """An open index; made by `LuceneIndex.open`.

    `date_limits` returns the years from which on documents are left out, by topic id, see `dates`.
    """

    date_limits = staticmethod(date_limits)

    def __init__(self, path: Path, anserini: Any, reader: Any, *, own: bool = True) -> None:
        self.path = path
        self._is_own = own
        self._contents = self._reader = reader
        self._fields: list[Path] = []
        self._not_yet = fields_beside(path) if own else set()
        self._opening = Lock()
        self.analyzer = anserini.get_analyzer()
        self._anserini = anserini
        self.many_topics = ManyTopics(path, reader)

    @classmethod
    def open(cls, path: Path, *, own: bool = True) -> LuceneIndex:
        """Open the index in a folder; InputError if it is missing or cannot be read.

        It is the platform's `own`, or another program made it with Anserini.
        """
        if not own:
            searcher = java_class("io.anserini.search.SimpleSearcher")(str(path))
            return cls(path, searcher, open_reader(path), own=False)
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
                "the Lucene index cannot be read. Delete its folder; it will be built again.",
                path=path,
            ) from error

    @property
    def reader(self) -> Any:
        """The Lucene reader, with the fields that were asked for so far (`reader_with`)."""
        refuse_fork()
        return self._reader

    @property
    def count(self) -> int:
        """The number of documents."""
        return int(self.reader.numDocs())

    def reader_with(self, fields: Iterable[str]) -> Any:
        """The Lucene reader of the index with some fields, which are indexed at first use."""
        names = {*fields}
        with self._opening:
            while missing := names & self._not_yet:
                indexed, folder = build_fields(self.path, self._contents, min(missing))
                self._not_yet -= {*indexed}
                self._fields.append(folder)
                self._reader = joined(self._contents, self._fields)
        return self.reader

    def _have_fields_of(self, queries: Iterable[Any]) -> None:
        """Index the fields that Lucene's queries name."""
        if self._not_yet:
            texts = [str(query.toString()) for query in queries]
            self.reader_with(f for f in self._not_yet if any(f"{f}:" in text for text in texts))

    def stats(self) -> dict[str, int]:
        """Lucene's counts of the searched field: documents, non_empty_documents, total_terms."""
        counts = java_class("io.anserini.index.IndexReaderUtils").getIndexStats(self.reader)
        names = ("documents", "non_empty_documents", "total_terms")
        return {name: int(counts.get(name)) for name in names}

    def documents_with(self, field: str) -> int:
        """The number of documents with words in a field: "title", "abstract", or another one."""
        return int(self.reader_with([field]).getDocCount(field))

    def titles_and_abstracts(self) -> tuple[int, int]:
        """The numbers of documents with words in their titles, and in their abstracts."""
        if self._is_own and (self.path / FACTS).exists():
            facts = kept_json(self.path / FACTS)
            return facts["titles"], facts["abstracts"]
        return self.documents_with("title"), self.documents_with("abstract")

    def contains(self, doc_id: str) -> bool:
        """Tell if the index holds a document."""
        term = java_class("org.apache.lucene.index.Term")("id", doc_id)
        return int(self.reader.docFreq(term)) > 0

    def without_match(self, queries: Sequence[str]) -> str:
        """Say why plain queries find nothing, in brackets, as far as the index tells; or ""."""
        term = java_class("org.apache.lucene.index.Term")
        words = [[*filter(None, tokens)] for tokens in analyzed(self.analyzer, queries)]
        stopped = sum(not tokens for tokens in words)
        absent = sum(
            not any(self.reader.docFreq(term(CONTENTS, word)) for word in tokens)
            for tokens in filter(None, words)
        )
        subject = "them" if absent == len(words) else f"{absent:,} of them"
        reasons = [f"no document has a word of {subject}"] if absent else []
        reasons += [f"{stopped:,} have only stop words"] if stopped else []
        return f" ({'; '.join(reasons)})" if reasons else ""

    def missing(self, doc_ids: Sequence[str]) -> set[str]:
        """The ids of documents that the index does not hold; ten times as fast as `contains`."""
        query = java_class("org.apache.lucene.search.TermInSetQuery")
        searcher = java_class("org.apache.lucene.search.IndexSearcher")(self.reader)
        missing: set[str] = set()
        parts = [*batched(doc_ids, _IDS_AT_ONCE)]
        while parts:
            part = parts.pop()
            count = int(searcher.count(query("id", byte_references(part))))
            if count == 0:
                missing.update(part)
            elif count < len(part):
                middle = len(part) // 2
                parts += [part[:middle], part[middle:]]
        return missing

    def search(
        self,
        queries: Mapping[str, Any],
        depth: int,
        *,
        similarity: Similarity | None = None,
        feedback: RM3 | None = None,
        before: Mapping[str, str] | None = None,
        threads: int | None = None,
        engine: Engine | None = None,
    ) -> dict[str, Ranking]:
        """Rank documents for every topic.

        Copied postings are searched if there are many topics (`many_topics`); the rankings are the
        same to the bit.

        Args:
            queries: topic id to its words (str), or to a Lucene query.
            depth: most documents per topic.
            similarity: by default BM25 with its defaults.
            feedback: expands queries of words by pseudo-relevance feedback.
            before: topic id to the year from which on documents are left out; see `dates`.
            threads: topics at once; by default all cores.
            engine: "auto", "lucene" or "impact"; by default `IRPLATFORM_ENGINE`, else "auto".

        Returns:
            A ranking per topic, in the order of the topics; empty if nothing is found.

        Raises:
            InputError: the depth is not positive, or the engine cannot do this search.
        """
        if depth < 1:
            raise InputError(f"the depth is {depth}; it must be 1 or more.")
        depth = min(depth, _DEEPEST)
        similarity = similarity or BM25()
        words = {t: q for t, q in queries.items() if isinstance(q, str)}
        self._have_fields_of(q for t, q in queries.items() if t not in words)
        impact = self.many_topics.postings_for(len(queries), similarity, feedback, engine)
        added: list[int] = []

        def find(topic: tuple[str, Any]) -> Ranking:
            topic_id, query = topic
            year = (before or {}).get(topic_id)

            def in_time(unlimited: Any) -> Any:
                return limited(unlimited, year) if year else unlimited

            if isinstance(query, str):
                words = java_text(query)
                query = bag_of_words(self.analyzer, words)
                if expand is not None:
                    query, _, number = expand(in_time(query), words)
                    added.append(number)
            return ranking(searcher.search(in_time(query), depth, order))

        threads = threads or available_cores()
        rankings: dict[str, Ranking] = {}
        with progress("searching", len(queries), "topics", part=LAST) as advance:
            if impact is not None and isinstance(similarity, BM25):
                rankings = impact.search(
                    words,
                    depth,
                    similarity,
                    self.analyzer,
                    feedback=feedback,
                    before=before,
                    threads=threads,
                    advance=advance,
                    added=added.append,
                )
                if impact.count <= LARGEST_STRUCTURED:
                    structured = {t: q for t, q in queries.items() if t not in words}
                    rankings |= impact.search_structured(
                        structured, depth, similarity, self.reader, before=before, advance=advance
                    )
            if others := [(t, query) for t, query in queries.items() if t not in rankings]:
                searcher, expand = self._searcher(similarity, feedback)
                order = best_first()
                results = java_map(find, others, threads, lambda _: advance(1))
                rankings |= {t: ranking for (t, _), ranking in zip(others, results, strict=True)}
        if added and not any(added):
            notice(NOTHING_ADDED)
        return {topic: rankings[topic] for topic in queries}

    def expanded(
        self, words: str, similarity: Similarity, feedback: RM3, before: str | None = None
    ) -> tuple[dict[str, float], str]:
        """The words that `search` looks for with feedback, with their weights; what it adds."""
        _, expand = self._searcher(similarity, feedback)
        text = java_text(words)
        query = bag_of_words(self.analyzer, text)
        _, weights, added = expand(limited(query, before) if before else query, text)
        return weights, f"{counted(added, 'word')} added, {ADDABLE}"

    def _searcher(self, similarity: Similarity, feedback: RM3 | None) -> tuple[Any, Any]:
        """Lucene's searcher, and what expands queries, or None."""
        searcher = java_class("org.apache.lucene.search.IndexSearcher")(self.reader)
        searcher.setSimilarity(lucene_similarity(similarity))
        if feedback and not self._is_own:
            check_feedback(self.reader, self.path)
        return searcher, RM3Expansion(searcher, self.analyzer, feedback) if feedback else None

    def scores(
        self,
        requests: Sequence[tuple[Sequence[str], Sequence[Any]]],
        similarity: Similarity,
        threads: int,
    ) -> list[Float32]:
        """Score given documents for Lucene queries.

        Args:
            requests: for each topic, ids of documents, and queries; a query None scores 0.
            similarity: the formula.
            threads: queries at once.

        Returns:
            float32 [documents, queries] for each topic; 0 where a query does not match.
        """
        prepared: dict[str, Any] = {}
        for number, (doc_ids, queries) in enumerate(requests):
            if doc_ids:
                ids = byte_references(doc_ids)
                candidates = java_class("org.apache.lucene.search.TermInSetQuery")("id", ids)
                for column, query in enumerate(queries):
                    if query is not None:
                        prepared[f"{number} {column}"] = _filtered(query, candidates)
        depth = max([1, *(len(doc_ids) for doc_ids, _ in requests)])
        rankings = self.search(
            prepared, depth, similarity=similarity, threads=threads, engine="lucene"
        )
        results = []
        for number, (doc_ids, queries) in enumerate(requests):
            places = {doc_id: place for place, doc_id in enumerate(doc_ids)}
            values = np.zeros((len(doc_ids), len(queries)), dtype=np.float32)
            for column in range(len(queries)):
                if (hits := rankings.get(f"{number} {column}")) is not None and len(hits):
                    values[[places[doc_id] for doc_id in hits.doc_ids], column] = hits.scores
            results.append(values)
        return results

    def best_scores(self, queries: Sequence[Any], similarity: Similarity, threads: int) -> Float32:
        """Return the score of the best document for each Lucene query; 0 if none matches."""
        prepared = {str(n): query for n, query in enumerate(queries) if query is not None}
        rankings = self.search(prepared, 1, similarity=similarity, threads=threads, engine="lucene")
        best = np.zeros(len(queries), dtype=np.float32)
        for number, hits in rankings.items():
            if len(hits):
                best[int(number)] = hits.scores[0]
        return best

    def words_query(self, text: str, field: str) -> Any | None:
        """Return a query for any of some words in a field; None if analysis leaves no word."""
        builder = java_class("org.apache.lucene.util.QueryBuilder")(self.analyzer)
        return builder.createBooleanQuery(field, java_text(text))

    def heading_queries(self, field: str, headings: Sequence[str]) -> list[Any]:
        """Return queries for documents with each of some headings; all score 1."""
        builder = java_class("org.apache.lucene.util.QueryBuilder")(self.analyzer)
        constant = java_class("org.apache.lucene.search.ConstantScoreQuery")
        phrases = [builder.createPhraseQuery(field, heading) for heading in headings]
        return [constant(phrase) if phrase is not None else None for phrase in phrases]

    def documents(self, doc_ids: Sequence[str], *, threads: int | None = None) -> list[Document]:
        """The documents with some ids, in their order and as often, as they were indexed.

        Raises:
            PlatformError: an id is not in the index, or Java's heap is too small.
        """
        from jnius import JavaException

        records: dict[str, str] = {}
        try:
            for batch in batched(dict.fromkeys(doc_ids), _DOCUMENTS_AT_ONCE):
                if not self._is_own:
                    records |= records_of(self.reader, batch)
                    continue
                records |= stored_records(self._anserini, batch, threads or available_cores())
        except JavaException as error:
            if lacks_heap(error):
                raise heap_error() from error
            raise
        missing = [doc_id for doc_id in doc_ids if doc_id not in records]
        if missing:
            raise PlatformError(
                f"{len(missing):,} of {len(doc_ids):,} documents are not in the index, such as "
                f"'{missing[0]}'."
            )
        if not self._is_own:
            return [from_stored(doc_id, records[doc_id]) for doc_id in doc_ids]
        return [from_record(records[doc_id]) for doc_id in doc_ids]

    def close(self) -> None:
        """Release the index's files."""
        self.reader.close()
        self._contents.close()
        self._anserini.close()


def _filtered(query: Any, candidates: Any) -> Any:
    occur = java_class("org.apache.lucene.search.BooleanClause$Occur")
    builder = java_class("org.apache.lucene.search.BooleanQuery$Builder")()
    builder.add(query, occur.MUST)
    builder.add(candidates, occur.FILTER)
    return builder.build()
