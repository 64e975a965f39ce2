"""Judged@k: the share of the first k ranks that has a judgment; ir-measures counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import Standard

if TYPE_CHECKING:
    from irplatform.evaluation.kinds import RegisterMeasure


def register_measures(register: RegisterMeasure) -> None:
    """Register `Judged`."""
    register("Judged", Standard(uses_grades=False, has_bounds=False))
