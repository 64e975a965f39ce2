"""AP-graded, average precision weighted by grades.

    AP-graded = (sum over the relevant results, at ranks k, of P@k * grade) / relevant documents

Section 5.2.2 of GRAPHENE's paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import Graded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.evaluation.kinds import RegisterMeasure


def graded_precision(ranked: Sequence[float], judged: Sequence[float], cutoff: int) -> float:
    """Compute AP-graded of a topic; with grades above 1 it may exceed 1.

    The arguments are those of `gain.ndcg`.
    """
    total = 0.0
    count = 0
    for rank, grade in enumerate(ranked[:cutoff], start=1):
        if grade > 0:
            count += 1
            total += count / rank * grade
    relevant = sum(grade > 0 for grade in judged)
    return total / relevant if relevant else 0.0


def register_measures(register: RegisterMeasure) -> None:
    """Register `AP-graded`."""
    register("AP-graded", Graded(graded_precision))
