"""Scores of documents brought nearer to those of similar ones.

Documents that say the same tend to be relevant to the same topics. So a document whose neighbours
among the candidates are ranked high is moved up, and one among neighbours that are ranked low is
moved down: regularized scores (Diaz, CIKM 2005), with one step of averaging.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.text import ForwardIndex
    from irplatform_ltr.learners.learner import Scores
    from irplatform_ltr.options import NeighbourOptions

_ROWS = 256
"""Documents whose similarities to all others are in memory at once."""


def smoothed(
    index: ForwardIndex, doc_ids: Sequence[str], scores: Scores, options: NeighbourOptions
) -> Scores:
    """Scores mixed with the mean of the most similar documents' scores.

    Similar documents have a large cosine of their words' TF-IDF, with 1 + log(tf). The mean is
    weighted by it. A document that shares no word with another keeps its score.

    Returns:
        As many scores.
    """
    words = _unit_rows(index, doc_ids)
    result = np.array(scores)
    for start in range(0, len(doc_ids), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(doc_ids)))
        cosines = (words[rows] @ words.T).toarray()
        cosines[np.arange(len(rows)), rows] = 0.0
        nearest = np.argsort(-cosines, axis=1, kind="stable")[:, : options.count]
        weights = np.take_along_axis(cosines, nearest, axis=1)
        total = weights.sum(axis=1)
        near = np.divide(
            (weights * scores[nearest]).sum(axis=1), total, where=total > 0, out=result[rows]
        )
        result[rows] = (1 - options.share) * scores[rows] + options.share * near
    return result


def _unit_rows(index: ForwardIndex, doc_ids: Sequence[str]) -> sparse.csr_matrix:
    """TF-IDF of documents: [documents, vocabulary], rows of length 1 or, of no words, 0."""
    tokens, offsets = index.tokens(index.rows(doc_ids))
    shape = (len(doc_ids), len(index.vocabulary))
    counts = sparse.csr_matrix((np.ones(len(tokens)), tokens, offsets), shape=shape)
    counts.sum_duplicates()
    counts.data = (1 + np.log(counts.data)) * index.statistics("text").idf[counts.indices]
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
    return sparse.csr_matrix(counts.multiply(1 / np.maximum(lengths, 1e-12)))
