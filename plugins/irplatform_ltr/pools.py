"""The documents of training topics that a model learns from, and scores of similar documents.

Unjudged candidates count as not relevant: without them a model never sees what most of a ranking
consists of. Relevant documents that the first stage missed would teach a model that a poor
first-stage score is a good sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from irplatform.kit import Pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.kit import ForwardIndex
    from irplatform.plugin import LabelledTopic
    from irplatform_ltr.learners import Scores
    from irplatform_ltr.options import NeighbourOptions, PoolOptions


_FEWEST = 8  # documents of grade 0: one stray judgment must not leave a topic with hardly any


def pools_of_system(topics: Sequence[LabelledTopic], options: PoolOptions) -> list[Pool]:
    """The pools of the topics with different grades, the same for all members of a system."""
    pools = (_pool(topic, options) for topic in topics)
    return [pool for pool in pools if len(set(pool.grades.tolist())) > 1]


def _pool(topic: LabelledTopic, options: PoolOptions) -> Pool:
    random = np.random.default_rng(list(topic.topic.id.encode()))
    candidates = set(topic.candidates)
    grades = {
        doc_id: max(grade, 0)
        for doc_id, grade in topic.judgments.items()
        if options.relevant == "judged" or doc_id in candidates
    }
    relevant = [d for d, grade in grades.items() if grade > 0]
    rejected = sorted(d for d, grade in grades.items() if grade == 0)
    rejected = Pool.draw(rejected, options.rejected, random)
    most, head = options.unjudged, options.head
    if rejected:  # then the best candidates were judged
        share, head = options.unjudged_share, 0.0
        enough = max(round(len(rejected) * share / (1 - share)), _FEWEST - len(rejected))
        most = min(most, enough)
    first_stage = -np.asarray(topic.first_stage or [0.0] * len(topic.candidates))
    ranked = (topic.candidates[place] for place in np.argsort(first_stage, kind="stable"))
    others = [doc_id for doc_id in ranked if doc_id not in topic.judgments]
    best = others[: options.head_depth] if head else []
    first = Pool.draw(sorted(best), round(most * head), random)
    unjudged = Pool.draw(sorted(others[len(best) :]), most - len(first), random)
    documents = sorted([*relevant, *rejected, *first, *unjudged])
    return Pool.of(topic, documents, grades)


_ROWS = 256  # documents whose similarities to all others are in memory at once


def smoothed(
    index: ForwardIndex, doc_ids: Sequence[str], scores: Scores, options: NeighbourOptions
) -> Scores:
    """Scores mixed with the mean of the most similar documents' scores (Diaz, CIKM 2005).

    The mean is weighted by the cosine of TF-IDF, with 1 + log(tf). A document that shares no word
    with another keeps its score.
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
    tokens, offsets = index.tokens(index.rows(doc_ids))
    shape = (len(doc_ids), len(index.vocabulary))
    counts = sparse.csr_matrix((np.ones(len(tokens)), tokens, offsets), shape=shape)
    counts.sum_duplicates()
    counts.data = (1 + np.log(counts.data)) * index.idf("text")[counts.indices]
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
    return sparse.csr_matrix(counts.multiply(1 / np.maximum(lengths, 1e-12)))
