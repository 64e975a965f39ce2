"""A linear model of features, and features within their topics.

`pairwise_weights` learns from pairs: the loss is the mean over topics of RankNet's
log(1 + exp(s(lower) − s(higher))) (Burges et al., ICML 2005) over all pairs of different grades,
weighted by the difference, with an L2 penalty. It is convex, so L-BFGS finds its minimum.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

    from irplatform.text.arrays import Float64, Int64


MOST_PAIRS = 4000
"""Pairs of a topic; of more, this number is drawn at random."""


def pairwise_weights(
    values: Float64, grades: Float64, offsets: Int64, *, l2: float, seed: int
) -> Float64:
    """Return the weights of a linear model with the least loss, float64 [features].

    Values are float64 [documents, features], standardized, and a topic's documents lie together.
    Offsets, int64 [topics + 1], say where those of each topic begin. `l2` is the penalty on the
    squared weights, `seed` that of the choice of pairs.
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
    """Some or all of a topic's pairs, drawn by number: ten thousand documents have millions.

    They are numbered by the higher document, then by the lower one.
    """
    levels, level = np.unique(grades, return_inverse=True)
    lower_per_level = [np.flatnonzero(grades < grade) for grade in levels]
    counts = np.array([len(lower_places) for lower_places in lower_per_level], np.int64)[level]
    ends = np.cumsum(counts)
    total = int(counts.sum())
    if total > MOST_PAIRS:
        numbers = np.sort(random.choice(total, MOST_PAIRS, replace=False))
    else:
        numbers = np.arange(total)
    higher = np.searchsorted(ends, numbers, side="right")
    place = numbers - (ends - counts)[higher]
    lower = np.empty_like(higher)
    for number, lower_places in enumerate(lower_per_level):
        of_level = level[higher] == number
        lower[of_level] = lower_places[place[of_level]]
    return higher, lower


def centered(values: npt.NDArray[Any], offsets: Int64) -> Float64:
    """Return values less their topic's mean, since only documents of one topic are compared.

    Values are [documents] or [documents, features]; for offsets see `pairwise_weights`. No topic is
    empty.
    """
    values = np.asarray(values, dtype=np.float64)
    sizes = np.diff(offsets)
    totals = np.add.reduceat(values, offsets[:-1])
    means = totals / sizes.reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(values - np.repeat(means, sizes, axis=0))


_SMALLEST = 1e-6
"""Deviation above which a feature varies, as a share of the mean if that is above 1."""


def learn_standardization(features: Tensor, mean: Tensor, scale: Tensor) -> None:
    """Learn mean and deviation of features, float32 [documents, F], from training documents.

    Both are written to `mean` and `scale`, float32 [F], and stay as they are without features or
    without two documents. The scale of a feature that does not vary is infinite, so it becomes 0: a
    model has learned nothing of it.
    """
    if features.shape[1] and len(features) > 1:
        mean.copy_(features.mean(dim=0))
        deviation = features.std(dim=0)
        varies = deviation > _SMALLEST * features.mean(dim=0).abs().clamp(min=1)
        scale.copy_(deviation.where(varies, math.inf))
