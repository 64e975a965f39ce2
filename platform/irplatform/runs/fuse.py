"""Fusion of runs by a method of `runs.fusion`."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from irplatform.runs.fusion.method import Results
from irplatform.runs.packed import best, cells_of, union
from irplatform.runs.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.files.columns import Cells
    from irplatform.runs.fusion.method import FusionMethod
    from irplatform.runs.run import Ranking, Values


def fuse(
    runs: Sequence[Run], method: FusionMethod, name: str = "fused", depth: int | None = None
) -> Run:
    """Fuse runs into one.

    Args:
        runs: the runs; their order matters for the weights only.
        method: how, and with which weights.
        name: the name of the fused run.
        depth: documents to keep per topic; by default all.

    Returns:
        A run with every topic of any of the runs, in the order in which they first come.

    Raises:
        ValueError: there are no runs, a weight is negative, all weights are 0, the number of
            weights is wrong, or the depth is not positive.
    """
    weights = method.weights or (1.0,) * len(runs)
    if not runs:
        raise ValueError("there are no runs to fuse")
    if depth is not None and depth < 1:
        raise ValueError(f"the depth is {depth}; it must be 1 or more")
    if len(weights) != len(runs) or min(weights) < 0 or not any(weights):
        raise ValueError(f"the weights {list(weights)} do not suit {len(runs)} runs")
    topics = dict.fromkeys(topic for run in runs for topic in run.rankings)
    return Run(name, {topic: _fused(runs, method, topic, weights, depth) for topic in topics})


def fuse_weighted(
    runs: Sequence[Run], method: FusionMethod, name: str = "fused", depth: int | None = None
) -> Run:
    """Fuse the runs that have a weight; the others bring no documents. The largest weight is 1."""
    weights = method.weights or (1.0,) * len(runs)
    weighted = [run for run, weight in zip(runs, weights, strict=True) if weight]
    scaled = tuple(weight / max(weights) for weight in weights if weight)
    return fuse(weighted, replace(method, weights=scaled), name, depth)


def _fused(
    runs: Sequence[Run],
    method: FusionMethod,
    topic: str,
    weights: Sequence[float],
    depth: int | None,
) -> Ranking:
    weighted = [
        (run.rankings[topic], weight)
        for run, weight in zip(runs, weights, strict=True)
        if topic in run.rankings
    ]
    pool = Pool.of([ranking for ranking, _ in weighted])
    parts, hits = pool.parts(method, [weight for _, weight in weighted])
    if len(weighted) > 2:
        # Added in order of size, so that the sum does not depend on the order of the runs.
        parts.sort(axis=0)
        hits.sort(axis=0)
    scores = functools.reduce(operator.add, parts)
    if method.multiplies:
        scores = scores * functools.reduce(operator.add, hits)
    return best(pool.documents, scores, depth)


@dataclass(frozen=True, eq=False)
class Pool:
    """What runs found for a topic.

    Attributes:
        documents: of all runs, in ascending order.
        places: of each run's results among them.
        results: of each run.
    """

    documents: Cells
    places: Sequence[npt.NDArray[np.intp]]
    results: Sequence[Results]

    @classmethod
    def of(cls, rankings: Sequence[Ranking]) -> Pool:
        """Pool the rankings of a topic."""
        documents, places = union([cells_of(ranking) for ranking in rankings])
        results = []
        for ranking in rankings:
            ranks = np.arange(1, len(ranking) + 1, dtype=np.float64)
            scores = np.asarray(ranking.scores, dtype=np.float64)
            results.append(Results(ranks, scores, len(documents)))
        return cls(documents, places, results)

    def parts(self, method: FusionMethod, weights: Sequence[float]) -> tuple[Values, Values]:
        """Return what each ranking adds to each document.

        Returns:
            Each ranking's part of the sum [rankings, documents], and its weight where it found the
            document, else 0, in the same form. The weights are in the parts already, but for the
            methods that multiply.
        """
        parts = np.zeros((len(self.results), len(self.documents)))
        hits = np.zeros_like(parts)
        for row, hit, results, weight, place in zip(
            parts, hits, self.results, weights, self.places, strict=True
        ):
            values, missing = method.part(results, 1.0 if method.multiplies else weight)
            row[:] = missing
            row[place] = values
            hit[slice(None) if method.finds_all else place] = weight
        return parts, hits
