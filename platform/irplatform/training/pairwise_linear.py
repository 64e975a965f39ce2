"""Weights of a linear model that learns from pairs (RankNet's loss: Burges et al., ICML 2005).

The loss is the mean over topics of log(1 + exp(s(lower) − s(higher))) over all pairs of different
grades, weighted by the difference, with an L2 penalty. It is convex: L-BFGS finds its one minimum.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from irplatform.text.arrays import Float64, Int64

MOST_PAIRS = 4000
"""Pairs of a topic; of more, so many are drawn at random."""


def pairwise_weights(
    values: Float64, grades: Float64, offsets: Int64, *, l2: float, seed: int
) -> Float64:
    """The weights with the least loss.

    Args:
        values: float64 [documents, features], standardized; a topic's documents lie together.
        grades: float64 [documents].
        offsets: int64 [topics + 1], where the documents of each topic begin; the last is their
            number.
        l2: penalty on the squared weights.
        seed: of the choice of pairs.

    Returns:
        float64 [features].
    """
    from scipy.optimize import minimize

    higher, lower, weight = _pairs(grades, offsets, np.random.default_rng([seed, 11]))

    def loss(weights: Float64) -> tuple[float, Float64]:
        scores = values @ weights
        margin = scores[higher] - scores[lower]
        value = float(weight @ np.logaddexp(0, -margin))
        slope = -weight / (1 + np.exp(np.clip(margin, -50, 50)))
        pull = np.bincount(higher, slope, len(values)) - np.bincount(lower, slope, len(values))
        return value + l2 / 2 * float(weights @ weights), values.T @ pull + l2 * weights

    result = minimize(
        loss, np.zeros(values.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 200}
    )
    return np.asarray(result.x)


def _pairs(
    grades: Float64, offsets: Int64, random: np.random.Generator
) -> tuple[Int64, Int64, Float64]:
    """Indexes of the higher and the lower document, and weights that sum to 1."""
    pairs = []
    for start, end in pairwise(offsets.tolist()):
        topic_grades = grades[start:end]
        higher, lower = _pairs_of_topic(topic_grades, random)
        weight = (topic_grades[higher] - topic_grades[lower]).astype(np.float64)
        pairs.append((higher + start, lower + start, weight / max(weight.sum(), 1e-12)))
    higher, lower, weight = (np.concatenate(column) for column in zip(*pairs, strict=True))
    return higher, lower, weight / len(pairs)


def _pairs_of_topic(grades: Float64, random: np.random.Generator) -> tuple[Int64, Int64]:
    """Some or all of a topic's pairs, drawn by their number: ten thousand documents have millions.

    They are numbered by the higher document, then by the lower one.
    """
    levels, level = np.unique(grades, return_inverse=True)
    below = [np.flatnonzero(grades < each) for each in levels]
    counts = np.array([len(each) for each in below], np.int64)[level]
    ends = np.cumsum(counts)
    total = int(counts.sum())
    if total > MOST_PAIRS:
        numbers = np.sort(random.choice(total, MOST_PAIRS, replace=False))
    else:
        numbers = np.arange(total)
    higher = np.searchsorted(ends, numbers, side="right")
    place = numbers - (ends - counts)[higher]
    lower = np.empty_like(higher)
    for number, each in enumerate(below):
        of_level = level[higher] == number
        lower[of_level] = each[place[of_level]]
    return higher, lower
