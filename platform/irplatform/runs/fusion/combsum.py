"""CombSUM: fusion by normalized scores.

    score = sum over the runs of weight * normalized score in the run

Fox and Shaw, TREC 1993.
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
class CombSum(FusionMethod):
    """Normalized scores.

    Examples:
        >>> from irplatform.runs import Ranking, Run
        >>> from irplatform.runs.fuse import fuse
        >>> one = Run("one", {"1": Ranking.of(["a", "b"], [2.0, 1.0])})
        >>> two = Run("two", {"1": Ranking.of(["b", "c"], [9.0, 8.0])})
        >>> fuse([one, two], CombSum()).rankings["1"].doc_ids
        ('b', 'a', 'c')
    """

    name: ClassVar = "combsum"
    summary: ClassVar = "the score, normalized as `norm` says (CombSUM)"
    citation: ClassVar = "Combination of Multiple Searches, TREC 1993"
    place: ClassVar = 3
    norm: Norm = "min-max"

    def part(self, results: Results, weight: float) -> tuple[Values, float]:
        """Return the normalized scores."""
        return normalized_part(self.norm, results, weight)

    @classmethod
    def tried(cls) -> Sequence[CombSum]:
        """Return the method with five normalizations."""
        norms: tuple[Norm, ...] = ("min-max", "sum", "max", "zmuv", "rank")
        return tuple(cls(norm=norm) for norm in norms)


def register_fusion(register: RegisterFusion) -> None:
    """Register `combsum`."""
    register(CombSum)
