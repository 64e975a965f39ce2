"""Fusion by standardized scores.

    score = sum over the runs of weight * (score in the run - mean) / deviation

Montague and Aslam, CIKM 2001. A run that did not find the document gives it the run's lowest score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from irplatform.runs.fusion.method import FusionMethod

if TYPE_CHECKING:
    from irplatform.runs.fusion.method import RegisterFusion, Results
    from irplatform.runs.run import Values


@dataclass(frozen=True, kw_only=True)
class Scores(FusionMethod):
    """Standardized scores."""

    name: ClassVar = "scores"
    summary: ClassVar = "the standardized score; the lowest, where it did not find it"
    citation: ClassVar = "Relevance Score Normalization for Metasearch"
    place: ClassVar = 2

    def part(self, results: Results, weight: float) -> tuple[Values, float]:
        """Return the standardized scores, and the lowest."""
        from irplatform.runs.run import standardized

        values = weight * standardized(results.scores)
        return values, float(values.min()) if len(values) else 0.0


def register_fusion(register: RegisterFusion) -> None:
    """Register `scores`."""
    register(Scores)
