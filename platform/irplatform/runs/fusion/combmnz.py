"""CombMNZ: CombSUM that favours documents of many runs.

    score = sum over the runs of normalized score * sum of the weights of the runs that found it

Fox and Shaw, TREC 1993; with weights: Wu and Crestani, CIKM 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from irplatform.runs.fusion.method import FusionMethod
from irplatform.runs.fusion.norms import Norm, normalized_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.runs.fusion.method import RegisterFusion, Results
    from irplatform.runs.run import Values


@dataclass(frozen=True, kw_only=True)
class CombMnz(FusionMethod):
    """Normalized scores, times the weights of the runs that found a document."""

    name: ClassVar = "combmnz"
    summary: ClassVar = (
        "the same; the sum is multiplied by the weights of the runs that found it (CombMNZ)"
    )
    citation: ClassVar = "Combination of Multiple Searches, TREC 1993"
    place: ClassVar = 4
    multiplies: ClassVar = True
    norm: Norm = "min-max"

    @property
    def finds_all(self) -> bool:
        """Whether each run has points for all documents."""
        return self.norm == "borda"

    def part(self, results: Results, weight: float) -> tuple[Values, float]:
        """Return the normalized scores."""
        return normalized_part(self.norm, results, weight)

    @classmethod
    def tried(cls) -> Sequence[CombMnz]:
        """Return the method with four normalizations."""
        norms: tuple[Norm, ...] = ("min-max", "sum", "max", "rank")
        return tuple(cls(norm=norm) for norm in norms)


def register_fusion(register: RegisterFusion) -> None:
    """Register `combmnz`."""
    register(CombMnz)
