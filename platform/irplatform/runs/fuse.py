"""Fusion of runs by ranks or by scores.

By reciprocal ranks, a document scores the sum over the runs of weight / (k + its rank there), with
ranks from 1 (Cormack, Clarke and Büttcher, SIGIR 2009, with equal weights). A run that did not find
it adds nothing, and scores need not be comparable.

By scores, it scores the weighted sum of its scores, each run's standardized over a topic's
documents (CombSUM: Fox and Shaw, TREC 1993; with standard scores: Montague and Aslam, CIKM 2001). A
run that did not find it gives it the run's lowest score.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING

import numpy as np

from irplatform.runs.packed import best, cells_of, union
from irplatform.runs.run import Run, standardized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.runs.run import Ranking


def reciprocal_rank_fusion(
    runs: Sequence[Run],
    name: str = "fused",
    k: float = 60,
    depth: int | None = None,
    weights: Sequence[float] | None = None,
) -> Run:
    """Fuse runs into one by reciprocal ranks.

    Args:
        runs: the runs; their order does not matter.
        name: the name of the fused run.
        k: a larger k gives first ranks less weight; the paper's 60 is rarely worth tuning.
        depth: documents to keep per topic; by default all.
        weights: the weight of each run, 0 or more; by default equal.

    Returns:
        A run with every topic of any of the runs, in the order in which they first come.

    Raises:
        ValueError: there are no runs, k or a weight is negative, all weights are 0, the number of
            weights is wrong, or the depth is not positive.
    """
    weights = _checked(runs, weights, depth)
    if k < 0:
        raise ValueError(f"k is {k}; it must be 0 or more")
    return Run(name, {topic: _fused(runs, topic, k, weights, depth) for topic in _topics(runs)})


def score_fusion(
    runs: Sequence[Run],
    name: str = "fused",
    depth: int | None = None,
    weights: Sequence[float] | None = None,
) -> Run:
    """Fuse runs into one by the weighted sum of their standardized scores.

    Arguments, topics and errors are those of `reciprocal_rank_fusion`.
    """
    weights = _checked(runs, weights, depth)
    return Run(name, {topic: _summed(runs, topic, weights, depth) for topic in _topics(runs)})


def _topics(runs: Sequence[Run]) -> dict[str, None]:
    return dict.fromkeys(topic for run in runs for topic in run.rankings)


def _checked(
    runs: Sequence[Run], weights: Sequence[float] | None, depth: int | None
) -> Sequence[float]:
    weights = (1.0,) * len(runs) if weights is None else weights
    if not runs:
        raise ValueError("there are no runs to fuse")
    if depth is not None and depth < 1:
        raise ValueError(f"the depth is {depth}; it must be 1 or more")
    if len(weights) != len(runs) or min(weights) < 0 or not any(weights):
        raise ValueError(f"the weights {list(weights)} do not suit {len(runs)} runs")
    return weights


def _summed(
    runs: Sequence[Run], topic: str, weights: Sequence[float], depth: int | None
) -> Ranking:
    found = [
        (r.rankings[topic], w) for r, w in zip(runs, weights, strict=True) if topic in r.rankings
    ]
    documents, places = union([cells_of(ranking) for ranking, _ in found])
    columns = np.empty((len(found), len(documents)))
    for column, (ranking, weight), place in zip(columns, found, places, strict=True):
        scores = weight * standardized(np.asarray(ranking.scores, dtype=np.float64))
        column[:] = scores.min() if len(scores) else 0.0
        column[place] = scores
    # Sorted, so that the sum does not depend on the order of the runs.
    return best(documents, np.sort(columns, axis=0).sum(axis=0), depth)


def _fused(
    runs: Sequence[Run], topic: str, k: float, weights: Sequence[float], depth: int | None
) -> Ranking:
    found = [
        (r.rankings[topic], w) for r, w in zip(runs, weights, strict=True) if topic in r.rankings
    ]
    documents, places = union([cells_of(ranking) for ranking, _ in found])
    shares = np.zeros((len(found), len(documents)))
    for row, (_, weight), place in zip(shares, found, places, strict=True):
        row[place] = weight / (k + np.arange(1, len(place) + 1))
    if len(found) > 2:
        # Added in order of size, so that the sum does not depend on the order of the runs.
        shares.sort(axis=0)
    return best(documents, functools.reduce(operator.add, shares), depth)
