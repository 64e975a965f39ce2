"""Lucene through Anserini: indexes, searches, and the Java that runs them.

`build_index` indexes a corpus once and caches the index; `LuceneIndex` searches it and returns its
documents. Java starts at first use, not at import.
"""

from irplatform.lucene.build import build_index, documents_indexed, is_indexed
from irplatform.lucene.dates import date_limits
from irplatform.lucene.index import LuceneIndex
from irplatform.lucene.queries import BM25, QLD, RM3, Similarity

__all__ = [
    "BM25",
    "QLD",
    "RM3",
    "LuceneIndex",
    "Similarity",
    "build_index",
    "date_limits",
    "documents_indexed",
    "is_indexed",
]
