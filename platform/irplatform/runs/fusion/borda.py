"""Borda's points.

    score = sum over the runs of weight * points

As many points as documents were found by any run for the first rank, one less for each next one.
The documents that a run did not find share the points left (Aslam and Montague, SIGIR 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from irplatform.runs.fusion.method import FusionMethod

if TYPE_CHECKING:
    from irplatform.runs.fusion.method import RegisterFusion, Results
    from irplatform.runs.run import Values


@dataclass(frozen=True, kw_only=True)
class Borda(FusionMethod):
    """Borda's points."""

    name: ClassVar = "borda"
    summary: ClassVar = (
        "points, as many as there are documents for rank 1, one less for each next (Borda)"
    )
    citation: ClassVar = "Aslam and Montague, Models for Metasearch, SIGIR 2001"
    place: ClassVar = 6
    needs_all: ClassVar = True

    def part(self, results: Results, weight: float) -> tuple[Values, float]:
        """Return the points, and the share of the points left."""
        share = (results.documents - len(results.ranks) + 1) / 2
        return weight * (results.documents - (results.ranks - 1)), weight * share


def register_fusion(register: RegisterFusion) -> None:
    """Register `borda`."""
    register(Borda)
