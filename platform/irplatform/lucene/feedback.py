"""RM3 in copied postings (`impact`): the expanded queries of Anserini's `Rm3Reranker`, to the bit.

The words of all topics' feedback documents come from one pass over the postings, which asks for no
stored document. As in Anserini, a document counts by its `terms` most frequent words of a-z and 0-9
that a tenth of the documents have at most; of equal ones the first in the alphabet stay. Sums are
in 32 bits, in the order of the documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.lucene.words import Bags
from irplatform.text.arrays import ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.lucene.queries import RM3
    from irplatform.postings.search import Postings
    from irplatform.text.arrays import Float32, Int32, Int64

    Mask = npt.NDArray[np.bool_]

_LONGEST = 20
"""Most letters of a word that feedback adds; the fewest are two."""
_LARGEST_SHARE = np.float32(0.1)
"""Largest share of the documents that have a word that feedback adds."""
ADDABLE = f"of those that at most {_LARGEST_SHARE:.0%} of all documents have"
NOTHING_ADDED = (
    f"feedback adds no word to any topic ({ADDABLE}): it ranks by the topics' own words alone."
)
_AT_ONCE = 4_000_000
"""Postings that are read at a time."""


def addable(text: npt.NDArray[np.uint8], ends: Int64, frequency: Int64, documents: int) -> Mask:
    """The terms that feedback may add, given their UTF-8 and how many documents have each."""
    letters = np.zeros(256, dtype=np.bool_)
    letters[list(b"abcdefghijklmnopqrstuvwxyz0123456789")] = True
    others = np.concatenate([[0], np.cumsum(~letters[text])])
    starts = np.concatenate([[0], ends[:-1]])
    plain = others[ends] == others[starts]
    lengths = ends - starts
    rare = frequency.astype(np.float32) / np.float32(documents) <= _LARGEST_SHARE
    return np.asarray(plain & (lengths >= 2) & (lengths <= _LONGEST) & rare)


def expanded(
    queries: Bags,
    results: Sequence[tuple[Int32, Float32]],
    postings: Postings,
    frequencies: Int64,
    usable: Mask,
    options: RM3,
) -> Bags:
    """Expand queries.

    Args:
        queries: the topics' words, weighted by their number.
        results: numbers and scores of the first documents of each topic.
        postings: what was searched.
        frequencies: the frequency that each code stands for.
        usable: the terms that may be added.
        options: the numbers of words and documents, and the share of the topic's words.
    """
    documents = np.concatenate([numbers for numbers, _ in results])
    scores = np.concatenate([values for _, values in results])
    topic = np.repeat(np.arange(len(results)), [len(numbers) for numbers, _ in results])
    vectors = _Vectors.of(np.unique(documents), postings, frequencies, usable, options.terms)
    place = np.searchsorted(vectors.documents, documents)
    sizes = vectors.ends[place + 1] - vectors.ends[place]
    entries, _ = ragged(vectors.ends[place], sizes)
    values = vectors.shares[entries] * np.repeat(scores, sizes)
    # A topic's sum over its documents, in their order.
    terms = np.int64(len(usable))
    keys, inverse = np.unique(
        np.repeat(topic, sizes) * terms + vectors.rows[entries], return_inverse=True
    )
    sums = np.zeros(len(keys), dtype=np.float32)
    np.add.at(sums, inverse, values)
    order = np.lexsort((keys, -sums, keys // terms))
    best = order[_first(keys[order] // terms, options.terms)]
    keys, sums = keys[best], sums[best]
    norms = np.bincount(keys // terms, weights=sums, minlength=len(results))
    model = (sums / norms[keys // terms]).astype(np.float32)
    return _mixed(queries, keys, model, terms, np.float32(options.original_weight))


def _mixed(queries: Bags, keys: Int64, model: Float32, terms: np.int64, share: np.float32) -> Bags:
    """Queries of the topics' own words and of feedback, given as keys of topic and term."""
    sizes = np.diff(queries.ends)
    own_keys = np.repeat(np.arange(len(sizes)), sizes) * terms + queries.rows
    weights = queries.boosts.astype(np.float64) / np.repeat(queries.totals, sizes)
    union = np.union1d(own_keys, keys)
    query_weights, model_weights = (np.zeros(len(union), dtype=np.float32) for _ in range(2))
    query_weights[np.searchsorted(union, own_keys)] = weights
    model_weights[np.searchsorted(union, keys)] = model
    rest = 1 - share.astype(np.float64)
    boosts = (share * query_weights + rest * model_weights.astype(np.float64)).astype(np.float32)
    ends = np.searchsorted(union, np.arange(len(sizes) + 1) * terms)
    return Bags(ends, union % terms, boosts, np.ones(len(sizes)))


@dataclass(frozen=True)
class _Vectors:
    """The most frequent words of documents: rows, and their shares of the words that are kept."""

    documents: Int32
    ends: Int64
    rows: Int64
    shares: Float32

    @classmethod
    def of(
        cls, documents: Int32, postings: Postings, frequencies: Int64, usable: Mask, most: int
    ) -> _Vectors:
        mask = np.zeros(len(postings.latest), dtype=np.bool_)
        mask[documents] = True
        parts = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(postings.documents), _AT_ONCE):
            block = postings.documents[start : start + _AT_ONCE]
            parts.append(start + np.flatnonzero(mask[block]))
        places = np.concatenate(parts)
        rows = np.searchsorted(postings.starts, places, side="right") - 1
        places, rows = places[usable[rows]], rows[usable[rows]]
        owners = np.searchsorted(documents, postings.documents[places])
        counts = frequencies[postings.values[places]]
        order = np.lexsort((rows, -counts, owners))
        order = order[_first(owners[order], most)]
        owners, counts = owners[order], counts[order].astype(np.float32)
        norms = np.bincount(owners, weights=counts, minlength=len(documents)).astype(np.float32)
        ends = np.searchsorted(owners, np.arange(len(documents) + 1))
        return cls(documents, ends, rows[order], counts / norms[owners])


def _first(groups: Int64, most: int) -> Mask:
    """The first members of each group, of sorted groups."""
    starts = np.searchsorted(groups, groups)
    return np.asarray(np.arange(len(groups)) - starts < most)
