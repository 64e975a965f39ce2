"""Similarities, queries of words and pseudo-relevance feedback, as Lucene's objects.

BM25 (Robertson and Zaragoza, 2009), query likelihood with Dirichlet smoothing (Zhai and Lafferty,
SIGIR 2001), and RM3, which mixes the query with a relevance model of the documents that it finds
first (Abdul-Jaleel et al., TREC 2004), in Anserini's implementation on stored records.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.errors import PlatformError
from irplatform.lucene.java import java_class, java_text
from irplatform.lucene.transfer import CONTENTS, best_first, texts_to_java, texts_to_python

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = 20_000
"""Words that are stemmed at once."""


@dataclass(frozen=True)
class BM25:
    """BM25 with Lucene's idf, log(1 + (N - n + 0.5) / (n + 0.5)), and its one-byte lengths.

    `k1`, 0 or more, delays the saturation of repeated words; `b`, 0 to 1, discounts long documents.
    """

    k1: float = 0.9
    b: float = 0.4


@dataclass(frozen=True)
class QLD:
    """Query likelihood with Dirichlet smoothing.

    `mu`, more than 0, is the weight of the collection's language model, in words.
    """

    mu: float = 1000.0


Similarity: TypeAlias = BM25 | QLD


@dataclass(frozen=True)
class RM3:
    """Pseudo-relevance feedback: search again with `terms` words of the first `documents` found.

    `original_weight`, 0 to 1, is the share of the topic's own words in the new query.
    """

    terms: int = 10
    documents: int = 10
    original_weight: float = 0.5


def lucene_similarity(similarity: Similarity) -> Any:
    """Lucene's object for a similarity."""
    package = "org.apache.lucene.search.similarities"
    if isinstance(similarity, BM25):
        return java_class(f"{package}.BM25Similarity")(similarity.k1, similarity.b)
    return java_class(f"{package}.LMDirichletSimilarity")(similarity.mu)


def bag_of_words(analyzer: Any, words: str) -> Any:
    """A Lucene query for any of the words, each counted as often as it occurs."""
    return _generator().buildQuery(CONTENTS, analyzer, words)


def analyzed(analyzer: Any, texts: Sequence[str]) -> list[list[str]]:
    """The words of texts, as `bag_of_words` has them; one call to Java analyzes them all.

    The loop is a method handle: Java's proxies and lambdas are of hidden classes, which PyJNIus
    cannot look up.
    """
    handles = java_class("java.lang.invoke.MethodHandles")
    java = java_class("java.lang.Class").forName

    def typed(descriptor: str) -> Any:
        types = java_class("java.lang.invoke.MethodType")
        return types.fromMethodDescriptorString(descriptor, None)

    analyze = handles.publicLookup().findStatic(
        java("io.anserini.analysis.AnalyzerUtils"),
        "analyze",
        typed("(Lorg/apache/lucene/analysis/Analyzer;Ljava/lang/String;)Ljava/util/List;"),
    )
    words = java_class("java.util.ArrayList")()
    add = handles.publicLookup().findVirtual(
        java("java.util.ArrayList"), "add", typed("(Ljava/lang/Object;)Z")
    )
    of_text = analyze.bindTo(analyzer).asType(typed("(Ljava/lang/Object;)Ljava/lang/Object;"))
    step = handles.filterReturnValue(of_text, add.bindTo(words))
    loop = handles.iteratedLoop(None, None, step.asType(typed("(Ljava/lang/Object;)V")))
    loop.bindTo(texts_to_java([java_text(text) for text in texts])).invokeWithArguments(
        java_class("java.util.ArrayList")()
    )
    return texts_to_python(words)


def analyzed_pieces(analyzer: Any, pieces: Sequence[str]) -> list[list[str]]:
    """The words of pieces of texts without blanks; they go to Java as one text."""
    joined = " ".join(pieces).lower()
    between = "qqq"  # has no vowel, so that it has no suffix
    while between in joined:
        between += "q"
    analyze = java_class("io.anserini.analysis.AnalyzerUtils").analyze
    answer = str(analyze(analyzer, f" {between} ".join(pieces)).toString())[1:-1]
    words: list[list[str]] = [[]]
    for word in answer.split(", ") if answer else ():
        if word == between:
            words.append([])
        else:
            words[-1].append(word)
    return words


def krovetz_stems(words: Sequence[str]) -> list[str]:
    """The Krovetz stem of each word; words that are not of plain letters stay as they are."""
    analyzer = java_class("io.anserini.analysis.DefaultEnglishAnalyzer").fromArguments(
        "krovetz",
        True,  # keeps stop words
        None,
    )
    analyze = java_class("io.anserini.analysis.AnalyzerUtils").analyze
    stems = list(words)
    plain = [n for n, word in enumerate(words) if word.isascii() and word.isalpha()]
    plain = [n for n in plain if len(words[n]) < 50]  # longer ones have no stem
    for start in range(0, len(plain), _BLOCK):
        part = plain[start : start + _BLOCK]
        answer = str(analyze(analyzer, " ".join(words[n] for n in part)).toString())
        part_stems = answer.strip("[]").split(", ")
        if len(part_stems) != len(part):
            raise PlatformError(f"Lucene made {len(part_stems)} stems of {len(part)} words.")
        for n, stem in zip(part, part_stems, strict=True):
            stems[n] = stem
    return stems


@cache
def _generator() -> Any:
    return java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()


class RM3Expansion:
    """Expands queries by RM3; one object serves many threads.

    Anserini's reranker also searches with the expanded query and decompresses the documents that it
    finds. So it is limited to one, and the query that it leaves in its context is taken.
    """

    def __init__(self, searcher: Any, analyzer: Any, options: RM3) -> None:
        self._searcher = searcher
        self._analyzer = analyzer
        self._documents = options.documents
        self._arguments = java_class("io.anserini.search.SearchCollection$Args")()
        self._arguments.hits = 1
        self._reranker = java_class("io.anserini.rerank.lib.Rm3Reranker")(
            analyzer,
            java_class("java.lang.Class").forName("io.anserini.collection.JsonCollection"),
            CONTENTS,
            options.terms,
            options.documents,
            options.original_weight,
            False,  # do not log the query
            True,  # add words of a-z and 0-9 only
        )

    def __call__(self, query: Any, words: str) -> tuple[Any, dict[str, float], int]:
        """Expand a query: the new one, its words with their weights, and how many are added."""
        first = self._searcher.search(query, self._documents, best_first(), True)
        scored = java_class("io.anserini.search.ScoredDocs").fromTopDocs(first, self._searcher)
        tokens = java_class("io.anserini.analysis.AnalyzerUtils").analyze(self._analyzer, words)
        context = java_class("io.anserini.rerank.RerankerContext")(
            self._searcher, None, query, None, words, tokens, None, self._arguments
        )
        self._reranker.rerank(scored, context)
        vector = context.feedbackTerms
        weights = {term: float(vector.get(term)) for term in vector.keySet()}
        added = len(weights.keys() - set(tokens))
        return _generator().buildQuery(CONTENTS, vector), weights, added
