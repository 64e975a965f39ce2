"""How alike two rankings of the same topics are, where a repeated run is not the same to the byte.

Rank-biased overlap is one of the measures of Breuer et al., "How to Measure the Reproducibility of
System-oriented IR Experiments" (SIGIR 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.runs.run import Run

_PERSISTENCE = 0.8
"""The usual p of rank-biased overlap: the first ten ranks have 89 % of the weight."""
_DEPTH = 1000


@dataclass(frozen=True)
class Overlap:
    """How alike two runs are, as means over the topics of both.

    Attributes:
        rbo: rank-biased overlap, from 0 (no document in common) to 1 (the same ranking).
        same: topics with the same documents in the same order.
        topics: topics of both runs.
        missing: topics of one run alone.
    """

    rbo: float
    same: int
    topics: int
    missing: tuple[str, ...] = ()


def overlap(first: Run, second: Run, *, depth: int = _DEPTH) -> Overlap:
    """Compare two runs topic by topic, down to a depth.

    >>> from irplatform.runs import Ranking, Run
    >>> run = Run("a", {"1": Ranking.of(["d1", "d2"], [2.0, 1.0])})
    >>> overlap(run, run)
    Overlap(rbo=1.0, same=1, topics=1, missing=())

    Raises:
        ValueError: the runs have no topic in common.
    """
    shared = [topic for topic in first.rankings if topic in second.rankings]
    if not shared:
        raise ValueError("the runs have no topic in common")
    pairs = [
        (first.rankings[t].doc_ids[:depth], second.rankings[t].doc_ids[:depth]) for t in shared
    ]
    return Overlap(
        rbo=sum(rank_biased_overlap(one, other) for one, other in pairs) / len(pairs),
        same=sum(one == other for one, other in pairs),
        topics=len(shared),
        missing=tuple(sorted(first.rankings.keys() ^ second.rankings.keys())),
    )


def rank_biased_overlap(
    first: Sequence[str], second: Sequence[str], *, p: float = _PERSISTENCE
) -> float:
    """Return the overlap of two rankings, cut to the longer one and normalized to 1 for equal ones.

    At each depth it is the share of common documents; depth d has the weight p ** (d - 1) (Webber,
    Moffat and Zobel, TOIS 2010; normalized as by Clarke, Vtyurina and Smucker, TOIS 2021).

    >>> round(rank_biased_overlap(["a", "b"], ["b", "a"]), 4)
    0.4444
    """
    seen_first: set[str] = set()
    seen_second: set[str] = set()
    score, total, weight = 0.0, 0.0, 1.0
    for depth in range(max(len(first), len(second))):
        seen_first.update(first[depth : depth + 1])
        seen_second.update(second[depth : depth + 1])
        score += weight * len(seen_first & seen_second) / (depth + 1)
        total += weight
        weight *= p
    return score / total if total else 1.0
