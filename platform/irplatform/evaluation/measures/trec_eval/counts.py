"""NumQ, NumRel and NumRet: topics, relevant documents, and results, or those of a grade or above.

They are counted by trec_eval's code, but for topics without results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import Standard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.evaluation.kinds import RegisterMeasure


def number_relevant(grades: Mapping[str, float]) -> float:
    """Count the relevant documents of a topic."""
    return float(sum(grade > 0 for grade in grades.values()))


def register_measures(register: RegisterMeasure) -> None:
    """Register the counts."""
    one_topic = Standard(uses_grades=False, without_results=lambda _: 1.0, has_bounds=False)
    register("NumQ", one_topic)
    register("NumRel", Standard(without_results=number_relevant, has_bounds=False))
    register("NumRet", Standard(has_bounds=False))
