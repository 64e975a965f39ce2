"""What can be set about a search, as plain values.

The similarities are Lucene's: BM25 (Robertson and Zaragoza, 2009) and query likelihood with
Dirichlet smoothing (Zhai and Lafferty, SIGIR 2001). RM3 is pseudo-relevance feedback with a
relevance model mixed with the query (Abdul-Jaleel et al., TREC 2004), in Anserini's implementation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class BM25:
    """BM25 with Lucene's idf, log(1 + (N - n + 0.5) / (n + 0.5)), and its one-byte lengths.

    Attributes:
        k1: how slowly repeated words saturate, 0 or more.
        b: how much long documents are discounted, 0 to 1.
    """

    k1: float = 0.9
    b: float = 0.4


@dataclass(frozen=True)
class QLD:
    """Query likelihood with Dirichlet smoothing.

    Attributes:
        mu: weight of the collection's language model, in words; more than 0.
    """

    mu: float = 1000.0


Similarity: TypeAlias = BM25 | QLD


@dataclass(frozen=True)
class RM3:
    """Pseudo-relevance feedback: search again with the words of the first documents found.

    Attributes:
        terms: how many words to add.
        documents: how many documents to take them from.
        original_weight: share of the topic's own words in the new query, 0 to 1.
    """

    terms: int = 10
    documents: int = 10
    original_weight: float = 0.5
