"""Normalized scores of a topic, for the methods that add them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from irplatform.runs.fusion.method import Results
    from irplatform.runs.run import Values

Norm = Literal["min-max", "max", "sum", "zmuv", "rank", "borda"]
"""How the scores of a topic are normalized: "min-max" (to 0 … 1), "max" (divided by the largest),
"sum" (lowest 0, sum 1), "zmuv" (mean 0, variance 1), "rank" (1 - (rank - 1) / results), "borda"
(Borda's places, divided by the number of documents of all runs).
"""
NORMS: tuple[Norm, ...] = get_args(Norm)


def normalized_part(norm: Norm, results: Results, weight: float) -> tuple[Values, float]:
    """Return what normalized scores add to each document found, and to each other one."""
    if norm == "borda":
        documents = results.documents
        share = (documents - len(results.ranks) + 1) / 2 / documents
        return weight * (1 - (results.ranks - 1) / documents), weight * share
    return weight * normalized(results.scores, norm), 0.0


def normalized(scores: Values, norm: Norm) -> Values:
    """Normalize the scores of a topic, best first; equal scores become zeros, but by "max".

    Examples:
        >>> import numpy as np
        >>> normalized(np.array([3.0, 2.0, 1.0]), "sum").tolist()
        [0.6666666666666666, 0.3333333333333333, 0.0]
    """
    import numpy as np

    from irplatform.runs.run import deviation

    if not len(scores):
        return scores
    if norm == "rank":
        return 1 - np.arange(len(scores)) / len(scores)
    if norm == "max":
        return scores / (float(np.abs(scores).max()) or 1.0)
    lowest, unit = float(scores.min()), deviation(scores) or np.inf
    if norm == "zmuv":
        lowest = float(scores.mean())
    elif norm == "sum":
        unit = float((scores - lowest).sum()) or 1.0
    else:
        unit = float(scores.max()) - lowest or 1.0
    values: Values = (scores - lowest) / unit
    return values
