"""From expressions to Lucene's queries.

Lucene's `QueryBuilder` analyzes the text like the documents. Parts without a word left are dropped.
"Non-small cell lung cancer" has the words of "small cell lung cancer" and is another disease. So a
phrase of several words that often follows "non" in the index is not found there.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from irplatform.expansion.expression import (
    Boolean,
    Boost,
    Constant,
    DisMax,
    Expression,
    Near,
    Phrase,
    Synonyms,
    Words,
)
from irplatform.lucene.java import java_cast, java_class, java_list, java_text
from irplatform.lucene.transfer import CONTENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEARCH = "org.apache.lucene.search"
_INTERVALS = "org.apache.lucene.queries.intervals"
_SPANS = "org.apache.lucene.queries.spans"
_NON = "non"
_OFTEN_NEGATED = 0.05
"""Share of the documents with a phrase that have it behind "non"."""
_REMEMBERED = 256
"""Groups of names that are kept compiled: a topic's query and its parts share groups, and documents
with any of hundreds of names take long to count."""


class Compiler:
    """Compiles expressions for an index.

    Compile in one thread, search in many: PyJNIus's first look-up of classes and methods is not
    safe in several threads.
    """

    def __init__(self, analyzer: Any, reader: Any) -> None:
        self._analyzer = analyzer
        self._reader = reader
        self._searcher = java_class(f"{_SEARCH}.IndexSearcher")(reader)
        self._builder = java_class("org.apache.lucene.util.QueryBuilder")(analyzer)
        self._often_negated = cache(self._is_often_negated)
        self._synonyms = lru_cache(_REMEMBERED)(self._compiled_synonyms)

    def __call__(self, expression: Expression) -> Any:
        """The Lucene query of an expression; it finds nothing if no word is left."""
        return self._query(expression) or java_class(f"{_SEARCH}.MatchNoDocsQuery")()

    def _query(self, part: Expression) -> Any | None:
        query: Any | None
        match part:
            case Words(text, field):
                query = self._builder.createBooleanQuery(field, java_text(text))
            case Phrase():
                query = self._phrase(part)
            case Boost(inner, weight):
                query = self._wrapped("BoostQuery", inner, float(weight))
            case Constant(inner):
                query = self._wrapped("ConstantScoreQuery", inner)
            case DisMax(parts, tie):
                query = self._best(parts, tie)
            case Synonyms():
                query = self._synonyms(part)
            case Near():
                query = self._near(part)
            case Boolean():
                query = self._sum(part)
        return query

    def _phrase(self, part: Phrase) -> Any | None:
        text, field = part.text, part.field
        plain = self._builder.createPhraseQuery(field, java_text(text), 0)
        if not self._often_negated(text, field):
            return plain
        span = java_class(f"{_SPANS}.SpanTermQuery")
        near = java_class(f"{_SPANS}.SpanNearQuery").newOrderedNearQuery(field)
        words = java_cast(f"{_SEARCH}.PhraseQuery", plain)
        last = -1
        for term, position in zip(words.getTerms(), words.getPositions(), strict=True):
            if position > last + 1:  # a stop word stood there
                near.addGap(position - last - 1)
            near.addClause(span(term))
            last = position
        non = span(java_class("org.apache.lucene.index.Term")(field, _NON))
        return java_class(f"{_SPANS}.SpanNotQuery")(near.build(), non, 1, 0)

    def _is_often_negated(self, text: str, field: str) -> bool:
        """Whether "non" precedes a large share of a phrase's occurrences."""
        if len(self.terms(text)) <= 1:
            return False
        negated = self._having(f"{_NON} {text}", field)
        return negated > 0 and negated >= _OFTEN_NEGATED * self._having(text, field)

    def _having(self, text: str, field: str) -> int:
        return self.count([self._builder.createPhraseQuery(field, java_text(text), 0)])

    def _wrapped(self, kind: str, inner: Expression, *more: float) -> Any | None:
        query = self._query(inner)
        return None if query is None else java_class(f"{_SEARCH}.{kind}")(query, *more)

    def _best(self, parts: Iterable[Expression], tie: float) -> Any | None:
        queries = [query for part in parts if (query := self._query(part)) is not None]
        if len(queries) <= 1:
            return queries[0] if queries else None
        return java_class(f"{_SEARCH}.DisjunctionMaxQuery")(java_list(queries), float(tie))

    def _compiled_synonyms(self, part: Synonyms) -> Any | None:
        """Each name, with its rarity replaced by that of the group."""
        weighted = []
        for name, weight in part.names:
            if weight > 0 and (query := self._query(name)) is not None:
                weighted.append((query, weight, self._rarity(name.text, name.field)))
        if not weighted:
            return None
        group = self._idf(self.count(query for query, _, _ in weighted), part.names[0][0].field)
        boost = java_class(f"{_SEARCH}.BoostQuery")
        scaled = [
            boost(query, float(weight * group / rarity)) for query, weight, rarity in weighted
        ]
        if len(scaled) == 1:
            return scaled[0]
        return java_class(f"{_SEARCH}.DisjunctionMaxQuery")(java_list(scaled), 0.0)

    def count(self, queries: Iterable[Any]) -> int:
        """The number of documents that match any of some Lucene queries."""
        builder = java_class(f"{_SEARCH}.BooleanQuery$Builder")()
        for query in queries:
            builder.add(query, java_class(f"{_SEARCH}.BooleanClause$Occur").SHOULD)
        return int(self._searcher.count(builder.build()))

    def _rarity(self, text: str, field: str) -> float:
        """The inverse document frequency that Lucene gives a phrase: the sum over its words."""
        term = java_class("org.apache.lucene.index.Term")
        return sum(
            self._idf(int(self._reader.docFreq(term(field, word))), field)
            for word in self.terms(text)
        )

    def _idf(self, documents: int, field: str) -> float:
        total = int(self._reader.getDocCount(field))
        return math.log1p((total - documents + 0.5) / (documents + 0.5))

    def _sum(self, part: Boolean) -> Any | None:
        occur = java_class(f"{_SEARCH}.BooleanClause$Occur")
        builder = java_class(f"{_SEARCH}.BooleanQuery$Builder")()
        clauses = (
            (self._query(inner), role)
            for role, parts in (
                ("MUST", part.must),
                ("SHOULD", part.should),
                ("FILTER", part.filter),
            )
            for inner in parts
        )
        added = [(query, role) for query, role in clauses if query is not None]
        for query, role in added:
            builder.add(query, getattr(occur, role))
        builder.setMinimumNumberShouldMatch(part.minimum)
        return builder.build() if added else None

    def _near(self, part: Near) -> Any | None:
        left, right = (self._either(group) for group in (part.left, part.right))
        if left is None or right is None:
            return None
        intervals = java_class(f"{_INTERVALS}.Intervals")
        close = intervals.maxgaps(part.gaps, intervals.unordered(left, right))
        return java_class(f"{_INTERVALS}.IntervalQuery")(CONTENTS, close)

    def _either(self, phrases: Iterable[str]) -> Any | None:
        intervals = java_class(f"{_INTERVALS}.Intervals")
        sources = [self._interval(phrase) for phrase in phrases if self.terms(phrase)]
        return getattr(intervals, "or")(False, java_list(sources)) if sources else None

    def _interval(self, phrase: str) -> Any:
        plain = self._analyzed(phrase)
        if not self._often_negated(phrase, CONTENTS):
            return plain
        intervals = java_class(f"{_INTERVALS}.Intervals")
        return intervals.notContainedBy(plain, self._analyzed(f"{_NON} {phrase}"))

    def _analyzed(self, phrase: str) -> Any:
        intervals = java_class(f"{_INTERVALS}.Intervals")
        return intervals.analyzedText(java_text(phrase), self._analyzer, CONTENTS, 0, True)

    def terms(self, text: str) -> list[str]:
        """The terms that analysis makes of a text."""
        analyze = java_class("io.anserini.analysis.AnalyzerUtils").analyze
        return [str(term) for term in analyze(self._analyzer, java_text(text)).toArray()]
