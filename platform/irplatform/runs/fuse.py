"""Fusion of runs by reciprocal rank.

A document scores the sum over the runs of weight / (k + its rank there), ranks counted from 1; a
run that did not find it adds nothing (Cormack, Clarke and Büttcher, SIGIR 2009, where all weights
are 1). Scores of the runs need not be comparable, and their ties are decided before: by decreasing
document id.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from irplatform.runs.run import Ranking, Run

if TYPE_CHECKING:
    from collections.abc import Sequence


def reciprocal_rank_fusion(
    runs: Sequence[Run],
    name: str = "fused",
    k: float = 60,
    depth: int | None = None,
    weights: Sequence[float] | None = None,
) -> Run:
    """Fuse runs into one.

    Args:
        runs: what to fuse; their order does not matter.
        name: the name of the fused run.
        k: how little the first ranks stand out; the paper's 60 is hardly ever worth tuning.
        depth: how many documents to keep per topic; by default all.
        weights: how much each run counts, 0 or more; by default all count the same.

    Returns:
        A run with every topic that any of the runs has, in the order in which they first come.

    Raises:
        ValueError: there are no runs, k or a weight is negative, all weights are 0, there is not
            one weight per run, or the depth is not positive.
    """
    weights = (1.0,) * len(runs) if weights is None else weights
    if not runs:
        raise ValueError("there are no runs to fuse")
    if k < 0:
        raise ValueError(f"k is {k}; it must be 0 or more")
    if depth is not None and depth < 1:
        raise ValueError(f"the depth is {depth}; it must be 1 or more")
    if len(weights) != len(runs) or min(weights) < 0 or not any(weights):
        raise ValueError(f"the weights {list(weights)} do not suit {len(runs)} runs")
    topics = dict.fromkeys(topic for run in runs for topic in run.rankings)
    fused = Run(name, {topic: _fused(runs, topic, k, weights) for topic in topics})
    return fused if depth is None else fused.top(depth)


def _fused(runs: Sequence[Run], topic: str, k: float, weights: Sequence[float]) -> Ranking:
    shares: dict[str, list[float]] = defaultdict(list)
    for run, weight in zip(runs, weights, strict=True):
        if topic in run.rankings:
            for rank, doc_id in enumerate(run.rankings[topic].doc_ids, start=1):
                shares[doc_id].append(weight / (k + rank))
    # Added in order of size, so that the sum does not depend on the order of the runs.
    return Ranking.of(list(shares), [sum(sorted(share)) for share in shares.values()])
