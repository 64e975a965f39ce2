"""ERR@k, expected reciprocal rank: of a user who stops at a rank with the chance of its grade.

    ERR@k = sum over the first k ranks of g(rank) / rank * product over the ranks before of (1 - g)
    g = (2^grade - 1) / 2^4

Chapelle, Metzler, Zhang and Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009.
gdeval.pl computes it, which comes with ir-measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import Standard

if TYPE_CHECKING:
    from irplatform.evaluation.kinds import RegisterMeasure


def register_measures(register: RegisterMeasure) -> None:
    """Register `ERR`."""
    register("ERR", Standard(only_rises=True))
