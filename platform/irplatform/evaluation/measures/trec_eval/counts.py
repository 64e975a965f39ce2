"""NumQ, NumRel and NumRet: topics, relevant documents, and results, or those of a grade or above.

They are counted by trec_eval's code, but for topics without results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import Standard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.evaluation.kinds import RegisterMeasure


@dataclass(frozen=True)
class Count(Standard):
    """A count, whose value does not tell how unjudged documents could change it."""

    has_bounds: bool = False


class Topics(Count):
    """The number of topics."""

    def value_without_results(self, grades: Mapping[str, float]) -> float:
        """Count the topic."""
        del grades
        return 1.0


class Relevant(Count):
    """The number of relevant documents."""

    def value_without_results(self, grades: Mapping[str, float]) -> float:
        """Count the relevant documents of a topic."""
        return float(sum(grade > 0 for grade in grades.values()))


def register_measures(register: RegisterMeasure) -> None:
    """Register the counts."""
    register("NumQ", Topics(uses_grades=False))
    register("NumRel", Relevant())
    register("NumRet", Count())
