"""ISR: fusion by inverse squares of ranks.

    score = sum over the runs of 1 / rank^2 * sum of the weights of the runs that found it

Mourão, Martins and Magalhães, Computerized Medical Imaging and Graphics 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from irplatform.runs.fusion.method import FusionMethod

if TYPE_CHECKING:
    from irplatform.runs.fusion.method import RegisterFusion, Results
    from irplatform.runs.run import Values


@dataclass(frozen=True, kw_only=True)
class InverseSquares(FusionMethod):
    """Inverse squares of ranks, times the weights of the runs that found a document."""

    name: ClassVar = "isr"
    summary: ClassVar = "1 / rank²; multiplied by the same"
    citation: ClassVar = "Multimodal Medical Information Retrieval with Unsupervised Rank Fusion"
    place: ClassVar = 5
    multiplies: ClassVar = True

    def part(self, results: Results, weight: float) -> tuple[Values, float]:
        """Return the inverse squares."""
        return weight / results.ranks**2, 0.0


def register_fusion(register: RegisterFusion) -> None:
    """Register `isr`."""
    register(InverseSquares)
