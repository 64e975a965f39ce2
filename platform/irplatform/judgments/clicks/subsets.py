"""The subsets of the test queries on which robustness is measured (Mohan et al., WWW 2018, 4.1).

`neg20`: at least 20 documents that are not relevant have all the query's words in the title, so
that matching words does not tell them apart. `one-new-word` and `all-new-words`: at least one of
the query's words, or none of them but new ones, occurs in no training or validation query. Words
are Delta's tokens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from irplatform.batched import batched
from irplatform.text.tokenizer import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from irplatform.plugin import Document

NEG20, ONE_NEW, ALL_NEW = "test-neg20", "test-one-new-word", "test-all-new-words"

_TITLES = 20
_PAIRS = 1_000_000
"""Pairs of query and document that are held at a time, in some 300 MB; if there are more, the
documents are read again for each further million."""


def with_new_words(
    queries: Mapping[str, str], known: set[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Queries with at least one new word, and those of which all words are new.

    Args:
        queries: id to text of the test queries.
        known: the words of the training and validation queries.

    Returns:
        Two sets of ids, the second within the first. A query without words is in neither.
    """
    new = {id_: [word not in known for word in tokenize(text)] for id_, text in queries.items()}
    some = frozenset(id_ for id_, words in new.items() if any(words))
    return some, frozenset(id_ for id_ in some if all(new[id_]))


def with_matching_negatives(
    queries: Mapping[str, str],
    negatives: Iterable[tuple[str, str]],
    documents: Callable[[], Iterable[Document]],
    *,
    pairs_at_a_time: int = _PAIRS,
) -> frozenset[str]:
    """Queries with at least 20 documents that are not relevant but have all words in the title.

    Args:
        queries: id to text.
        negatives: query ids with the ids of documents that were shown and not clicked.
        documents: streams the corpus.
        pairs_at_a_time: of `negatives`.

    Returns:
        The ids of these queries.
    """
    matching: Counter[str] = Counter()
    for pairs in batched(negatives, pairs_at_a_time):
        queries_of: defaultdict[str, list[str]] = defaultdict(list)
        for query_id, doc_id in pairs:
            queries_of[doc_id].append(query_id)
        words = {
            id_: frozenset(tokenize(queries[id_])) for ids in queries_of.values() for id_ in ids
        }
        for document in documents():
            if not (ids := queries_of.pop(document.id, None)):
                continue
            title = frozenset(tokenize(document.title))
            matching.update(id_ for id_ in ids if words[id_] and words[id_] <= title)
    return frozenset(id_ for id_, count in matching.items() if count >= _TITLES)
