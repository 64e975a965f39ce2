"""Reciprocal rank fusion (RRF).

    score = sum over the runs of weight / (k + rank)

Cormack, Clarke and Büttcher, SIGIR 2009. A larger k gives the first ranks less weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from irplatform.runs.fusion.method import FusionMethod

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.runs.fusion.method import RegisterFusion, Results
    from irplatform.runs.run import Values


@dataclass(frozen=True, kw_only=True)
class Ranks(FusionMethod):
    """Reciprocal ranks; `k` is 0 or more, 60 in their paper."""

    name: ClassVar = "ranks"
    summary: ClassVar = "1 / (k + rank), the reciprocal rank (RRF)"
    citation: ClassVar = (
        "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods"
    )
    place: ClassVar = 1
    k: float = 60

    def __post_init__(self) -> None:
        """Refuse a negative k with a ValueError."""
        if self.k < 0:
            raise ValueError(f"k is {self.k}; it must be 0 or more")

    def part(self, results: Results, weight: float) -> tuple[Values, float]:
        """Return the reciprocal ranks."""
        return weight / (self.k + results.ranks), 0.0

    @classmethod
    def tried(cls) -> Sequence[Ranks]:
        """Return the method with four values of k."""
        return tuple(cls(k=k) for k in (60, 5, 20, 100))

    @classmethod
    def tried_alone(cls) -> Sequence[Ranks]:
        """Return the method with six values of k."""
        return tuple(cls(k=k) for k in (5, 10, 20, 40, 60, 100))


def register_fusion(register: RegisterFusion) -> None:
    """Register `ranks`."""
    register(Ranks)
