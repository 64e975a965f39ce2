"""Ranks of systems by their means, with intervals from a bootstrap over topics.

The interval says which ranks a system would take with other topics like these: topics are drawn
with replacement, systems are ranked by each draw's means, and the middle 95 % of a system's ranks
are reported (Efron and Tibshirani 1993, percentile intervals).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.comparison.tests import blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.evaluation.kinds import PerTopic

DRAWS = 10_000
"""Draws of topics."""

_ROUNDING = 1e-9
"""Means closer than this share a rank."""


@dataclass(frozen=True)
class Rank:
    """A system's rank by one measure, from 1.

    Attributes:
        rank: by the means over all topics; systems with equal means share the better rank.
        low: best rank of the 95 % interval.
        high: worst rank of it.
    """

    rank: int
    low: int
    high: int


def rank_intervals(
    systems: Mapping[str, PerTopic], *, draws: int = DRAWS, seed: int = 0
) -> dict[str, Rank]:
    """Rank systems by their means over topics.

    Args:
        systems: name to values of the same topics.
        draws: number of draws of topics.
        seed: of the draws.

    Returns:
        System to rank.

    Examples:
        >>> rank_intervals({"a": {"1": 0.1, "2": 0.2}, "b": {"1": 0.4, "2": 0.5}})["b"]
        Rank(rank=1, low=1, high=1)
    """
    topics = [*next(iter(systems.values()), ())]
    if not topics:
        return {}
    values = np.array([[per_topic[t] for t in topics] for per_topic in systems.values()])
    random = np.random.default_rng(seed)
    n = len(topics)
    ranks = []
    for size in blocks(draws, n):
        drawn = random.integers(0, n, size=(size, n))
        counts = np.apply_along_axis(np.bincount, 1, drawn, minlength=n)
        ranks.append(_ranks(counts @ values.T / n))
    low, high = np.quantile(np.concatenate(ranks), (0.025, 0.975), axis=0, method="nearest")
    observed = _ranks(values.mean(axis=1)[None])[0]
    return {
        name: Rank(int(rank), min(int(rank), int(best)), max(int(rank), int(worst)))
        for name, rank, best, worst in zip(systems, observed, low, high, strict=True)
    }


def _ranks(means: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.int64]:
    """Ranks of the columns, row by row: 1 and the number of better ones."""
    better = means[:, None, :] > means[:, :, None] + _ROUNDING
    ranks: np.typing.NDArray[np.int64] = 1 + better.sum(axis=2)
    return ranks
